// Removes projects and organizations of the demo in batches, unless other users take part in them.
import { type RawBuilder, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { eraseProjects } from '#features/catalogue/projects/edit/delete-project.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

type RemovalDeps = Pick<Deps, 'db' | 'cache'>
type Row = {
  id: string
  slug: string | null
  team_id: string
  icon_url: string | null
  raw_icon_url: string | null
  is_kept: boolean
}

/** Condition that a column names an account of the demo, or the placeholder for a deleted account of the demo. */
function isDemoAccount(column: 'account_id' | 'author_id'): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} = ${PLACEHOLDER_ID} or exists (
    select 1 from demo_item where demo_item.kind = 'account' and demo_item.id = ${sql.ref(column)}))`
}

const hasOthers = (team: RawBuilder<unknown>) => sql`exists (select 1 from team_member
  where team_member.team_id = ${team} and accepted and not ${isDemoAccount('account_id')})`

/**
 * Returns the slugs or IDs of projects that stay, because other users joined them or published in them, and the IDs of the
 * others. A dry run removes nothing.
 */
export function removeProjects(
  deps: RemovalDeps,
  ids: readonly string[],
  isDryRun: boolean,
): Promise<{ kept: string[]; goingIds: string[] }> {
  return transaction(deps, async (tx, changed) => {
    await sql`select 1 from project where id = any(${ids}::text[]) order by id for update`.execute(tx)
    const { rows } = await sql<Row>`select project.id, project.slug, project.team_id, project.icon_url,
        project.raw_icon_url, ${hasOthers(sql`project.team_id`)} or ${hasOthers(sql`organization.team_id`)}
        or exists (select 1 from version where version.project_id = project.id and not ${isDemoAccount('author_id')})
          as is_kept
      from project left join organization on organization.id = project.organization_id
      where project.id = any(${ids}::text[]) order by project.id`.execute(tx)
    const { kept, going, goingIds } = split(rows)
    if (going.length === 0 || isDryRun) return { kept, goingIds }
    await sql`delete from thread where project_id = any(${goingIds}::text[])`.execute(tx)
    await eraseProjects(tx, changed, going)
    // Includes projects that an account of the demo created, so that their events are deleted.
    await sql`insert into demo_item (kind, id) select 'project', unnest(${goingIds}::text[])
      on conflict do nothing`.execute(tx)
    return { kept, goingIds }
  })
}

/**
 * Returns the slugs of organizations that stay, because other users joined them or one of their projects stays. A dry run
 * removes nothing; `removed` are the projects that would not exist then.
 */
export function removeOrganizations(
  deps: RemovalDeps,
  ids: readonly string[],
  { removed, isDryRun }: { removed: readonly string[]; isDryRun: boolean },
): Promise<string[]> {
  return transaction(deps, async (tx, changed) => {
    const { rows } = await sql<Row>`select id, slug, team_id, icon_url, raw_icon_url,
        ${hasOthers(sql`organization.team_id`)}
        or exists (select 1 from project
          where organization_id = organization.id and project.id <> all(${removed}::text[])) as is_kept
      from organization where id = any(${ids}::text[]) order by id for update`.execute(tx)
    const { kept, going, goingIds } = split(rows)
    if (isDryRun) return kept
    const teams = going.map(({ team_id }) => team_id)
    const icons = going.flatMap(({ icon_url, raw_icon_url }) => [icon_url, raw_icon_url])
    await sql`delete from organization where id = any(${goingIds}::text[])`.execute(tx)
    await sql`delete from team where id = any(${teams}::text[])`.execute(tx)
    await removeImages(tx, icons)
    changed.addEach('organization', goingIds)
    changed.addEach('team', teams)
    return kept
  })
}

function split(rows: readonly Row[]) {
  const going = rows.filter(({ is_kept }) => !is_kept)
  const kept = rows.flatMap(({ is_kept, slug, id }) => (is_kept ? [slug ?? id] : []))
  return { kept, going, goingIds: going.map(({ id }) => id) }
}
