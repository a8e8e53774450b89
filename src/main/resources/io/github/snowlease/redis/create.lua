-- Creates a namespace whose first lease need not wait: the caller vouches that nobody mints in it.
-- KEYS    1 ledger
-- ARGV    1 layout, 2 quarantine
-- RETURNS 1 if it was created, 0 if the ledger exists
-- Invariant: an existing ledger is left as it is.
if call('EXISTS', ledger) == 1 then return 0 end
local quarantine = tonumber(ARGV[2])
write_ledger({
  'layout', ARGV[1],
  'birth', text(now - quarantine - 1),
  'srv', run_id(),
  'quarantine', text(quarantine),
}, 1)
return 1
