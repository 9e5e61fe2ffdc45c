// Publishes a version of an existing project. `createVersion` shows all steps in order.

import { findMembership } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { canSeeProject, type ProjectFacts, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { lockProject, type ProjectRow } from '#features/catalogue/projects/queries.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { withStoredFiles } from '#ports/files/claims.ts'
import { draftExpiry, INCOMPLETE_DRAFTS_MAX } from '../drafts/completeness.ts'
import { announceVersion, recordVersionStatus } from '../lifecycle/show-version.ts'
import { warnOfVersionAhead } from '../lookup/version-filter.ts'
import { requireTrustedPublisher } from '../policy.ts'
import {
  findNamedUploads,
  type NamedUploads,
  NO_UPLOADS,
  takeUploads,
  uploadPart,
  withUploads,
} from '../uploads/use-uploads.ts'
import { resolveDependencies } from './dependencies.ts'
import { insertVersion, type VersionToInsert } from './insert-version.ts'
import { type PreparedFile, prepareFiles, type ReceivedFiles, type UploadedPart } from './prepare-files.ts'
import { type NewVersion, parseVersionData } from './requests.ts'

/** Warning of a dry run without files. */
export const FILES_UNCHECKED = 'The files were not sent, so they were not checked'

type Description = { version: NewVersion; projectId: string; uploads: NamedUploads }

/**
 * Publishes a version in these steps:
 * 1. Read and check the description (`parseVersionData`) and the viewer's permission, before the first file is read.
 * 2. Stage the uploaded files on disk and check them: names, archives and the rules of the loaders (`prepareFiles`).
 * 3. Store the files (`withStoredFiles`).
 * 4. Write the rows in one transaction (`insertVersion`), and enqueue the scan and the job that notifies followers
 *    (`announceVersion`). If the operator has configured a scanner, the version is hidden until the scan.
 * 5. Count and log the publication (`recordEvent`). If a step fails, nothing remains.
 *
 * A draft can lack its number, loaders and files; `updateVersion` publishes it.
 * @param receive reads the request and passes its description to `describe` before it reads the first file.
 * @returns the ID of the version.
 * @throws ApiError `validation_error` and `invalid_input` naming the field or the part, 403 without UPLOAD_VERSION.
 */
export async function createVersion(
  deps: Deps,
  viewer: Viewer,
  receive: (describe: (data: unknown) => Promise<Description>) => Promise<ReceivedFiles<Description>>,
): Promise<string> {
  const { description, parts: sent } = await receive((data) => describe(deps, viewer, data))
  const { version, projectId, uploads } = description
  const id = newId()
  await withUploads(deps, { sent, uploads, names: version.fileParts }, async (parts) => {
    const files = await checkFiles(deps, viewer, { id, version, parts, uploads })
    // Files are stored before their rows: every file that a row refers to exists.
    await withStoredFiles(deps, files, () =>
      transaction(deps, async (tx, changed) => {
        // Checked again because the membership might have ended during the upload.
        const project = await requireUploader(tx, viewer, await lockProject(tx, projectId))
        const row = { id, projectId, version, files, publishedAt: new Date(deps.now()), scanner: deps.config.scanner }
        if (version.status === 'draft') await insertDraft(tx, deps, viewer, row)
        else await insertPublished(tx, deps, viewer, { row, project })
        await takeUploads(tx, uploads, { versionId: id, now: deps.now() })
        changed.add('project', projectId)
        changed.add('version', id)
      }),
    )
  })
  if (version.status !== 'draft') recordEvent(deps, 'version.published', { project_id: projectId, version_id: id })
  return id
}

/** Checks the description before the first file is read. */
async function describe(deps: Deps, viewer: Viewer, data: unknown): Promise<Description> {
  const refusals = new Refusals()
  const version = parseVersionData(data, deps.taxonomy, '', refusals)
  const { fileParts: names, status } = version
  const [projectId = '', , uploads = NO_UPLOADS] = await refusals.settle([
    requirePublisher(deps.db, viewer, version.projectId),
    // Checked again in the transaction, when the project of a dependency might have been hidden.
    resolveDependencies(deps.db, viewer, version.dependencies),
    findNamedUploads(deps, viewer, { names, isDraft: status === 'draft' }),
  ])
  refusals.throwAny()
  return { version, projectId, uploads }
}

type PartsOfVersion = { id: string; version: NewVersion; parts: readonly UploadedPart[]; uploads: NamedUploads }

/** A dry run can check a description without its files. */
async function checkFiles(
  deps: Deps,
  { caller }: Viewer,
  { id, version, parts, uploads }: PartsOfVersion,
): Promise<PreparedFile[]> {
  const { fileParts, primaryFile, status } = version
  if (parts.length === 0 && deps.dryRun !== undefined) {
    if (status !== 'draft' || fileParts.length > 0) deps.dryRun.warn('file_parts', FILES_UNCHECKED)
    return []
  }
  requireAllParts(version, parts, uploads)
  const choose = { primaryPart: primaryFile, declaredParts: fileParts.length }
  return prepareFiles(deps, { version, versionId: id, parts, choose, caller })
}

/** Inserts a draft, which expires unless it is complete. */
async function insertDraft(tx: Tx, deps: Deps, viewer: Viewer, row: VersionToInsert): Promise<void> {
  const { projectId, version, files } = row
  await rejectTooManyDrafts(tx, projectId)
  const content = { ...version.columns, fields: version.fields, files: files.length }
  await insertVersion(tx, viewer, { ...row, draftExpires: draftExpiry(deps.taxonomy, content, deps.now()) })
}

async function insertPublished(
  tx: Tx,
  { dryRun }: Deps,
  viewer: Viewer,
  { row, project }: { row: VersionToInsert; project: ProjectRow },
): Promise<void> {
  const { id, projectId, version, publishedAt } = row
  await warnOfVersionAhead(
    { db: tx, dryRun },
    { projectId, id, number: version.columns.version_number, ordering: version.columns.ordering },
  )
  const status = await insertVersion(tx, viewer, row)
  await announceVersion(tx, { versionId: id, project, status, at: publishedAt })
  if (status === 'listed') await recordVersionStatus(tx, { project, versionId: id, from: 'draft', to: status })
}

/** @throws ApiError `validation_error` if the project is absent or hidden, 403 without UPLOAD_VERSION. */
export async function requirePublisher(db: Db, viewer: Viewer, projectId: string | undefined): Promise<string> {
  if (projectId === undefined) throw validationError('project_id', 'is required')
  if (!isIdForm(projectId)) throw validationError('project_id', 'is not a base62 identifier')
  const project = await db
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id', 'publishing', 'origin'])
    .where('id', '=', projectId)
    .executeTakeFirst()
  return (await requireUploader(db, viewer, project)).id
}

/** @throws ApiError like `requirePublisher`. */
async function requireUploader<Project extends ProjectFacts & { publishing: string; origin: unknown }>(
  db: Db,
  viewer: Viewer,
  project: Project | undefined,
): Promise<Project> {
  const membership = project === undefined ? {} : await findMembership(db, viewer, project)
  if (project === undefined || !canSeeProject(viewer, project, membership))
    throw validationError('project_id', 'must be the ID of a project that you can see')
  requirePermission(viewer, membership, 'UPLOAD_VERSION')
  requireTrustedPublisher(viewer, project)
  requireNotMirrored(project)
  return project
}

/** @throws ApiError `invalid_input` naming a part that is missing, or that `file_parts` does not list. */
function requireAllParts(
  version: NewVersion,
  parts: readonly UploadedPart[],
  { unfinished }: Pick<NamedUploads, 'unfinished'>,
): void {
  if (parts.length === 0 && version.status !== 'draft')
    throw invalidInput('At least one file part is required', 'file_parts')
  const missing = version.fileParts.find(
    (name) => !parts.some((part) => part.name === name) && !unfinished.some((id) => uploadPart(id) === name),
  )
  if (missing !== undefined) throw invalidInput(`The part ${missing}, which file_parts lists, is missing`, missing)
  // A draft can omit `file_parts`.
  const unnamed =
    version.fileParts.length === 0 ? undefined : parts.find(({ name }) => !version.fileParts.includes(name))
  if (unnamed !== undefined)
    throw invalidInput(`file_parts does not name the part ${unnamed.name}. Name it, or do not send it`, unnamed.name)
}

/** The lock on the project serialises uploads, so that concurrent requests cannot exceed the limit. */
async function rejectTooManyDrafts(tx: Tx, projectId: string): Promise<void> {
  const count = await countRows(
    tx.selectFrom('version').where('project_id', '=', projectId).where('draft_expires', 'is not', null),
  )
  if (count >= INCOMPLETE_DRAFTS_MAX)
    throw invalidInput(`A project can have at most ${INCOMPLETE_DRAFTS_MAX} incomplete drafts`, 'status')
}
