"""A submission's steps that must be atomic: accepted, begun, handed back, finished, tried again."""

from sandbox_service.queue.lua import BATCHES, NOW, SHARE, WAIT

ACCEPT_FIELDS = 11
"""Arguments of `ACCEPT` for each submission."""

ACCEPT = (
    NOW
    + WAIT
    + BATCHES
    + SHARE
    + """
-- ARGV: ttl_s, (ref, digest, payload, lane, deadline_s, flight, result, reward, RQ job,
--               batch, index)...
local outcomes, fresh, hits, jobs = {}, 0, 0, {}
local ttl = ARGV[1]
for at = 2, #ARGV, 11 do
  local ref, digest, payload, lane, deadline, flight, result, reward, job, batch, index =
    unpack(ARGV, at, at + 10)
  local key = 'sandbox:submission:' .. ref
  local known = redis.call('HMGET', key, 'digest', 'status', 'payload')
  local outcome = 'new'
  if known[2] then
    outcome = (known[1] == digest) and 'same' or 'conflict'
  elseif result ~= '' then
    redis.call('HSET', key, 'status', 'finished', 'digest', digest, 'result', result,
               'reward', reward)
    redis.call('EXPIRE', key, ttl)
    hits = hits + 1
  else
    redis.call('HSET', key, 'status', 'queued', 'digest', digest, 'payload', payload,
               'lane', lane, 'job', job, 'queued_at', string.format('%.6f', now))
    if deadline ~= '' then redis.call('HSET', key, 'deadline', now + tonumber(deadline)) end
    local leader = flight ~= '' and redis.call('GET', flight)
    if leader and redis.call('HEXISTS', 'sandbox:submission:' .. leader, 'payload') == 1 then
      redis.call('HSET', key, 'leader', leader)
      redis.call('RPUSH', 'sandbox:followers:' .. leader, ref)
    elseif flight ~= '' then
      redis.call('SET', flight, ref)
      redis.call('HSET', key, 'flight', flight)
    end
    wait_in(lane, ref, now)
    local place = lane .. ' ' .. tenant_of(ref)
    jobs[place] = (jobs[place] or 0) + 1
  end
  if outcome == 'new' then fresh = fresh + 1 end
  if batch ~= '' and outcome ~= 'conflict' then
    local member = string.match(ref, '/(.*)$')
    if redis.call('HSETNX', 'sandbox:batch_members:' .. batch, index, member) == 1 then
      local membership = batch .. ' ' .. index .. ';'
      redis.call('HINCRBY', 'sandbox:batch:' .. batch, 'count', 1)
      redis.call('PERSIST', 'sandbox:batch:' .. batch)
      if outcome == 'new' and result == '' or known[3] then
        local before = redis.call('HGET', key, 'batches') or ''
        redis.call('HSET', key, 'batches', before .. membership)
        tell_batches(membership, nil, known[2] or 'queued', nil)
      else
        tell_batches(membership, nil, known[2] or 'finished', ttl)
      end
    end
  end
  outcomes[#outcomes + 1] = outcome
end
for place, count in pairs(jobs) do
  local lane, tenant = string.match(place, '^(%S+) (%S+)$')
  activate(lane, tenant, count)
end
if fresh > 0 then redis.call('HINCRBY', 'sandbox:metrics', 'accepted', fresh) end
if hits > 0 then redis.call('HINCRBY', 'sandbox:metrics', 'cache_hits', hits) end
return outcomes
"""
)
"""Stores submissions; for each of them says `new`, `same` or `conflict`."""

BEGIN = (
    NOW
    + WAIT
    + BATCHES
    + """
-- ARGV: worker, ref...
local function begin(ref, worker)
  local key = 'sandbox:submission:' .. ref
  local s = redis.call('HMGET', key, 'status', 'worker', 'payload', 'queued_at', 'lane',
                       'batches', 'deadline', 'leader')
  if not s[3] then return false end
  if s[8] and redis.call('HEXISTS', 'sandbox:submission:' .. s[8], 'payload') == 1 then
    return false
  end
  if s[1] == 'started' and s[2] ~= worker then
    local lease = redis.call('ZSCORE', 'sandbox:workers', s[2])
    if lease and tonumber(lease) > now then return false end
  end
  local waited = string.format('%.6f', now - tonumber(s[4]))
  if s[7] and tonumber(s[7]) < now then return {s[3], 0, waited} end
  if s[1] == 'queued' then tell_batches(s[6], 'queued', 'started', nil) end
  -- A worker that asks again never got the answer: nothing was tried.
  local step = (s[1] == 'started' and s[2] == worker) and 0 or 1
  redis.call('HSET', key, 'status', 'started', 'worker', worker)
  local attempt = redis.call('HINCRBY', key, 'attempts', step)
  stop_waiting(s[5], ref)
  redis.call('ZADD', 'sandbox:started:' .. s[5], now, ref)
  return {s[3], attempt, waited}
end
local claims = {}
for i = 2, #ARGV do claims[i - 1] = begin(ARGV[i], ARGV[1]) end
return claims
"""
)
"""Claims submissions; attempt 0 says that a deadline has passed. Nil for one that is done, in the
hands of a worker that lives, or waiting for the result of an equal one."""

