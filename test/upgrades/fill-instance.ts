// Fills an instance: rows in every table, and a file of every kind.

import { sql } from 'kysely'
import sharp from 'sharp'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { getCurrentKey } from '#features/basics/instance-key/instance-keys.ts'
import { numberChanges } from '#features/reading/changes/queries.ts'
import { newId } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { aDownload, aView, batchOf } from '#test/support/factories/analytics-events.ts'
import { createFactories, type Person } from '#test/support/factories/factories.ts'
import { leaveEverything } from '#test/support/factories/full-account.ts'
import type { OpenInstance } from './recorded-instance.ts'

/** The ID of the first row of a table. */
type IdOf = { idOf: string }

/** Values of columns that a constraint limits or a response shows, for tables that nothing else fills. */
const VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  blocked_external_image: { id: 'ab'.repeat(32), url: 'https://images.example.org/blocked.png' },
  external_image: {
    id: 'cd'.repeat(32),
    url: 'https://images.example.org/image.png',
    storage_key: null,
    content_type: null,
  },
  dependency_break: { reason: 'withdrawn' },
  event: { kind: 'account.created', subject_kind: 'user', is_public: false },
  origin: { kind: 'project', project_id: { idOf: 'project' } satisfies IdOf },
  trusted_publisher: { project_id: { idOf: 'project' } satisfies IdOf },
  version_lock: { id: 'AbCdEfGhIjKlMnOpQrStUv', version_ids: [], sha1s: [] },
  // Disabled, so that no test sends requests to the address.
  webhook: {
    owner_kind: 'instance',
    format: 'standard',
    events: ['project.created'],
    url: 'https://hooks.example.org/',
    host: 'hooks.example.org',
    active: false,
    disabled_reason: 'owner',
  },
  webhook_delivery: { state: 'delivered' },
  file_manifest: { entry: 'fabric.mod.json', content: { loaders: ['fabric'], id: 'lamp', dependencies: [] } },
  instance_figure: { span: 'hour' },
  instance_settings: { name: 'Recorded', about: 'About this instance.', accent_hue: 200 },
  project_snapshot: { reason: 'submission', state: { name: 'Before' } },
  saved_reply: { language: 'en' },
  sign_up_block: { id: 'AbCdEfGh', email_domain: 'spam.example' },
  tag_list: { name: 'games', rows: [] },
  version_manifest: { only_one: true },
  personal_access_token: { scopes: 1, token_hash: String.raw`\x01` },
  invitation: { email: null },
  stored_form: { fields: {}, path: '/search' },
  download_pending: { downloads: 3 },
  public_change: { kind: 'project' },
  public_change_note: { kind: 'project' },
}

/** Creates content, and returns an admin and a user with content. */
export async function fillInstance(instance: OpenInstance): Promise<{ admin: Person; person: Person }> {
  const { deps } = instance
  const make = createFactories(deps)
  const [admin, person, other] = [await make.account({ role: 'admin' }), await make.account(), await make.account()]
  await seedCatalogue(deps, 12)
  await leaveEverything(deps.db, person, other)
  await addFiles(instance, person)
  await addEvents(instance)
  const later = { runAt: new Date('2099-01-02T03:04:05.678Z'), jobKey: 'a-key' }
  await deps.db.transaction().execute((tx) => enqueue(tx, 'versions.release', { version_id: 'AbCdEfGh' }, later))
  await deps.mail.send({ to: person.email, subject: 'Recorded', text: 'An email of a recorded instance.' })
  while (await numberChanges(deps.db));
  await getCurrentKey(deps)
  for (const table of await listEmptyTables(deps.db)) await insertSample(deps.db, table)
  await deps.search.caughtUp()
  return { admin, person }
}

/** Returns the names of the tables without rows. */
export async function listEmptyTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
    order by relname in ('upload_part', 'webhook_attempt'), 1`.execute(db)
  const empty: string[] = []
  for (const { name } of rows) {
    const found = await sql`select from ${sql.table(name)} limit 1`.execute(db)
    if (found.rows.length === 0) empty.push(name)
  }
  return empty
}

async function addFiles({ deps, client }: OpenInstance, person: Person): Promise<void> {
  const images = await deps.db.selectFrom('image').select(['storage_key', 'size_bytes']).execute()
  for (const { storage_key, size_bytes } of images)
    await deps.files.put(storage_key, Buffer.alloc(size_bytes), { contentType: 'image/png' })
  const icon = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#283' } })
    .png()
    .toBuffer()
  const sent = await client(person.token).patch(`/v3/user/${person.id}/icon?ext=png`, icon, {
    headers: { 'content-type': 'image/png' },
  })
  if (sent.statusCode !== 204) throw new Error(`The icon was rejected: ${sent.body}`)
}

async function addEvents({ deps }: OpenInstance): Promise<void> {
  const versions = await deps.db.selectFrom('version').select(['id', 'project_id']).orderBy('id').limit(3).execute()
  const recorded_at = deps.now()
  for (const { id, project_id } of versions)
    deps.events.add('download', aDownload({ project_id, version_id: id, recorded_at }))
  await deps.events.flush()
  await deps.analytics.append('view', batchOf([aView({ project_id: versions[0]?.project_id ?? '' })]))
}

type Column = { name: string; type: string; refers_to: string | null; refers_column: string | null }

/** Inserts one row with values of the right types, and with keys of rows that exist. */
async function insertSample(db: Db, table: string): Promise<void> {
  const { rows: columns } = await sql<Column>`
    select own.attname as name, format_type(own.atttypid, null) as type, target.relname as refers_to,
      key.attname as refers_column
    from pg_attribute own
    left join pg_attrdef on adrelid = own.attrelid and adnum = own.attnum
    left join pg_constraint on conrelid = own.attrelid and contype = 'f' and conkey = array[own.attnum]
    left join pg_class target on target.oid = confrelid
    left join pg_attribute key on key.attrelid = confrelid and key.attnum = confkey[1]
    where own.attrelid = ${table}::regclass and own.attnum > 0 and not own.attisdropped
      and own.attnotnull and adbin is null and own.attidentity = ''`.execute(db)
  const row: Record<string, unknown> = {}
  for (const { name, type, refers_to, refers_column } of columns) {
    if (refers_to === null || refers_column === null) row[name] = sampleOf(type)
    else {
      const { rows } = await sql<{ key: string }>`
        select ${sql.ref(refers_column)} as key from ${sql.table(refers_to)} order by 1 limit 1`.execute(db)
      row[name] = rows[0]?.key
    }
  }
  for (const [name, value] of Object.entries(VALUES[table] ?? {})) row[name] = await resolveValue(db, value)
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)))
  await sql`insert into ${sql.table(table)} (${names})
    select ${names} from jsonb_populate_record(null::${sql.table(table)}, ${JSON.stringify(row)}::jsonb)`.execute(db)
}

async function resolveValue(db: Db, value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null || !('idOf' in value)) return value
  const { rows } = await sql<{
    id: string
  }>`select id from ${sql.table(String(value.idOf))} order by id limit 1`.execute(db)
  return rows[0]?.id
}

function sampleOf(type: string): unknown {
  if (/^(bigint|integer|smallint)$/.test(type)) return 1
  if (type === 'boolean') return true
  if (type === 'jsonb') return {}
  if (type === 'bytea') return String.raw`\x0102`
  if (type === 'date') return '2026-01-01'
  if (type.startsWith('timestamp')) return '2099-01-01T00:00:00Z'
  if (type.endsWith('[]')) return '{}'
  return newId()
}
