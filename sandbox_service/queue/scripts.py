"""The steps that must be atomic, as Lua run by Redis.

Times come from Redis itself, so the clocks of API and workers need not agree.
"""

_NOW = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
"""

ACCEPT = (
    _NOW
    + """
-- KEYS: waiting, metrics, submission...   ARGV: (id, digest, payload)...
local outcomes = {}
local fresh = 0
for i = 3, #KEYS do
  local at = (i - 3) * 3
  local known = redis.call('HMGET', KEYS[i], 'digest', 'status')
  if known[2] then
    outcomes[i - 2] = (known[1] == ARGV[at + 2]) and 'same' or 'conflict'
  else
    redis.call('HSET', KEYS[i], 'status', 'queued', 'digest', ARGV[at + 2],
               'payload', ARGV[at + 3], 'queued_at', string.format('%.6f', now))
    redis.call('ZADD', KEYS[1], now, ARGV[at + 1])
    outcomes[i - 2] = 'new'
    fresh = fresh + 1
  end
end
if fresh > 0 then redis.call('HINCRBY', KEYS[2], 'accepted', fresh) end
return outcomes
"""
)
"""Stores submissions; for each of them says `new`, `same` or `conflict`."""

BEGIN = (
    _NOW
    + """
-- KEYS: submission, waiting, started, workers   ARGV: id, worker
local s = redis.call('HMGET', KEYS[1], 'status', 'worker', 'payload', 'queued_at')
if not s[3] then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return false
end
if s[1] == 'started' and s[2] ~= ARGV[2] then
  local lease = redis.call('ZSCORE', KEYS[4], s[2])
  if lease and tonumber(lease) > now then return false end
end
redis.call('HSET', KEYS[1], 'status', 'started', 'worker', ARGV[2])
local attempt = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], now, ARGV[1])
return {s[3], attempt, string.format('%.6f', now - tonumber(s[4]))}
"""
)
"""Claims a submission; nil when it is done, or in the hands of a worker that lives."""

FINISH = """
-- KEYS: submission, waiting, started, metrics
-- ARGV: id, status, result, reward, ttl_s, channel, (metric, amount)...
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'payload') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[2], 'result', ARGV[3], 'reward', ARGV[4])
redis.call('HDEL', KEYS[1], 'payload')
redis.call('EXPIRE', KEYS[1], ARGV[5])
for i = 7, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[4], ARGV[i], ARGV[i + 1]) end
redis.call('PUBLISH', ARGV[6], ARGV[1])
return 1
"""
"""Stores a result unless there is one: the first write wins. The payload is no longer needed."""

RENEW = (
    _NOW
    + """
-- KEYS: workers, queue   ARGV: worker, lease_s, in-flight prefix
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
local taken = 0
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)) do
  while redis.call('LMOVE', ARGV[3] .. name, KEYS[2], 'RIGHT', 'LEFT') do taken = taken + 1 end
  redis.call('ZREM', KEYS[1], name)
end
return taken
"""
)
"""Extends a worker's lease and puts the jobs of workers without one back into the queue."""

ORPHANS = (
    _NOW
    + """
-- KEYS: waiting, started, workers   ARGV: prefix of submission keys
local orphans = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, 999)) do
  local key = ARGV[1] .. id
  local owner = redis.call('HGET', key, 'worker')
  local lease = owner and redis.call('ZSCORE', KEYS[3], owner)
  if not lease or tonumber(lease) < now then
    redis.call('ZREM', KEYS[2], id)
    if redis.call('HEXISTS', key, 'payload') == 1 then
      redis.call('HSET', key, 'status', 'queued')
      redis.call('ZADD', KEYS[1], now, id)
      orphans[#orphans + 1] = id
    end
  end
end
return orphans
"""
)
"""Takes started submissions from owners that are gone; each is returned once."""

RELEASE = """
-- KEYS: workers, queue, in-flight   ARGV: worker
local handed_back = 0
while redis.call('LMOVE', KEYS[3], KEYS[2], 'RIGHT', 'LEFT') do handed_back = handed_back + 1 end
redis.call('ZREM', KEYS[1], ARGV[1])
return handed_back
"""
"""Ends a worker's lease and hands back what it had taken."""

DONE = """
-- KEYS: in-flight, RQ job   ARGV: RQ job id
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
return 1
"""
"""Removes an RQ job, unless another worker has taken it over meanwhile."""
