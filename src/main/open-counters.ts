// Opens the counters that the operator has chosen. Only their library is loaded.
import type { Channel } from '#platform/channel/channel.ts'
import type { Config } from '#platform/config/config.ts'
import type { Telemetry } from '#platform/telemetry/events.ts'
import { engineCalls } from '#platform/telemetry/metrics.ts'
import type { Counters } from '#ports/counters/counters.ts'
import { withFallback } from '#ports/counters/fallback.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'
import { remoteCounters } from '#ports/counters/remote/remote-counters.ts'

type Needed = Telemetry & { now: () => number }

/**
 * Counters of this process, of the one at the other end of a channel, which several share, or those of Redis, which this process stands in for
 * while Redis is away.
 */
export async function openCounters(
  config: Config['counters'],
  { log, metrics, now }: Needed,
  shared?: { channel: Channel; processes: number },
): Promise<Counters> {
  if (config.kind === 'memory' && shared !== undefined)
    return remoteCounters(shared.channel, { now, processes: shared.processes })
  const memory = createMemoryCounters({ now })
  if (config.kind === 'memory') return memory
  const { openRedisCounters } = await import('#ports/counters/redis/redis-counters.ts')
  const redis = await openRedisCounters({
    url: config.url.reveal(),
    prefix: config.prefix,
    onCall: engineCalls(metrics, 'redis'),
    onUnreachable: (error) =>
      log.error(
        { err: error },
        'Redis does not answer; a smaller limit applies until it does. If it should, check the host, the port and TLS in REDIS_URL',
      ),
    onAdvice: (sentence) => log.warn(sentence),
  })
  return withFallback(redis, memory, {
    now,
    onLost: (error) => log.warn({ err: error }, 'Redis is lost; a smaller limit applies'),
    onBack: () => log.info('Redis is back'),
  })
}
