// An account, a project and an organization with thousands of items, for tests and measurements of expensive requests.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { TestApp } from '../app/test-app.ts'
import type { MadeProject } from './factories.ts'

export const MANY = 5_000

/** Gives an account this many notifications, a tenth of them not about followed projects. IDs: the prefix and the number. */
export async function addNotifications(t: TestApp, accountId: string, count: number, prefix = 'No'): Promise<void> {
  await sql`insert into notification (id, account_id, created, body)
    select ${prefix} || lpad(n::text, 6, '0'), ${accountId}, timestamptz '2026-01-01' + n * interval '1 second', case n % 20
      when 0 then jsonb_build_object('type', 'team_invite', 'project_id', 'Ow' || n, 'team_id', 'Te' || n, 'invited_by', 'In' || n,
        'role', 'Artist')
      when 1 then jsonb_build_object('type', 'status_change', 'project_id', 'Ow' || n, 'old_status', 'processing', 'new_status',
        'rejected', 'message', E'Please add a "licence".\\nThank you.')
      else jsonb_build_object('type', 'project_update', 'project_id', 'Pr' || n, 'version_id', 'Ve' || n) end
    from generate_series(1, ${count}::int) n`.execute(t.deps.db)
}

/** Gives a project 5,000 versions, `v1` to `v5000`, each with a file, a changelog and a dependency. */
export async function addVersions(t: TestApp, project: MadeProject, needed: MadeProject): Promise<void> {
  const { db } = t.deps
  const first = await t.make.version({ project, version_number: 'v0' })
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields,
      changelog, date_published)
    select 'Ve' || lpad(n::text, 6, '0'), project_id, author_id, name, 'v' || n, version_type, status, loaders, fields,
      repeat('Change ' || n || '. ', 40), timestamptz '2026-01-01' + n * interval '1 minute'
    from version, generate_series(1, ${MANY}::int) n where id = ${first.id}`.execute(db)
  await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
    select 'Fi' || lpad(n::text, 6, '0'), 'Ve' || lpad(n::text, 6, '0'), 'file-' || n || '.jar', n,
      md5(n::text) || left(md5(n::text), 8), repeat(md5(n::text), 4), true, 'application/java-archive', 'largest/' || n
    from generate_series(1, ${MANY}::int) n`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    select 'Ve' || lpad(n::text, 6, '0'), ${needed.id}, 'required' from generate_series(1, ${MANY}::int) n`.execute(db)
}

/** Publishes 5,000 projects of an organization with one version each, which depends on the project. */
export async function addOwnedDependents(t: TestApp, project: MadeProject, organizationId: string): Promise<void> {
  const { db } = t.deps
  const first = await t.make.project({ owner: project.owner, organization_id: organizationId })
  const version = await t.make.version({ project: first, version_number: '1.0' })
  await sql`insert into team (id) select 'Lt' || lpad(n::text, 6, '0') from generate_series(1, ${MANY}::int) n`.execute(
    db,
  )
  await sql`insert into project (id, slug, name, summary, description, status, approved, license, team_id, organization_id,
      downloads, updated)
    select 'Lp' || lpad(n::text, 6, '0'), 'largest-' || n, 'Largest ' || n, summary, repeat('Words of a description. ', 80),
      status, approved, license, 'Lt' || lpad(n::text, 6, '0'), organization_id, n,
      timestamptz '2026-01-01' + n * interval '1 minute'
    from project, generate_series(1, ${MANY}::int) n where id = ${first.id}`.execute(db)
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields)
    select 'Lv' || lpad(n::text, 6, '0'), 'Lp' || lpad(n::text, 6, '0'), author_id, name, version_number, version_type,
      status, loaders, fields
    from version, generate_series(1, ${MANY}::int) n where id = ${version.id}`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    select 'Lv' || lpad(n::text, 6, '0'), ${project.id}, 'required' from generate_series(1, ${MANY}::int) n`.execute(db)
  await sql`analyze`.execute(db)
}

/** Inserts copies of a row. `changes` are the columns that differ, as SQL with the number `n` of the copy. */
export async function copyRow(
  db: Db,
  table: string,
  key: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string>>,
  count = MANY,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attidentity = ''`.execute(db)
  const columns = rows.map(({ name }) => name)
  const values = columns.map((name) => sql.raw(changes[name] ?? `one."${name}"`))
  const where = Object.entries(key).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const { numAffectedRows } =
    await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
    select ${sql.join(values)} from generate_series(1, ${count}::int) n,
      (select * from ${sql.table(table)} where ${sql.join(where, sql` and `)} limit 1) one`.execute(db)
  if (numAffectedRows !== BigInt(count)) throw new Error(`There is no such row of ${table} to copy`)
}
