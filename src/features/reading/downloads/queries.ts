// Queries for files by URL, and the statements that increase download counters.
import { sql } from 'kysely'
import type { ProjectFacts } from '#features/basics/access/project-policy.ts'
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import type { Db, Tx } from '#platform/db/db.ts'

export type ServedFile = {
  id: string
  filename: string
  size_bytes: number
  sha512: string
  content_type: string
  storage_key: string
  version_id: string
  version_status: string
  is_blocked: boolean
  project: ProjectFacts
}

/** Finds the file at /data/{project}/versions/{version}/{filename}. */
export async function findServedFile(
  db: Db,
  projectId: string,
  versionId: string,
  filename: string,
): Promise<ServedFile | undefined> {
  const row = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select([
      'file.id',
      'file.filename',
      'file.size_bytes',
      'file.sha512',
      'file.content_type',
      'file.storage_key',
      'file.version_id',
      'version.status as version_status',
      'project.id as project_id',
      'project.status',
      'project.team_id',
      'project.organization_id',
    ])
    .select((eb) => eb.not(isNotBlocked()).as('is_blocked'))
    .where('file.version_id', '=', versionId)
    .where('file.filename', '=', filename)
    .where('project.id', '=', projectId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { project_id, status, team_id, organization_id, is_blocked, ...file } = row
  return { ...file, is_blocked: Boolean(is_blocked), project: { id: project_id, status, team_id, organization_id } }
}

/** Returns those of the files that exist, as `project/version/filename`. */
export async function listServedFiles(
  db: Db,
  files: readonly { projectId: string; versionId: string; filename: string }[],
): Promise<Set<string>> {
  if (files.length === 0) return new Set()
  const { rows } = await sql<{ found: string }>`
    select version.project_id || '/' || version.id || '/' || file.filename as found
    from unnest(${files.map(({ projectId }) => projectId)}::text[], ${files.map(({ versionId }) => versionId)}::text[],
        ${files.map(({ filename }) => filename)}::text[]) as asked (project_id, version_id, filename)
      join file on file.version_id = asked.version_id and file.filename = asked.filename
      join version on version.id = file.version_id and version.project_id = asked.project_id`.execute(db)
  return new Set(rows.map(({ found }) => found))
}

export type CountedDownloads = { id: string; revision: number; downloads: number }

/** Adds downloads to versions and their projects, skips deleted rows, and returns the new counts. */
export async function addDownloads(
  tx: Tx,
  counts: readonly { project_id: string; version_id: string; downloads: number }[],
): Promise<{ projects: CountedDownloads[]; versions: CountedDownloads[] }> {
  const ofVersions = counts.toSorted((a, b) => (a.version_id < b.version_id ? -1 : 1))
  const perProject = new Map<string, number>()
  for (const { project_id, downloads } of counts)
    perProject.set(project_id, (perProject.get(project_id) ?? 0) + downloads)
  const ofProjects = [...perProject].sort(([a], [b]) => (a < b ? -1 : 1))
  // Projects first, in the order of their IDs: every command locks rows in this order.
  const { rows: projects } =
    await sql<CountedDownloads>`update project set downloads = project.downloads + added.downloads
    from (select * from unnest(${ofProjects.map(([id]) => id)}::text[], ${ofProjects.map(([, n]) => n)}::bigint[]) as a (id, downloads)) added
    where project.id = added.id returning project.id, project.revision, project.downloads`.execute(tx)
  const { rows: versions } =
    await sql<CountedDownloads>`update version set downloads = version.downloads + added.downloads
    from (select * from unnest(${ofVersions.map(({ version_id }) => version_id)}::text[],
      ${ofVersions.map(({ downloads }) => downloads)}::bigint[]) as a (id, downloads)) added
    where version.id = added.id returning version.id, version.revision, version.downloads`.execute(tx)
  return { projects, versions }
}
