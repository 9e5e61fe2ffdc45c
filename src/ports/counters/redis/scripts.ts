// The counters as Lua scripts, which Redis runs atomically. Each script uses one key, so that it works in a cluster, and the
// time of the Redis server, so that the clocks of the processes do not matter.
import { type CommandParser, defineScript } from '@redis/client'

/** Microseconds in tests; '' for the time of the Redis server. */
type Time = number | ''

/**
 * `now` in microseconds. `text` formats times, because Lua would round them to 14 digits. With a test's clock, keys expire
 * one minute later, because Redis uses its own clock.
 */
const PRELUDE = `
local now, grace = tonumber(ARGV[1]), 60000
if now == nil then
  local time = redis.call('TIME')
  now, grace = tonumber(time[1]) * 1000000 + tonumber(time[2]), 0
end
local function text(us) return string.format('%.0f', us) end
local function ttl(us) return text(math.max(1, math.ceil(us / 1000) + grace)) end
`

/** The value of a rate's key: the time at which all units are available again, at most one burst from now. */
const FREE_AT = `
local interval, burst, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local stored = tonumber(redis.call('GET', KEYS[1]))
`

const TAKE = `${PRELUDE}${FREE_AT}
local freeAt = math.min(math.max(stored or now, now), now + burst)
local after = freeAt + cost * interval
local spare = now + burst - after
if spare < 0 then
  -- Stored even so; otherwise, after the clock is set back, every request would fail until the old time.
  if stored and stored > freeAt then redis.call('SET', KEYS[1], text(freeAt), 'PX', ttl(freeAt - now)) end
else
  redis.call('SET', KEYS[1], text(after), 'PX', ttl(after - now))
end
return spare
`

const GIVE_BACK = `${PRELUDE}${FREE_AT}
if stored then
  local before = stored - cost * interval
  if before <= now then redis.call('DEL', KEYS[1])
  else redis.call('SET', KEYS[1], text(before), 'PX', ttl(before - now)) end
end
return 0
`

/** The value of a window's key: the times of its hits, oldest first. Hits in the future, after the clock was set back, happen now. */
const HITS = `
local max, span = tonumber(ARGV[2]), tonumber(ARGV[3])
local hits, changed = {}, false
for _, value in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local at = tonumber(value)
  if at > now - span then hits[#hits + 1] = math.min(at, now) end
  if at <= now - span or at > now then changed = true end
end
local function save()
  redis.call('DEL', KEYS[1])
  for _, at in ipairs(hits) do redis.call('RPUSH', KEYS[1], text(at)) end
  if hits[1] then redis.call('PEXPIRE', KEYS[1], ttl(span)) end
end
local function wait()
  local blocking = hits[#hits - max + 1]
  return blocking and blocking + span - now or 0
end
`

const HIT = `${PRELUDE}${HITS}
local counted = #hits < max and 1 or 0
if changed then save() end
if counted == 1 then
  hits[#hits + 1] = now
  redis.call('RPUSH', KEYS[1], text(now))
  redis.call('PEXPIRE', KEYS[1], ttl(span))
end
return {counted, #hits, wait()}
`

const GIVE_BACK_HIT = `${PRELUDE}${HITS}
if hits[#hits] then
  hits[#hits] = nil
  save()
end
return 0
`

const PEEK = `${PRELUDE}${HITS}
if changed then save() end
return {#hits, wait()}
`

/** The value of an allowance's key: the spent amount and the end. */
const SPEND = `${PRELUDE}
local amount, max, span = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local spent = tonumber(redis.call('HGET', KEYS[1], 'spent')) or 0
local ends = tonumber(redis.call('HGET', KEYS[1], 'ends')) or now
-- An end further away than a whole span means that the clock was set back; then it ends one span from now.
ends = math.min(ends, now + span)
if ends <= now then spent, ends = 0, now + span end
local granted = math.max(0, math.min(amount, max - spent))
redis.call('HSET', KEYS[1], 'spent', text(spent + granted), 'ends', text(ends))
redis.call('PEXPIRE', KEYS[1], ttl(ends - now))
return granted
`

function script<Reply, Answer>(source: string, read: (reply: Reply) => Answer) {
  return defineScript({
    SCRIPT: source,
    NUMBER_OF_KEYS: 1,
    IS_READ_ONLY: false,
    parseCommand(parser: CommandParser, key: string, time: Time, ...numbers: number[]) {
      parser.pushKey(key)
      parser.push(String(time), ...numbers.map(String))
    },
    transformReply: (reply: unknown) => read(reply as Reply),
  })
}

const asNumber = (reply: number) => reply
const asNothing = (_reply: number) => undefined

/** Arguments: key, time in microseconds or '', then numbers; all spans in microseconds. */
export const SCRIPTS = {
  /** Interval, burst, cost → spare microseconds; negative if units are missing. */
  takeRate: script(TAKE, asNumber),
  /** Interval, burst, cost. */
  giveBackRate: script(GIVE_BACK, asNothing),
  /** Maximum, span → whether the hit was counted, the number of hits, and the time until the next one would count. */
  hitWindow: script(HIT, ([counted, count, waitUs]: [number, number, number]) => ({
    counted: counted === 1,
    count,
    retryAfterMs: Math.ceil(waitUs / 1000),
  })),
  /** Maximum, span. */
  giveBackHit: script(GIVE_BACK_HIT, asNothing),
  /** Maximum, span → the number of hits, and the time until the next one would count. */
  peekWindow: script(PEEK, ([count, waitUs]: [number, number]) => ({ count, retryAfterMs: Math.ceil(waitUs / 1000) })),
  /** Amount, maximum, span → the granted amount. */
  spendAllowance: script(SPEND, asNumber),
}
