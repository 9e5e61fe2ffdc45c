// Opens the ports of a process.

import { createArchiveInspector } from '#platform/archives/inspect-archive.ts'
import type { Config, FilesConfig } from '#platform/config/config.ts'
import { loadFor } from '#platform/config/optional-packages.ts'
import { createImages } from '#platform/images/images.ts'
import type { Telemetry } from '#platform/telemetry/events.ts'
import { engineCalls } from '#platform/telemetry/metrics.ts'
import type { Counters } from '#ports/counters/counters.ts'
import { withFallback } from '#ports/counters/fallback.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'
import { openCountryLookup } from '#ports/country-lookup.ts'
import type { Deps } from '#ports/deps.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import type { Files } from '#ports/files/files.ts'
import type { Mail } from '#ports/mail/mail.ts'
import { createOutbox } from '#ports/mail/outbox/outbox.ts'
import { createTagDirectory } from '#taxonomy/tag-directory.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'
import { type OpenedAnalytics, openAnalytics } from './open-analytics.ts'
import type { Database } from './open-database.ts'
import { openSearch } from './open-search.ts'
import { COMMANDS } from './run-command.ts'

/** The dependencies of the ports. */
export type PortNeeds = Pick<Deps, 'config' | 'log' | 'metrics' | 'now'> & Database

/** The ports, and the function that opens the analytics store before the first query. */
type Ports = Omit<Deps, keyof PortNeeds> & Pick<OpenedAnalytics, 'warmUp'>

export async function openPorts(
  needs: PortNeeds,
  mode: 'server' | 'command',
  resources: AsyncDisposableStack,
): Promise<Ports> {
  const { config, log, metrics, now, db, cache } = needs
  const loaded = loadTaxonomy()
  const files = await openFiles(config.files.store, { log, metrics })
  resources.defer(() => files.close())
  const mail = await openMail(config.mail, now)
  resources.defer(() => mail.close())
  const countryLookup = await openCountryLookup(config.analytics.geoipDatabase)
  const counters = await openCounters(config.counters, needs)
  resources.defer(() => counters.close())
  const { close, ...analytics } = openAnalytics(needs, mode)
  // Closes before the database, because closing stores the events of the last requests and counts them.
  resources.defer(close)
  const search = openSearch({ ...needs, ...loaded })
  resources.defer(() => search.close())
  return {
    files,
    mail,
    countryLookup,
    counters,
    search,
    images: createImages(),
    archives: createArchiveInspector(),
    commands: COMMANDS,
    tags: createTagDirectory({ db, cache, log, ...loaded }),
    ...loaded,
    ...analytics,
  }
}

/** Only instances with a mail server load the code for SMTP. */
async function openMail(mail: Config['mail'], now: () => number): Promise<Mail> {
  if (mail.kind === 'outbox') return createOutbox({ ...mail, now })
  const { createSmtpMail } = await import('#ports/mail/smtp/smtp.ts')
  return createSmtpMail({ url: mail.url.reveal(), from: mail.from, now })
}

/** Opens the file store that the operator has chosen. Loads the S3 library only if it is used. */
export async function openFiles(config: FilesConfig, { log, metrics }: Telemetry): Promise<Files> {
  if (config.kind === 'folder') return openDiskFiles(config)
  const { openS3Files } = await loadFor('S3_BUCKET', () => import('#ports/files/s3/s3-files.ts'))
  const { staging, links, ...location } = config
  return openS3Files({
    location,
    staging,
    links,
    onCall: engineCalls(metrics, 's3'),
    onUnreachable: (error) =>
      log.error(
        { err: error },
        'The file store does not respond; files cannot be read or stored until it does. Check S3_ENDPOINT',
      ),
  })
}

/** Returns the counters of this process, or those in Redis. If Redis is unavailable, this process counts on its own. */
async function openCounters(
  config: Config['counters'],
  { log, metrics, now }: Telemetry & { now: () => number },
): Promise<Counters> {
  const memory = createMemoryCounters({ now })
  if (config.kind === 'memory') return memory
  const { openRedisCounters } = await loadFor('REDIS_URL', () => import('#ports/counters/redis/redis-counters.ts'))
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
