// Opens the ports of a process.
import { createArchiveInspector } from '#platform/archives/inspect-archive.ts'
import { createImages } from '#platform/images/images.ts'
import { loadTaxonomy } from '#platform/taxonomy/taxonomy.ts'
import { openCountryLookup } from '#ports/country-lookup.ts'
import type { Deps } from '#ports/deps.ts'
import { createOutbox } from '#ports/mail/outbox/outbox.ts'
import { createSmtpMail } from '#ports/mail/smtp/smtp.ts'
import { type OpenedAnalytics, openAnalytics } from './open-analytics.ts'
import { openCounters } from './open-counters.ts'
import type { Database } from './open-database.ts'
import { openFiles } from './open-files.ts'
import { openSearch } from './open-search.ts'

/** The dependencies of the ports. */
export type PortNeeds = Pick<Deps, 'config' | 'log' | 'metrics' | 'now'> & Database

/** The ports that each process of a server opens for itself. */
export type LocalPorts = Omit<Deps, keyof PortNeeds | 'counters' | 'search' | 'analytics' | 'events'>

/** The ports that the processes of a server share if their engine is embedded. */
export type SharedPorts = Pick<Deps, 'counters' | 'search'> & Omit<OpenedAnalytics, 'close'>

export async function openLocalPorts(
  { config, log, metrics, now }: PortNeeds,
  resources: AsyncDisposableStack,
): Promise<LocalPorts> {
  const files = await openFiles(config.files.store, { log, metrics })
  resources.defer(() => files.close())
  const mail =
    config.mail.kind === 'smtp'
      ? createSmtpMail({ url: config.mail.url.reveal(), from: config.mail.from, now })
      : createOutbox({ ...config.mail, now })
  resources.defer(() => mail.close())
  return {
    files,
    mail,
    countryLookup: await openCountryLookup(config.analytics.geoipDatabase),
    images: createImages(),
    archives: createArchiveInspector(),
    ...loadTaxonomy(),
  }
}

export async function openSharedPorts(
  needs: PortNeeds & Pick<Deps, 'taxonomy'>,
  mode: 'server' | 'command',
  resources: AsyncDisposableStack,
): Promise<SharedPorts> {
  const counters = await openCounters(needs.config.counters, needs)
  resources.defer(() => counters.close())
  const { close, ...analytics } = openAnalytics(needs, mode)
  // Closes before the database, because closing stores the events of the last requests and counts them.
  resources.defer(close)
  const search = openSearch(needs)
  resources.defer(() => search.close())
  return { counters, search, ...analytics }
}
