// Projects as large and as small as they may be, for tests of how pages bear them.
import { sql } from 'kysely'
import type { TestApp } from '../app/test-app.ts'
import type { MadeProject, Person } from './factories.ts'

/** As wide as 64 characters get, and no browser breaks the line between them. */
export const WIDE_NAME = 'W'.repeat(64)
export const EMOJI_NAME = '\u{1f9d9}'.repeat(64)

export const PROJECT_PAGES = ['', '/gallery', '/versions', '/changelog', '/dependencies', '/used-by', '/statistics']

/**
 * `bare` has nothing but a name of 64 emoji; `large` has a name of 64 wide letters, a description of 64 KB of nested
 * lists, and 5,000 versions unless `count` is another number, from `v0` on, for 60 loaders and 60 game versions each.
 */
export async function makeExtremes(
  t: TestApp,
  owner: Person,
  count = 5000,
): Promise<{ bare: MadeProject; large: MadeProject }> {
  const bare = await t.make.project({ owner, slug: 'bare', name: EMOJI_NAME })
  const large = await t.make.project({ owner, slug: 'large', name: WIDE_NAME })
  await t.deps.db
    .updateTable('project')
    .set({ description: '- '.repeat(32_000), summary: WIDE_NAME })
    .where('id', '=', large.id)
    .execute()
  const first = await t.make.version({ project: large, version_number: 'v0', name: WIDE_NAME })
  const loaders = [...t.deps.taxonomy.loaders.keys()].slice(0, 60)
  const games = [...(t.deps.taxonomy.fields.get('game_versions')?.enumValues?.keys() ?? [])].slice(0, 60)
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields, changelog)
    select 'Lg' || lpad(n::text, 6, '0'), project_id, author_id, name, 'v' || n, version_type, status, ${loaders}::text[],
      ${JSON.stringify({ game_versions: games })}::jsonb, 'Change ' || n
    from version, generate_series(1, ${count - 1}::int) n where id = ${first.id}`.execute(t.deps.db)
  return { bare, large }
}

/** Publishes 5,000 projects with one version each, which depends on the project. */
export async function makeDependents(t: TestApp, project: MadeProject): Promise<void> {
  const first = await t.make.project({ owner: project.owner, slug: 'dependent', name: 'Dependent' })
  const version = await t.make.version({ project: first, version_number: '1.0' })
  await sql`insert into team (id) select 'Dt' || lpad(n::text, 6, '0') from generate_series(1, 5000) n`.execute(
    t.deps.db,
  )
  await sql`insert into project (id, slug, name, summary, description, status, approved, license, team_id)
    select 'Dp' || lpad(n::text, 6, '0'), 'dependent-' || n, ${WIDE_NAME}, summary, description, status, approved, license,
      'Dt' || lpad(n::text, 6, '0')
    from project, generate_series(1, 5000) n where id = ${first.id}`.execute(t.deps.db)
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields)
    select 'Dv' || lpad(n::text, 6, '0'), 'Dp' || lpad(n::text, 6, '0'), author_id, name, version_number, version_type,
      status, loaders, fields
    from version, generate_series(1, 5000) n where id = ${version.id}`.execute(t.deps.db)
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    select 'Dv' || lpad(n::text, 6, '0'), ${project.id}, 'required' from generate_series(1, 5000) n`.execute(t.deps.db)
}
