// The greeting of `depot serve` at a terminal: the URL, the locations of the data, and the next steps.
import type { Config } from '#platform/config/config.ts'

export type Greeting = {
  config: Config
  /** The URL on which Depot listens. */
  url: string
  /** The folder of the embedded database. */
  databaseFolder: string | undefined
  /** Secret of the link that creates the first admin; undefined if there is an admin. */
  firstAdmin: string | undefined
  /** Whether there are no projects. */
  isEmpty: boolean
  /** Whether this copy of the instance runs no jobs and sends nothing. */
  isQuiet: boolean
  colour: boolean
}

/** Path of the page behind the link. */
const FIRST_ADMIN = '/account/first-admin'

/** Returns lines of at most 80 characters. Paths and URLs can be longer and have their own lines. */
export function greeting({ config, url, databaseFolder, firstAdmin, isEmpty, isQuiet, colour }: Greeting): string {
  const paint = (code: number, text: string): string => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  const line = (label: string, value: string): string => `  ${paint(2, label.padEnd(9))} ${value}`
  const more = (value: string): string => `            ${value}`
  const warn = (value: string): string => `  ${paint(33, value)}`
  const { baseUrl, isBaseUrlGuessed } = config.http
  const lines = ['', `  ${paint(1, paint(32, `Depot listens on ${url}`))}`]
  if (baseUrl !== url) lines.push(line('Public', baseUrl))
  if (isBaseUrlGuessed) {
    lines.push(
      warn('Depot listens on all addresses of this machine, and BASE_URL is not set.'),
      warn('Links begin with the URL above. Set BASE_URL to the public URL.'),
    )
  }
  if (isQuiet) {
    lines.push(
      warn('This copy of the instance is quiet: jobs, schedules, emails and webhooks'),
      warn('wait until you run `./bin/depot resume`.'),
    )
  }
  lines.push(line('Data', config.dataDir), ...database(config, databaseFolder, { line, more, warn }))
  lines.push(...engines(config).map(([label, value]) => line(label, value)))
  lines.push(...mail(config, { line, more }))
  if (isEmpty) lines.push(line('Demo', 'run `./bin/depot seed` to create a demo catalogue'))
  if (firstAdmin !== undefined) {
    lines.push(
      line('Admin', 'there is no admin. Open this link within a day to create one:'),
      more(paint(36, `${baseUrl}${FIRST_ADMIN}?flow=${firstAdmin}`)),
    )
  }
  return `${lines.join('\n')}\n\n`
}

type Draw = { line(label: string, value: string): string; more(value: string): string; warn(value: string): string }

function database({ database, dataDir }: Config, folder: string | undefined, { line, warn }: Draw): string[] {
  if (database.kind === 'external') return [line('Database', 'PostgreSQL at DATABASE_URL')]
  if (folder === undefined || folder.startsWith(`${dataDir}/`)) return []
  return [
    line('Database', folder),
    warn('The database is not in the data folder, because its user has no access to it.'),
    warn('A copy of the data folder is not a backup. Use `./bin/depot backup`.'),
  ]
}

/** The external engines. */
function engines({ files, search, analytics, counters }: Config): [string, string][] {
  const all: [string, string][] = []
  if (files.store.kind === 's3') all.push(['Files', `bucket ${files.store.bucket}`])
  if (search.kind === 'opensearch') all.push(['Search', 'OpenSearch at OPENSEARCH_URL'])
  if (analytics.store.kind === 'clickhouse') all.push(['Events', 'ClickHouse at CLICKHOUSE_URL'])
  if (counters.kind === 'redis') all.push(['Counters', 'Redis at REDIS_URL'])
  return all
}

function mail({ mail }: Config, { line, more }: Pick<Draw, 'line' | 'more'>): string[] {
  if (mail.kind === 'smtp') return [line('Email', `sent through SMTP_URL from ${mail.from}`)]
  return [line('Email', 'not sent, because SMTP_URL is not set. Written to'), more(mail.folder)]
}
