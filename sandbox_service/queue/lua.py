"""Parts that several scripts share; Redis runs each script as one step.

Times come from Redis itself, so the clocks of API and workers need not agree.
"""

NOW = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
"""

WAIT = """
local function tenant_of(ref) return string.match(ref, '^[^/]+') end
local function wait_in(lane, ref, at)
  if redis.call('ZADD', 'sandbox:waiting:' .. lane, at, ref) == 1 then
    redis.call('HINCRBY', 'sandbox:tenant_waiting', tenant_of(ref), 1)
  end
end
local function stop_waiting(lane, ref)
  if redis.call('ZREM', 'sandbox:waiting:' .. lane, ref) == 1 then
    redis.call('HINCRBY', 'sandbox:tenant_waiting', tenant_of(ref), -1)
  end
end
"""
"""A tenant's count changes only together with the set, so it cannot drift."""

BATCHES = """
local function tell_batches(memberships, from, to, ttl)
  for batch, index in string.gmatch(memberships or '', '(%S+) (%d+);') do
    local key = 'sandbox:batch:' .. batch
    if from then redis.call('HINCRBY', key, from, -1) end
    redis.call('HINCRBY', key, to, 1)
    if ttl then
      local done = 'sandbox:batch_done:' .. batch
      redis.call('RPUSH', done, index)
      for _, name in ipairs({key, done, 'sandbox:batch_members:' .. batch}) do
        redis.call('EXPIRE', name, ttl)
      end
    end
  end
end
"""
"""Moves a submission from one count to the other in every batch that has it."""

SHARE = """
-- Fair queueing by virtual time: who has used least is served first. Who comes anew starts at the
-- time of who was served last, so that nobody saves up while idle.
local function enter(set, member)
  if redis.call('ZSCORE', set, member) then return end
  local used = tonumber(redis.call('HGET', 'sandbox:used', set .. ' ' .. member) or '0')
  local clock = tonumber(redis.call('HGET', 'sandbox:used', set) or '0')
  redis.call('ZADD', set, math.max(used, clock), member)
end
local function charge(set, member, amount)
  local field = set .. ' ' .. member
  local score = redis.call('ZSCORE', set, member)
  local total = tonumber(score or redis.call('HGET', 'sandbox:used', field) or '0') + amount
  if score then redis.call('ZADD', set, total, member) end
  redis.call('HSET', 'sandbox:used', field, string.format('%.6f', total))
end
local function activate(lane, tenant, jobs)
  enter('sandbox:lanes', lane)
  enter('sandbox:tenants:' .. lane, tenant)
  for _ = redis.call('LLEN', 'sandbox:wake') + 1, math.min(jobs, 32) do
    redis.call('RPUSH', 'sandbox:wake', '')
  end
end
local function give_back(in_flight)
  local count = 0
  while true do
    local job = redis.call('RPOP', in_flight)
    if not job then return count end
    local lane, tenant = string.match(job, '^%x+-(%l+)-(.+)$')
    if lane then
      redis.call('LPUSH', 'rq:queue:' .. lane .. ':' .. tenant, job)
      activate(lane, tenant, 1)
      count = count + 1
    end
  end
end
"""
"""Shares of lanes and of tenants within a lane, and jobs on their way back to their queue."""
