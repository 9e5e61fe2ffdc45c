// Every GET answer of an instance, over what its tables hold, to be compared with those of another instance.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { Client } from '../app/test-app.ts'

const DESCRIPTIONS = join(import.meta.dirname, '../../../docs/generated')

/** Responses that depend on the process and the time, or on the secrets of the instance, not on other stored data. */
const OF_THE_PROCESS = [
  '/',
  '/health',
  '/ready',
  '/metrics',
  '/docs/openapi.json',
  '/v3/projects_random',
  '/v3/rate-limit',
  '/v3/changes',
  '/v3/changes/stream',
  '/v3/instance/key',
  ...['project', 'organization', 'user'].map((owner) => `/v3/${owner}/{id}/webhooks`),
  ...['overview', 'jobs', 'storage', 'mail', 'errors', 'search-index'].map((name) => `/_internal/admin/${name}`),
]

type Get = { parameters?: { in: string; name: string; required?: boolean }[] }

/** A partial request is not counted as a download. */
const PART = { range: 'bytes=1-' }

/** IDs for `{id}` in a path, by the pattern that precedes it; `SELECT` returns one column. */
const SOURCES: readonly (readonly [pattern: RegExp, select: string])[] = [
  [/\/user\/|\/users$/, 'select id from account'],
  [/\/project\/|\/projects$/, 'select id from project'],
  [/\/version\/|\/versions$/, 'select id from version'],
  [/\/organization\/|\/organizations$/, 'select id from organization'],
  [/\/team\/|\/teams$/, 'select id from team'],
  [/\/collection\/|\/collections$/, 'select id from collection'],
  [/\/notification\/|\/notifications$/, 'select id from notification'],
  [/\/report\/|\/reports$/, 'select id from report'],
  [/\/thread\/|\/threads$/, 'select id from thread'],
  [/\/oauth\/apps?/, 'select id from oauth_client'],
  [/\/affiliate\//, 'select id from affiliate_code'],
  [/\/version_file/, 'select sha512 from file'],
  [/^\/updates\/|^\/maven\//, 'select id from project'],
]

/** Returns the paths of all GET routes of an API description, filled with IDs from the tables. */
export async function everyAddress(db: Db, description = 'openapi.json'): Promise<string[]> {
  const { paths } = JSON.parse(readFileSync(join(DESCRIPTIONS, description), 'utf8')) as {
    paths: Record<string, { get?: Get }>
  }
  const column = async (select: string): Promise<string[]> =>
    (await sql<Record<string, string>>`${sql.raw(`${select} order by 1`)}`.execute(db)).rows.map(
      (row) => Object.values(row)[0] ?? '',
    )
  const all: string[] = []
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined || OF_THE_PROCESS.includes(path.replace(/^\/v2\//, '/v3/'))) continue
    // An archive of files is a download of each, which the statistics show.
    if (/\/(?:archive|server\.zip)$/.test(path)) continue
    const required = (get.parameters ?? []).filter((parameter) => parameter.required).map(({ name }) => name)
    const select = SOURCES.find(([pattern]) => pattern.test(path))?.[1]
    const ids = select === undefined ? [''] : await column(select)
    if (required.includes('ids')) all.push(`${path}?ids=${encodeURIComponent(JSON.stringify(ids.slice(0, 100)))}`)
    else if (required.includes('hashes'))
      all.push(`${path}?hashes=${encodeURIComponent(JSON.stringify(ids.slice(0, 50)))}`)
    else if (required.every((name) => ['id', 'hash'].includes(name))) {
      for (const id of required.length === 0 ? [''] : ids) all.push(path.replace(/\{(id|hash)\}/, id))
    }
  }
  const pictures = await column(
    `select raw_avatar_url from account where raw_avatar_url is not null union select icon_url from project
    where icon_url is not null union select url from gallery_item`,
  )
  const files = await column(
    `select '/data/' || project_id || '/versions/' || version_id || '/' || filename
    from file join version on version.id = version_id`,
  )
  const numbers = await column(`select '/v3/project/' || project_id || '/version/' || version_number from version`)
  return [
    ...all,
    ...files.map(encodeURI),
    ...numbers.map(encodeURI),
    ...pictures.map((key) => key.replace('pictures/', '/data/')),
  ]
}

/** Status and body of each address, as this client is answered. */
export async function everyAnswer(client: Client, addresses: readonly string[]): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const address of addresses) {
    const { statusCode, rawPayload, headers } = await client.get(address, { headers: PART })
    // Asking is a use of the session, which is written some seconds later, with where from and by which program.
    const text = rawPayload
      .toString('latin1')
      .replace(/"(last_login|last_sign_in|last_used|ip|user_agent)":"[^"]*"/g, '"$1":"of the last use"')
    answers.set(address, `${statusCode} ${headers['content-type']} ${headers['etag'] ?? ''}\n${text}`)
  }
  return answers
}

/** Every row of every table as text, without those that belong to the very database. */
export async function everyRow(db: Db): Promise<Map<string, string[]>> {
  const own = [
    'change_log',
    'first_admin_link',
    'instance_copy',
    'instance_key',
    'instance_secret',
    'job_schedule',
    'job_worker',
    'public_change',
    'public_change_head',
    'public_change_note',
    'schema_migration',
    'search_change',
    'search_index',
    'search_rebuild',
    'download_ledger',
    'download_batch',
    'instance_error',
    'instance_figure',
    'mail_delivery',
    'storage_measure',
  ]
  // Actions of operators on the instance, such as a restore, appear only in its log.
  const ownEntries = sql`where coalesce(to_jsonb(t)->>'action', '') not in (
    'search.rebuild_requested', 'schema.migrated', 'backup.made', 'backup.restored')`
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`.execute(
    db,
  )
  const parts = tables
    .filter(({ name }) => !own.includes(name))
    .map(
      ({ name }) => sql`select ${name}::text as name,
        array(select to_jsonb(t)::text from ${sql.table(name)} t ${ownEntries} order by 1) as texts`,
    )
  const { rows } = await sql<{ name: string; texts: string[] }>`${sql.join(parts, sql` union all `)}`.execute(db)
  return new Map(rows.map(({ name, texts }) => [name, texts]))
}