UNBEGIN = (
    NOW
    + WAIT
    + BATCHES
    + """
-- KEYS: submission   ARGV: ref
local s = redis.call('HMGET', KEYS[1], 'status', 'payload', 'lane', 'batches', 'queued_at')
if not s[2] or s[1] ~= 'started' then return 0 end
tell_batches(s[4], 'started', 'queued', nil)
redis.call('HSET', KEYS[1], 'status', 'queued')
redis.call('HINCRBY', KEYS[1], 'attempts', -1)
redis.call('ZREM', 'sandbox:started:' .. s[3], ARGV[1])
wait_in(s[3], ARGV[1], s[5])
return 1
"""
)
"""Takes a claim back, as if it had not been tried."""

FINISH = (
    NOW
    + WAIT
    + BATCHES
    + """
-- ARGV: ttl_s, (ref, status, result, reward, dead, number of metrics, (metric, amount)...)...
local ttl = ARGV[1]
local function finish(ref, status, result, reward, is_dead, first, last)
  local key = 'sandbox:submission:' .. ref
  local s = redis.call('HMGET', key, 'status', 'payload', 'lane', 'batches', 'flight')
  if not s[2] then return false end
  stop_waiting(s[3], ref)
  redis.call('ZREM', 'sandbox:started:' .. s[3], ref)
  redis.call('HSET', key, 'status', status, 'result', result, 'reward', reward)
  redis.call('HDEL', key, 'payload')
  redis.call('EXPIRE', key, ttl)
  tell_batches(s[4], s[1], status, ttl)
  for i = first, last, 2 do redis.call('HINCRBYFLOAT', 'sandbox:metrics', ARGV[i], ARGV[i + 1]) end
  local drained = 'sandbox:drained:' .. math.floor(now / 10)
  if redis.call('INCR', drained) == 1 then redis.call('EXPIRE', drained, 600) end
  if redis.call('LPUSH', 'sandbox:recent', ref) > 400 then
    redis.call('LTRIM', 'sandbox:recent', 0, 199)
  end
  if is_dead == '1' then
    redis.call('HSET', key, 'dead_payload', s[2])
    redis.call('ZADD', 'sandbox:dead', now, ref)
    redis.call('ZREMRANGEBYSCORE', 'sandbox:dead', '-inf', now - tonumber(ttl))
  end
  redis.call('PUBLISH', 'sandbox:finished', ref)
  if not s[5] then return {} end
  if redis.call('GET', s[5]) == ref then redis.call('DEL', s[5]) end
  local followers = redis.call('LRANGE', 'sandbox:followers:' .. ref, 0, -1)
  if #followers > 0 then redis.call('EXPIRE', 'sandbox:followers:' .. ref, ttl) end
  return followers
end
local found, at = {}, 2
while at <= #ARGV do
  local last = at + 5 + 2 * tonumber(ARGV[at + 5])
  local followers = finish(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4],
                           at + 6, last)
  found[#found + 1] = {followers and 1 or 0, followers or {}}
  at = last + 1
end
return found
"""
)
"""Stores results, each unless there is one: the first write wins.

Returns of each whether it was stored, and who waits for an equal one's result."""

RETRY = (
    NOW
    + WAIT
    + """
-- KEYS: submission   ARGV: ref
redis.call('ZREM', 'sandbox:dead', ARGV[1])
local s = redis.call('HMGET', KEYS[1], 'dead_payload', 'lane')
if not s[1] then return 0 end
redis.call('HSET', KEYS[1], 'status', 'queued', 'payload', s[1],
           'queued_at', string.format('%.6f', now))
redis.call('HDEL', KEYS[1], 'dead_payload', 'result', 'reward', 'attempts', 'worker', 'batches',
           'deadline', 'leader', 'flight')
redis.call('PERSIST', KEYS[1])
wait_in(s[2], ARGV[1], now)
return 1
"""
)
"""Makes a dead letter a submission that waits; no batch counts it a second time."""

RATE = (
    NOW
    + """
-- KEYS: rate   ARGV: count, per second, burst
local s = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local burst, per_second = tonumber(ARGV[3]), tonumber(ARGV[2])
local tokens = tonumber(s[1] or burst) + (now - tonumber(s[2] or now)) * per_second
tokens = math.min(tokens, burst)
if tokens < 1 then return string.format('%.3f', (1 - tokens) / per_second) end
redis.call('HSET', KEYS[1], 'tokens', tokens - tonumber(ARGV[1]),
           'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], 86400)
return '0'
"""
)
"""Takes tokens from a tenant's bucket, which may go into debt once; else says how long to wait."""
