// The content that a takedown concerns: projects and versions with their numbers, a collection, or the text of a user.
import { type Selectable, sql } from 'kysely'
import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Takedown as TakedownTable } from '#platform/db/schema.ts'
import { PROJECTS_MAX, type Takedown, type TakedownKind } from './requests.ts'

/** Maximum number of versions of one takedown. */
const VERSIONS_MAX = 500

export type ConcernedProject = {
  id: string
  slug: string
  name: string
  status: string
  downloads: number
  versions: number
  members: number
  dependents: number
}
export type ConcernedVersion = { id: string; project_id: string; version_number: string; status: string }
export type Concerned = {
  projects: ConcernedProject[]
  versions: ConcernedVersion[]
  collection: { id: string; name: string; status: string; owner_id: string } | null
  user: { id: string; username: string; text: string | null } | null
}

/** A takedown with the parts of the content and their values before it. */
export type TakedownRow = Omit<Selectable<TakedownTable>, 'before'> & { before: Concerned; actor_name: string | null }

/** Returns takedowns, newest first: of one project that were not undone, or all. */
export async function listTakedowns(
  db: Db,
  { limit, projectId }: { limit: number; projectId?: string },
): Promise<TakedownRow[]> {
  const rows = await db
    .selectFrom('takedown')
    .leftJoin('account', 'account.id', 'takedown.actor_id')
    .selectAll('takedown')
    .select('account.username as actor_name')
    .$if(projectId !== undefined, (query) =>
      query
        .where('undone', 'is', null)
        .where(sql<boolean>`before -> 'projects' @> ${JSON.stringify([{ id: projectId }])}::jsonb`),
    )
    .orderBy('takedown.created', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, before: row.before as Concerned }))
}

/** Returns the takedown with this ID. @throws ApiError 404 */
export async function getTakedown(db: Db, id: string): Promise<TakedownRow> {
  const row = await db
    .selectFrom('takedown')
    .leftJoin('account', 'account.id', 'takedown.actor_id')
    .selectAll('takedown')
    .select('account.username as actor_name')
    .where('takedown.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw notFound('takedown')
  return { ...row, before: row.before as Concerned }
}

/** The IDs of the projects and versions that each kind of content belongs to. A project alone concerns no version. */
const FOUND: Readonly<Record<Exclude<TakedownKind, 'collection' | 'user'>, (id: string) => ReturnType<typeof sql>>> = {
  project: (id) => sql`select id as project_id, null::text as version_id from project where id = ${id}`,
  version: (id) => sql`select project_id, id as version_id from version where id = ${id}`,
  file: (hash) => sql`select version.project_id, version.id as version_id
    from file join version on version.id = file.version_id where file.sha512 = ${hash}`,
  image: (id) => sql`select project_id, null::text as version_id from gallery_item where id = ${id}
    union select project_id, null from image where id = ${id} and project_id is not null
    union select version.project_id, version.id from image join version on version.id = image.version_id
      where image.id = ${id}`,
}

/** Returns what a takedown concerns, in at most two statements. Everything is empty if the content does not exist. */
export async function getConcerned(
  db: Db,
  { kind, id, projects: only }: Pick<Takedown, 'kind' | 'id' | 'projects'>,
): Promise<Concerned> {
  const nothing: Concerned = { projects: [], versions: [], collection: null, user: null }
  if (kind === 'collection') {
    const collection = await db
      .selectFrom('collection')
      .select(['id', 'name', 'status', 'account_id as owner_id'])
      .where('id', '=', id)
      .executeTakeFirst()
    return { ...nothing, collection: collection ?? null }
  }
  if (kind === 'user') {
    const user = await db
      .selectFrom('account')
      .select(['id', 'username', 'bio as text'])
      .where('id', '=', id)
      .executeTakeFirst()
    return { ...nothing, user: user ?? null }
  }
  const chosen = only === undefined ? sql`` : sql`where project_id = any(${only}::text[])`
  const found = sql`select * from (${FOUND[kind](id)}) found ${chosen}`
  const projects = await sql<ConcernedProject>`
    select project.id, project.slug, project.name, project.status, project.downloads,
      (select count(*) from version where version.project_id = project.id) as versions,
      (select count(*) from team_member where team_member.team_id = project.team_id and team_member.accepted) as members,
      (select count(distinct version.project_id) from dependency join version on version.id = dependency.dependent_id
        where dependency.project_id = project.id and version.project_id <> project.id) as dependents
    from project where project.id in (select project_id from (${found}) found)
    order by project.downloads desc, project.id limit ${PROJECTS_MAX}`.execute(db)
  const versions = await sql<ConcernedVersion>`
    select version.id, version.project_id, version.version_number, version.status
    from version where version.id in (select version_id from (${found}) found)
    order by version.date_published desc, version.id limit ${VERSIONS_MAX}`.execute(db)
  return { ...nothing, projects: projects.rows, versions: versions.rows }
}

type Copy = { id: string; version_id: string; project_id: string; is_only: boolean }

/** Returns the files with this content, and whether each is the only file of its version. */
export async function listCopies(db: Db, sha512: string): Promise<Copy[]> {
  const { rows } = await sql<Copy>`select file.id, file.version_id, version.project_id,
      not exists (select 1 from file other where other.version_id = file.version_id and other.id <> file.id) as is_only
    from file join version on version.id = file.version_id where file.sha512 = ${sha512}
    order by file.id limit ${VERSIONS_MAX}`.execute(db)
  return rows
}
