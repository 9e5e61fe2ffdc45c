// Removes projects and organizations of the demo in batches, unless other users take part in them.
import { type RawBuilder, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { imageUrls } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'

type RemovalDeps = Pick<Deps, 'db' | 'cache' | 'config'>
type ProjectRow = {
  id: string
  slug: string | null
  team_id: string
  icon_url: string | null
  raw_icon_url: string | null
  is_joined: boolean
}

/** Condition that a column names an account of the demo, or the placeholder for a deleted account of the demo. */
function isDemoAccount(column: 'account_id' | 'author_id'): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} = ${PLACEHOLDER_ID} or exists (
    select 1 from demo_item where demo_item.kind = 'account' and demo_item.id = ${sql.ref(column)}))`
}

const hasOthers = (team: RawBuilder<unknown>) => sql`exists (select 1 from team_member
  where team_member.team_id = ${team} and accepted and not ${isDemoAccount('account_id')})`

/** Returns the slugs or IDs of projects that stay, because other users joined them or published in them. */
export function removeProjects(deps: RemovalDeps, ids: readonly string[]): Promise<string[]> {
  return transaction(deps, async (tx, changed) => {
    await sql`select 1 from project where id = any(${ids}::text[]) order by id for update`.execute(tx)
    const { rows } = await sql<ProjectRow>`select project.id, project.slug, project.team_id, project.icon_url,
        project.raw_icon_url, ${hasOthers(sql`project.team_id`)} or ${hasOthers(sql`organization.team_id`)}
        or exists (select 1 from version where version.project_id = project.id and not ${isDemoAccount('author_id')})
          as is_joined
      from project left join organization on organization.id = project.organization_id
      where project.id = any(${ids}::text[]) order by project.id`.execute(tx)
    const kept = rows.filter(({ is_joined }) => is_joined)
    const going = rows.filter(({ is_joined }) => !is_joined)
    await removeFilesOf(tx, deps.config, going)
    await deleteProjects(tx, changed, going)
    return kept.map(({ slug, id }) => slug ?? id)
  })
}

async function removeFilesOf(tx: Tx, config: Deps['config'], projects: readonly ProjectRow[]): Promise<void> {
  const ids = projects.map(({ id }) => id)
  const { rows: files } = await sql<{ storage_key: string }>`select storage_key from file
    join version on version.id = file.version_id where version.project_id = any(${ids}::text[])`.execute(tx)
  const { rows: gallery } = await sql<{ url: string; raw_url: string; copy_widths: number[] }>`
    select url, raw_url, copy_widths from gallery_item where project_id = any(${ids}::text[])`.execute(tx)
  await removeLater(
    tx,
    files.map(({ storage_key }) => storage_key),
  )
  await removeImages(tx, config, [
    ...projects.flatMap(({ icon_url, raw_icon_url }) => [icon_url, raw_icon_url]),
    ...gallery.flatMap(imageUrls),
  ])
}

/** Deletes projects with their threads. */
async function deleteProjects(tx: Tx, changed: ChangeSet, projects: readonly ProjectRow[]): Promise<void> {
  const ids = projects.map(({ id }) => id)
  const versions = await idsOf(tx, sql`select id from version where project_id = any(${ids}::text[])`)
  // Versions of other projects show these dependencies; their dependency rows are deleted too.
  const dependents = await idsOf(
    tx,
    sql`select distinct dependent_id as id from dependency where project_id = any(${ids}::text[])`,
  )
  await dropImages(tx, 'project', ids)
  await dropImages(tx, 'version', versions)
  await sql`delete from thread where project_id = any(${ids}::text[])`.execute(tx)
  await sql`delete from project where id = any(${ids}::text[])`.execute(tx)
  await sql`delete from team where id = any(${projects.map(({ team_id }) => team_id)}::text[])`.execute(tx)
  // Includes projects that an account of the demo created, so that their events are deleted.
  await sql`insert into demo_item (kind, id) select 'project', unnest(${ids}::text[]) on conflict do nothing`.execute(
    tx,
  )
  changed.addEach('project', ids)
  changed.addEach('version', versions)
  changed.addEach('version', dependents)
}

async function idsOf(tx: Tx, select: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`${select}`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Returns the slugs of organizations that stay, because other users joined them or one of their projects stays. */
export function removeOrganizations(deps: RemovalDeps, ids: readonly string[]): Promise<string[]> {
  return transaction(deps, async (tx, changed) => {
    const { rows } = await sql<{
      id: string
      slug: string
      team_id: string
      icon_url: string | null
      raw_icon_url: string | null
      is_kept: boolean
    }>`select id, slug, team_id, icon_url, raw_icon_url, ${hasOthers(sql`organization.team_id`)}
        or exists (select 1 from project where organization_id = organization.id) as is_kept
      from organization where id = any(${ids}::text[]) order by id for update`.execute(tx)
    const going = rows.filter(({ is_kept }) => !is_kept)
    const goingIds = going.map(({ id }) => id)
    const teams = going.map(({ team_id }) => team_id)
    await sql`delete from organization where id = any(${goingIds}::text[])`.execute(tx)
    await sql`delete from team where id = any(${teams}::text[])`.execute(tx)
    await sql`delete from demo_item where kind = 'organization' and id = any(${goingIds}::text[])`.execute(tx)
    await removeImages(
      tx,
      deps.config,
      going.flatMap(({ icon_url, raw_icon_url }) => [icon_url, raw_icon_url]),
    )
    changed.addEach('organization', goingIds)
    changed.addEach('team', teams)
    return rows.filter(({ is_kept }) => is_kept).map(({ slug }) => slug)
  })
}
