// Decides which project owns the content of a file: the first that was public with it. Until then, several hidden projects
// can contain it, so that a draft neither blocks a publication nor reveals what a hidden project contains.
import { sql } from 'kysely'
import { invalidInput } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { ProjectStatus } from '#taxonomy/project-status.ts'
import { requireUnblocked } from './blocked-contents.ts'

/** Stages of a claim. A claim of a later stage replaces one of an earlier stage. */
const SUBMITTED = 1
export const PUBLISHED = 2
/** A scheduled project has been reviewed and will be public. Withholding a project gives it nothing. */
const PUBLISHED_STATUSES: readonly string[] = [
  'approved',
  'archived',
  'unlisted',
  'scheduled',
] satisfies ProjectStatus[]

/**
 * Claims contents for a project, by its present status, and returns the hashes that another project owns because it was
 * public with them first.
 */
export async function claimContents(tx: Tx, projectId: string, sha512s: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ sha512: string }>`
    with claimed as (
      insert into file_content as owned (sha512, project_id, stage)
      select hash, project.id, case when project.status = any(${[...PUBLISHED_STATUSES]}::text[]) then ${PUBLISHED}::smallint
        when project.status = 'processing' then ${SUBMITTED}::smallint else 0 end
      from project, unnest(${[...new Set(sha512s)]}::text[]) hash where project.id = ${projectId}
      -- In the order of the hashes, so that two claims of the same contents wait for each other instead of deadlocking.
      order by hash
      on conflict (sha512) do update set
        project_id = case when excluded.stage > owned.stage then excluded.project_id else owned.project_id end,
        stage = greatest(excluded.stage, owned.stage)
      returning sha512, project_id, stage)
    select sha512 from claimed where project_id <> ${projectId} and stage = ${PUBLISHED}`.execute(tx)
  return new Set(rows.map(({ sha512 }) => sha512))
}

/**
 * Claims all contents of a project that was submitted or published. Does nothing for other statuses.
 * @throws ApiError `invalid_input` naming `status` and the first file that is blocked or that another project published
 * first.
 */
export async function claimContentsOf(tx: Tx, projectId: string, status: string): Promise<void> {
  if (status !== 'processing' && !PUBLISHED_STATUSES.includes(status)) return
  const files = await tx
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(['file.sha512', 'file.filename', 'version.version_number'])
    .where('version.project_id', '=', projectId)
    .orderBy('version.date_published', 'desc')
    .execute()
  if (files.length === 0) return
  await requireUnblocked(
    tx,
    files.map(({ sha512, filename }) => ({ sha512, filename, field: 'status' })),
  )
  const hashes = files.map(({ sha512 }) => sha512)
  const owned = await claimContents(tx, projectId, hashes)
  const first = files.find(({ sha512 }) => owned.has(sha512))
  if (first === undefined) return
  const file = `${first.filename} of version ${first.version_number}`
  throw invalidInput(`Another project published ${file} first. Delete the file from this project`, 'status')
}

/** Frees contents that no version of the project contains any more, so that other projects can own them. */
export async function freeContents(tx: Tx, projectId: string, sha512s: readonly string[]): Promise<void> {
  await sql`delete from file_content where project_id = ${projectId} and sha512 = any(${[...sha512s]}::text[])
    and not exists (select from file join version on version.id = file.version_id
      where file.sha512 = file_content.sha512 and version.project_id = ${projectId})`.execute(tx)
}

/** A file of a project that other projects also contain. */
export type SharedFile = {
  filename: string
  sha512: string
  version_id: string
  version_number: string
  project: { id: string; slug: string; name: string; status: string; is_owner: boolean }
}

/** Maximum number of shared files that moderators see. */
export const SHARED_FILES_MAX = 100

/** Returns the files of a project that other projects also contain, whatever their status. */
export async function listSharedFiles(db: Db, projectId: string): Promise<SharedFile[]> {
  const { rows } = await sql<SharedFile>`
    select file.filename, file.sha512, version.id as version_id, version.version_number,
      jsonb_build_object('id', project.id, 'slug', project.slug, 'name', project.name, 'status', project.status,
        'is_owner', exists (select from file_content owned where owned.sha512 = file.sha512
          and owned.project_id = project.id)) as project
    from version join file on file.version_id = version.id
      join file other_file on other_file.sha512 = file.sha512
      join version other on other.id = other_file.version_id and other.project_id <> ${projectId}
      join project on project.id = other.project_id
    where version.project_id = ${projectId} and not version.is_new_draft
    group by file.id, version.id, project.id
    order by version.date_published desc, file.filename, project.id limit ${SHARED_FILES_MAX}`.execute(db)
  return rows
}
