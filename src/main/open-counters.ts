// Opens the counters that the operator has chosen. Loads the Redis library only if it is used.
import type { Config } from '#platform/config/config.ts'
import type { Telemetry } from '#platform/telemetry/events.ts'
import { engineCalls } from '#platform/telemetry/metrics.ts'
import type { Counters } from '#ports/counters/counters.ts'
import { withFallback } from '#ports/counters/fallback.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'

/** Returns the counters of this process, or those in Redis. If Redis is unavailable, this process counts on its own. */
export async function openCounters(
  config: Config['counters'],
  { log, metrics, now }: Telemetry & { now: () => number },
): Promise<Counters> {
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
        'Redis does not respond; until it does, each process applies a lower limit. Check the host, the port and TLS in REDIS_URL',
      ),
    onAdvice: (sentence) => log.warn(sentence),
  })
  return withFallback(redis, memory, {
    now,
    onLost: (error) => log.warn({ err: error }, 'Redis does not respond; each process applies a lower limit'),
    onBack: () => log.info('Redis responds again'),
  })
}
