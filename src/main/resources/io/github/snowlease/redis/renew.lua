-- Extends a window to now + window: a compare-and-set on the nonce of the slot's last change.
-- KEYS    1 ledger, 2 lease key of the slot
-- ARGV    1..5 as memory.lua says, 6 token, 7 slot as cluster:node, 8 end of the window as the
--         holder knows it, 9 nonces that may stand in the ledger, joined by commas, 10 new nonce,
--         11 largest skew, 12 window, 13 grace, 14 life of the lease key in seconds, 15 its value
-- RETURNS RENEWED now until rev | SKEW now | LAYOUT now stored
--         | LOST now OWNER|NONCE|KEY|DAMAGED|EXPIRED rev
-- Invariant: a window is extended only for the process that made its last change, before it has
-- ended. A missing field is no obstacle: a live holder outlives the loss of Redis's memory. SKEW and
-- LAYOUT write nothing.
local estimate, token, slot, known_until = tonumber(ARGV[3]), ARGV[6], ARGV[7], tonumber(ARGV[8])
local nonces, new_nonce, largest_skew, window = ARGV[9], ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12])
local grace, ttl_seconds, value = tonumber(ARGV[13]), ARGV[14], ARGV[15]

if math.abs(now - estimate) > largest_skew or known_until > now + window + largest_skew then
  return { 'SKEW', text(now) }
end
local memory, other_layout = recall()
if not memory then return { 'LAYOUT', text(now), other_layout } end

local function is_mine(nonce)
  return nonce ~= '' and (',' .. nonces .. ','):find(',' .. nonce .. ',', 1, true) ~= nil
end

-- The end of the window that stands now, or nil and why it is not the caller's.
local function standing_until()
  local last = known_until
  local field = call('HGET', ledger, slot)
  if field then
    local stored, holder, nonce = fence_of(field)
    if not stored then return nil, 'DAMAGED' end
    if holder ~= token then return nil, 'OWNER' end
    if not is_mine(nonce) then return nil, 'NONCE' end
    last = math.max(stored, last)
  end
  local lease = lease_text(KEYS[2])
  if lease and not is_lease_of(token, lease) then return nil, 'KEY' end
  if now > last then return nil, 'EXPIRED' end
  return last
end

local last, why_lost = standing_until()
if not last then return { 'LOST', text(now), why_lost, refuse(memory) } end
last = math.max(last, now + window)
local rev = agree(memory, slot, text(last) .. '|' .. token .. '|' .. new_nonce)
call('SET', KEYS[2], value, 'EX', ttl_seconds)
call('PEXPIREAT', KEYS[2], text(last + grace))
return { 'RENEWED', text(now), text(last), rev }
