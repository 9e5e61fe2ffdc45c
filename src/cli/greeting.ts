// What a start says to people at a terminal: where Depot answers, where everything is kept, and what to do next.
import type { Config } from '#platform/config/config.ts'

export type Greeting = {
  config: Config
  /** Where it answers. */
  address: string
  /** The folder of the embedded database. */
  databaseFolder: string | undefined
  /** Secret of the link that makes the first admin; undefined where there is one. */
  firstAdmin: string | undefined
  /** Whether there is no project yet. */
  isEmpty: boolean
  colour: boolean
}

/** Path of the page behind the link. */
const FIRST_ADMIN = '/account/first-admin'

/** Lines of at most 80 characters, but for paths and addresses, which have lines of their own. */
export function greeting({ config, address, databaseFolder, firstAdmin, isEmpty, colour }: Greeting): string {
  const paint = (code: number, text: string): string => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  const line = (label: string, value: string): string => `  ${paint(2, label.padEnd(9))} ${value}`
  const more = (value: string): string => `            ${value}`
  const warn = (value: string): string => `  ${paint(33, value)}`
  const lines = ['', `  ${paint(1, paint(32, `Depot answers on ${address}`))}`]
  if (config.http.baseUrl !== address) lines.push(line('Public', config.http.baseUrl))
  if (config.http.isBaseUrlGuessed) {
    lines.push(
      warn('Every address of this machine is listened on, and BASE_URL is not set: links'),
      warn('begin with the address above. Set BASE_URL to the one that people use.'),
    )
  }
  lines.push(line('Data', config.dataDir), ...database(config, databaseFolder, { line, more, warn }))
  lines.push(...elsewhere(config).map(([label, value]) => line(label, value)))
  lines.push(...mail(config, { line, more }))
  if (isEmpty) lines.push(line('Demo', '`./bin/depot seed` fills a catalogue to look at'))
  if (firstAdmin !== undefined) {
    const link = `${config.http.baseUrl}${FIRST_ADMIN}?flow=${firstAdmin}`
    lines.push(
      line('Admin', 'there is none yet; this link makes the first, once, within a day:'),
      more(paint(36, link)),
    )
  }
  return `${lines.join('\n')}\n\n`
}

type Draw = { line(label: string, value: string): string; more(value: string): string; warn(value: string): string }

function database({ database, dataDir }: Config, folder: string | undefined, { line, warn }: Draw): string[] {
  if (database.kind === 'external') return [line('Database', 'PostgreSQL of DATABASE_URL')]
  if (folder === undefined || folder.startsWith(`${dataDir}/`)) return []
  return [
    line('Database', folder),
    warn('The database is not in the data folder: its user cannot enter that. A copy of'),
    warn('the data folder lacks it; `./bin/depot backup` has everything.'),
  ]
}

/** What is kept by other services. */
function elsewhere({ files, search, analytics, counters }: Config): [string, string][] {
  const all: [string, string][] = []
  if (files.store.kind === 's3') all.push(['Files', `bucket ${files.store.bucket}`])
  if (search.kind === 'opensearch') all.push(['Search', 'OpenSearch of OPENSEARCH_URL'])
  if (analytics.store.kind === 'clickhouse') all.push(['Events', 'ClickHouse of CLICKHOUSE_URL'])
  if (counters.kind === 'redis') all.push(['Counters', 'Redis of REDIS_URL'])
  return all
}

function mail({ mail }: Config, { line, more }: Pick<Draw, 'line' | 'more'>): string[] {
  if (mail.kind === 'smtp') return [line('Mail', `sent through SMTP_URL from ${mail.from}`)]
  return [line('Mail', 'not sent (set SMTP_URL) but written to'), more(mail.folder)]
}
