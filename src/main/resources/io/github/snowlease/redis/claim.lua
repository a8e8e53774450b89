-- Grants the first free candidate to a fresh token: the window [now, now + window].
-- KEYS    1 ledger, 2.. lease keys of the candidates
-- ARGV    1..5 as memory.lua says, 6 token, 7 nonce, 8 caller's wall clock, 9 largest skew,
--         10 window, 11 grace, 12 life of the lease key in seconds, 13 its value,
--         14.. the candidates as cluster:node
-- RETURNS GRANTED now slot until rev trusted | SKEW now | LAYOUT now stored
--         | QUARANTINE now wait rev | FULL now wait rev lease-of-first; wait is -1 or >= 1
-- Invariant: a window begins above the fence of its slot; ledger and lease key agree that the slot
-- is free. SKEW and LAYOUT write nothing.
local token, nonce, wall_clock, largest_skew = ARGV[6], ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local window, grace, ttl_seconds, value = tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12], ARGV[13]
local first_slot = 14

-- This also ends a claim that waited too long on its way.
if math.abs(now - wall_clock) > largest_skew then return { 'SKEW', text(now) } end
local memory, other_layout = recall()
if not memory then return { 'LAYOUT', text(now), other_layout } end
local open_at = memory.birth + memory.quarantine + 1
if now < open_at then return { 'QUARANTINE', text(now), text(open_at - now), refuse(memory) } end

-- The first moment at which the ledger lets the slot go, or nil if it never does.
local function free_at(slot)
  local field = call('HGET', ledger, slot)
  if not field then return now end
  local last, holder = fence_of(field)
  if not last then return nil end
  return last + 1 + (holder == '' and 0 or grace)
end

local soonest
for i = 2, #KEYS do
  local slot = ARGV[first_slot + i - 2]
  local at = free_at(slot)
  if at and at <= now then
    if call('SET', KEYS[i], value, 'NX', 'EX', ttl_seconds) then
      local last = now + window
      call('PEXPIREAT', KEYS[i], text(last + grace))
      local rev = agree(memory, slot, text(last) .. '|' .. token .. '|' .. nonce)
      return { 'GRANTED', text(now), slot, text(last), rev, memory.trusted and '1' or '0' }
    end
    -- A lease key without a life is an operator's block: nobody knows when it goes.
    local life = call('PTTL', KEYS[i])
    at = life >= 0 and now + life + 1 or nil
  end
  if at and (not soonest or at < soonest) then soonest = at end
end

local wait = soonest and math.max(1, soonest - now) or -1
return { 'FULL', text(now), text(wait), refuse(memory), lease_text(KEYS[2]) or '' }
