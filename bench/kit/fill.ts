// Catalogues of any size, written to the tables.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export const LARGE_VERSIONS = 2_000

/** Share of all projects whose versions are for a loader of this type. */
const TYPES = [
  { type: 'mod', loaders: '{fabric,quilt}', share: 0.9 },
  { type: 'plugin', loaders: '{paper}', share: 0.09 },
  { type: 'shader', loaders: '{iris}', share: 0.0095 },
  { type: 'datapack', loaders: '{datapack}', share: 0.0005 },
] as const

/** One project with thousands of versions, each with a changelog of 5 KB and five dependencies. */
export async function makeLarge(db: Db, id: string): Promise<void> {
  await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
    select random_id(), ${id}, 'benchma0', 'A version', '9.' || i, repeat('Changed this and that. ', 220), 'release', '{fabric}',
      '{"game_versions": ["1.20.1"], "environment": "unknown"}', now() - i * interval '1 hour'
    from generate_series(1, ${LARGE_VERSIONS}::integer) i`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, version_id, dependency_type)
    select made.id, named.project_id, named.id, 'required' from version made
    cross join lateral (select project_id, id from version where project_id <> ${id} order by version.id limit 5) named
    where made.project_id = ${id}`.execute(db)
  await sql`vacuum analyze`.execute(db)
}

const COUNTED = ['project', 'version', 'file', 'team_member'] as const

/** A text of at least this many random hexadecimal digits, which compress less than prose, for each row with an `id`. */
const digits = (count: number) => sql`array_to_string(array(
  select md5(random()::text || id || n) from generate_series(1, ${Math.ceil(count / 32)}::integer) n), '')`

/** Approved projects with versions and a file each, straight into the tables; the counts are made afresh after. */
export async function fill(
  db: Db,
  { projects, versionsEach }: { projects: number; versionsEach: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    for (const table of COUNTED) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx)
    await sql`insert into account (id, username) values ('benchma0', 'bench-maker') on conflict do nothing`.execute(tx)
    await sql`create temporary table made on commit drop as
      select random_id() as id, random_id() as team_id, random() as part from generate_series(1, ${projects}::integer)`.execute(
      tx,
    )
    await sql`insert into team (id) select team_id from made`.execute(tx)
    await sql`insert into team_member (team_id, account_id, is_owner, accepted)
      select team_id, 'benchma0', true, true from made`.execute(tx)
    await sql`insert into project (id, slug, name, summary, description, status, license, team_id)
      select id, 'p-' || lower(id) || '-' || lower(team_id), 'Project ' || id, 'A project.', ${digits(1000)},
        case when part < 0.02 then 'archived' else 'approved' end, 'MIT', team_id from made`.execute(tx)
    const [mod, plugin, shader, datapack] = TYPES
    await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
      select random_id(), id, 'benchma0', 'A version', '1.' || i, ${digits(200)}, 'release',
        (case when part < ${mod.share} then ${mod.loaders} when part < ${mod.share + plugin.share} then ${plugin.loaders}
          when part < ${1 - datapack.share} then ${shader.loaders} else ${datapack.loaders} end)::text[],
        '{"game_versions": ["1.20", "1.20.1"], "environment": "unknown"}', now() - i * interval '1 day'
      from made cross join generate_series(1, ${versionsEach}::integer) i`.execute(tx)
    await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
      select random_id(), version.id, 'a.jar', 1000, left(encode(sha256(version.id::bytea), 'hex'), 40),
        encode(sha512(version.id::bytea), 'hex'), true, 'application/java-archive', 'versions/' || version.id
      from version join made on made.id = version.project_id`.execute(tx)
    for (const table of COUNTED) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx)
    await sql`delete from catalogue_change`.execute(tx)
    await sql`insert into catalogue_change (projects, versions, files, authors) select * from catalogue_recount()`.execute(
      tx,
    )
  })
  await sql`vacuum analyze`.execute(db)
}
