-- Prologue of every script of this folder; the format (v1) is published in docs/redis.md. KEYS[1] is
-- the namespace's ledger; every other key is declared too. Times are milliseconds of this server.
local ledger = KEYS[1]

-- Redis 5 and 6 may be set to replicate scripts as text, and then refuse to write after TIME.
if redis.replicate_commands then redis.replicate_commands() end

-- Runs a command; an error names the command and the key, which Redis leaves out within scripts.
local function call(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    error(command .. ' ' .. (... or '') .. ': ' .. reply.err, 0)
  end
  return reply
end

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Lua's own number format would round: 1.7e+12.
local function text(number) return string.format('%.0f', number) end

-- A whole number that a double holds exactly; nil if there is none or it is damaged.
local function whole(digits)
  return digits and #digits <= 15 and digits:find('^%d+$') and tonumber(digits) or nil
end

-- A ledger field `until|token|nonce`; the token is empty once released. Nothing if it is damaged.
local function fence_of(field)
  local digits, token, nonce = field:match('^(%d+)|(%x*)|(%x*)$')
  return whole(digits), token, nonce
end

-- The text of a lease key: false if there is none, '' if the key is of a foreign type.
local function lease_text(key)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'table' then return value end
  if value.err:find('WRONGTYPE', 1, true) then return '' end
  error('GET ' .. key .. ': ' .. value.err, 0)
end

local function is_lease_of(token, value)
  return value and value:find('{"token":"' .. token .. '",', 1, true) == 1
end

-- How this server process calls itself; '-' if the user may not ask.
local function run_id()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and info:match('run_id:(%x+)') or '-'
end

-- Writes fields of the ledger and its revision. PERSIST is first because the ledger must never expire,
-- and because Redis, out of memory, lets a script finish whose first write takes none: so holders renew.
local function write_ledger(fields, rev)
  table.insert(fields, 'rev')
  table.insert(fields, text(rev))
  call('PERSIST', ledger)
  call('HSET', ledger, unpack(fields))
end
