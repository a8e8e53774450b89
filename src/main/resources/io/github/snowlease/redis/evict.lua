-- Takes back the slot of a holder that an operator found dead, without waiting for its grace.
-- KEYS    1 ledger, 2 lease key of the slot
-- ARGV    1 the slot as cluster:node, 2 its field in the ledger as the operator saw it
-- RETURNS 1 if the slot was taken back, 0 if its field is another by now
-- Invariant: the fence stays, so the next window begins above everything the holder may have minted;
-- a holder that renewed meanwhile is left alone.
local slot, seen = ARGV[1], ARGV[2]

if call('HGET', ledger, slot) ~= seen then return 0 end
local last, holder = fence_of(seen)
if not last or holder == '' then return 0 end
local rev = whole(call('HGET', ledger, 'rev')) or 0
write_ledger({ slot, text(last) .. '||' }, rev + 1)
if is_lease_of(holder, lease_text(KEYS[2])) then call('DEL', KEYS[2]) end
return 1
