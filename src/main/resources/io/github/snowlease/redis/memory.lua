-- Second prologue, of claim and renew: does Redis still remember what it granted?
-- ARGV 1 layout, 2 highest rev that the caller has seen, 3 its estimate of this clock or -1,
--      4 its quarantine, 5 '1' if it takes an empty store for a new namespace.
-- Invariant: birth is not below the last moment at which memory may have been lost, so that at
-- birth + quarantine every window granted from the lost memory has ended.

-- Returns the memory, or nil and the stored layout if that is another one. Writes nothing.
local function recall()
  local stored = call('HMGET', ledger, 'layout', 'birth', 'srv', 'rev', 'quarantine')
  if stored[1] and stored[1] ~= ARGV[1] then return nil, stored[1] end
  local seen, birth, srv, rev = tonumber(ARGV[2]), whole(stored[2]), stored[3], whole(stored[4]) or 0
  local quarantine = math.max(whole(stored[5]) or 0, tonumber(ARGV[4]))
  -- changed: fields to write whatever the answer is; agreed: those that only a yes writes.
  local memory = { birth = birth, rev = math.max(rev, seen), quarantine = quarantine, changed = {} }
  memory.agreed = { 'layout', ARGV[1], 'quarantine', text(quarantine) }

  -- A run_id that cannot be read neither compares nor overwrites.
  local server = run_id()
  if server == '-' then server = srv or '-' end
  if not birth and seen == 0 and ARGV[5] == '1' then
    memory.trusted, memory.birth = true, now - quarantine - 1
    for _, part in ipairs({ 'birth', text(memory.birth), 'srv', server }) do
      table.insert(memory.agreed, part)
    end
  elseif not birth or (srv ~= server and srv ~= '-') or seen > rev then
    memory.birth = math.max(now, tonumber(ARGV[3]), birth or 0)
    memory.changed = { 'birth', text(memory.birth), 'srv', server }
  elseif srv ~= server then
    memory.changed = { 'srv', server }
  end
  return memory
end

-- Writes what must be written whatever the answer is. Returns the ledger's revision.
local function refuse(memory)
  if #memory.changed > 0 then
    memory.rev = memory.rev + 1
    write_ledger(memory.changed, memory.rev)
  end
  return text(memory.rev)
end

-- Writes everything and the slot's new fence. Returns the ledger's revision.
local function agree(memory, slot, fence)
  memory.rev = memory.rev + 1
  for _, part in ipairs(memory.agreed) do table.insert(memory.changed, part) end
  table.insert(memory.changed, slot)
  table.insert(memory.changed, fence)
  write_ledger(memory.changed, memory.rev)
  return text(memory.rev)
end
