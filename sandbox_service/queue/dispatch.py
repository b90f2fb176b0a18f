"""How RQ jobs come to workers, and back when a worker is gone: the steps that must be atomic."""

from sandbox_service.queue.lua import BATCHES, NOW, SHARE, WAIT

ESTIMATE_S = 0.05
"""Worker seconds charged when a job is taken; what it really took is charged when it is done."""

NEXT = (
    SHARE
    + """
-- KEYS: in-flight
-- ARGV: worker, estimate_s, most workers for a tenant or '', job that is done or '', seconds that
--       it took, whether to take another, (lane, weight)...
local worker, most = ARGV[1], tonumber(ARGV[3])
local weights = {}
for i = 7, #ARGV, 2 do weights[ARGV[i]] = tonumber(ARGV[i + 1]) end

local function done(job, seconds)
  if redis.call('LREM', KEYS[1], 1, job) == 0 then return end
  redis.call('DEL', 'rq:job:' .. job)
  local lane, tenant = string.match(job, '^%x+-(%l+)-(.+)$')
  if not lane then return end
  local rest = seconds - tonumber(ARGV[2])
  charge('sandbox:lanes', lane, rest / (weights[lane] or 1))
  charge('sandbox:tenants:' .. lane, tenant, rest)
  if most and redis.call('EXISTS', 'sandbox:wake') == 0 then
    redis.call('RPUSH', 'sandbox:wake', '')
  end
end

local function clock(set, member)
  local score = tonumber(redis.call('ZSCORE', set, member))
  if score > tonumber(redis.call('HGET', 'sandbox:used', set) or '0') then
    redis.call('HSET', 'sandbox:used', set, string.format('%.6f', score))
  end
end

local function take_from(lane, tenant)
  local tenants = 'sandbox:tenants:' .. lane
  local queue = 'rq:queue:' .. lane .. ':' .. tenant
  local job = redis.call('LMOVE', queue, KEYS[1], 'LEFT', 'RIGHT')
  if job then
    clock('sandbox:lanes', lane)
    clock(tenants, tenant)
    charge('sandbox:lanes', lane, tonumber(ARGV[2]) / (weights[lane] or 1))
    charge(tenants, tenant, tonumber(ARGV[2]))
    redis.call('HSET', 'sandbox:busy', worker, tenant)
  end
  if redis.call('EXISTS', queue) == 0 then redis.call('ZREM', tenants, tenant) end
  if redis.call('EXISTS', tenants) == 0 then redis.call('ZREM', 'sandbox:lanes', lane) end
  return job
end

local function take()
  local busy, is_held_back = {}, false
  if most then
    for _, tenant in ipairs(redis.call('HVALS', 'sandbox:busy')) do
      busy[tenant] = (busy[tenant] or 0) + 1
    end
  end
  for _, lane in ipairs(redis.call('ZRANGE', 'sandbox:lanes', 0, -1)) do
    for _, tenant in ipairs(redis.call('ZRANGE', 'sandbox:tenants:' .. lane, 0, -1)) do
      if most and (busy[tenant] or 0) >= most then
        is_held_back = true
      else
        local job = take_from(lane, tenant)
        if job then return job end
      end
    end
  end
  if not is_held_back then redis.call('DEL', 'sandbox:wake') end
  return false
end

redis.call('HDEL', 'sandbox:busy', worker)
if ARGV[4] ~= '' then done(ARGV[4], tonumber(ARGV[5])) end
local job = ARGV[6] == '1' and take()
return job and {job, redis.call('HGET', 'rq:job:' .. job, 'data') or ''}
"""
)
"""Removes a job that is done, unless another worker has taken it over meanwhile, and charges its
time; then moves the next one to the worker's own list. Returns its id and its call, or nil."""

RENEW = (
    NOW
    + SHARE
    + """
-- KEYS: workers   ARGV: worker, lease_s, sandboxes open, more started, more lost
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', 'sandbox:sandboxes', ARGV[1], ARGV[3])
redis.call('HINCRBY', 'sandbox:metrics', 'sandboxes_started', ARGV[4])
redis.call('HINCRBY', 'sandbox:metrics', 'sandboxes_lost', ARGV[5])
local taken = 0
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)) do
  taken = taken + give_back('sandbox:in_flight:' .. name)
  redis.call('ZREM', KEYS[1], name)
  redis.call('HDEL', 'sandbox:busy', name)
  redis.call('HDEL', 'sandbox:unready', name)
  redis.call('HDEL', 'sandbox:sandboxes', name)
end
return taken
"""
)
"""Extends a worker's lease and puts the jobs of workers without one back into their queues."""

RELEASE = (
    SHARE
    + """
-- KEYS: workers, in-flight   ARGV: worker
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', 'sandbox:busy', ARGV[1])
redis.call('HDEL', 'sandbox:unready', ARGV[1])
redis.call('HDEL', 'sandbox:sandboxes', ARGV[1])
return give_back(KEYS[2])
"""
)
"""Ends a worker's lease and hands back what it had taken."""

REQUEUE = (
    SHARE
    + """
-- ARGV: lane, tenant, (ref, RQ job)...
for at = 3, #ARGV, 2 do
  local key = 'sandbox:submission:' .. ARGV[at]
  if redis.call('HEXISTS', key, 'payload') == 1 then
    redis.call('HSET', key, 'job', ARGV[at + 1])
    redis.call('HDEL', key, 'leader')
  end
end
activate(ARGV[1], ARGV[2], (#ARGV - 2) / 2)
return 1
"""
)
"""Notes which RQ job carries a submission now."""

ORPHANS = (
    NOW
    + WAIT
    + BATCHES
    + """
-- KEYS: workers   ARGV: lane, first rank, last rank, seconds
local lane = ARGV[1]
local orphans = {}
for _, ref in ipairs(redis.call('ZRANGE', 'sandbox:started:' .. lane, 0, 999)) do
  local key = 'sandbox:submission:' .. ref
  local s = redis.call('HMGET', key, 'worker', 'payload', 'batches')
  local lease = s[1] and redis.call('ZSCORE', KEYS[1], s[1])
  if not lease or tonumber(lease) < now then
    redis.call('ZREM', 'sandbox:started:' .. lane, ref)
    if s[2] then
      redis.call('HSET', key, 'status', 'queued')
      tell_batches(s[3], 'started', 'queued', nil)
      wait_in(lane, ref, now)
      orphans[#orphans + 1] = ref
    end
  end
end
local waiting = redis.call('ZRANGE', 'sandbox:waiting:' .. lane, ARGV[2], ARGV[3], 'WITHSCORES')
for i = 1, #waiting, 2 do
  local ref = waiting[i]
  local s = redis.call('HMGET', 'sandbox:submission:' .. ref, 'job', 'payload', 'leader')
  local leads = s[3] and redis.call('HEXISTS', 'sandbox:submission:' .. s[3], 'payload') == 1
  if not s[2] then
    stop_waiting(lane, ref)
  elseif not leads and tonumber(waiting[i + 1]) < now - tonumber(ARGV[4])
         and redis.call('EXISTS', 'rq:job:' .. (s[1] or '')) == 0 then
    orphans[#orphans + 1] = ref
  end
end
return orphans
"""
)
"""Finds started submissions whose owner is gone, and waiting ones that no RQ job carries."""
