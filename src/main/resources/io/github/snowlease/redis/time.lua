-- Tells the time of the server that keeps the namespace, which in a cluster is one of many.
-- KEYS    1 ledger
-- RETURNS the time in milliseconds
-- Invariant: writes nothing.
return text(now)
