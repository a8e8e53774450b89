-- Gives back the slot that a token holds, and fences it at the last id issued.
-- KEYS    1 ledger, 2.. lease keys of the slots where the token may be
-- ARGV    1 token, 2 last millisecond in which an id was issued, or '-' if the claim's outcome is
--         unknown, 3 window, 4.. the slots as cluster:node
-- RETURNS 1 if a slot was released, else 0
-- Invariant: a fence is only lowered by its holder, to a moment below which it will mint no more,
-- and never raised here.
local token, last_issued, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local first_slot = 4

for i = 2, #KEYS do
  local slot = ARGV[first_slot + i - 2]
  local field = call('HGET', ledger, slot)
  if field then
    local last, holder = fence_of(field)
    if last and holder == token then
      local fence = last_issued or last - window
      if fence > last then return 0 end
      local rev = whole(call('HGET', ledger, 'rev')) or 0
      write_ledger({ slot, text(fence) .. '||' }, rev + 1)
      if is_lease_of(token, lease_text(KEYS[i])) then call('DEL', KEYS[i]) end
      return 1
    end
  end
end
return 0
