// Publishes a version of an existing project. `createVersion` shows all steps in order.

import { findMembership } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { canSeeProject, type ProjectFacts, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { lockProject } from '#features/catalogue/projects/queries.ts'
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
import { type CachedVersion, getVersion } from '../lookup/version-cache.ts'
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
import { insertVersion } from './insert-version.ts'
import { prepareFiles, type ReceivedFiles, type UploadedPart } from './prepare-files.ts'
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
 * @throws ApiError `validation_error` and `invalid_input` naming the field or the part, 403 without UPLOAD_VERSION.
 */
export async function createVersion(
  deps: Deps,
  viewer: Viewer,
  receive: (describe: (data: unknown) => Promise<Description>) => Promise<ReceivedFiles<Description>>,
): Promise<CachedVersion> {
  const { description, parts: sent } = await receive(async (data) => {
    const refusals = new Refusals()
    const version = parseVersionData(data, deps.taxonomy, '', refusals)
    const id = await refusals.wait(() => requirePublisher(deps.db, viewer, version.projectId))
    // Checked again in the transaction, when the project of a dependency might have been hidden.
    await refusals.wait(() => resolveDependencies(deps.db, viewer, version.dependencies))
    const { fileParts: names, status } = version
    const uploads = await refusals.wait(() => findNamedUploads(deps, viewer, { names, isDraft: status === 'draft' }))
    refusals.throwAny()
    return { version, projectId: id ?? '', uploads: uploads ?? NO_UPLOADS }
  })
  const { version, projectId, uploads } = description
  const isDraft = version.status === 'draft'
  const id = newId()
  await withUploads(deps, { sent, uploads, names: version.fileParts }, async (parts) => {
    requireAllParts(deps, version, { parts, uploads })
    const choose = { primaryPart: version.primaryFile, declaredParts: version.fileParts.length }
    const files =
      parts.length === 0 && deps.dryRun !== undefined
        ? []
        : await prepareFiles(deps, { version, versionId: id, parts, choose, caller: viewer.caller })
    // Files are stored before their rows: every file that a row refers to exists.
    await withStoredFiles(deps, files, () =>
      transaction(deps, async (tx, changed) => {
        // Checked again because the membership might have ended during the upload.
        const project = await requireUploader(tx, viewer, await lockProject(tx, projectId))
        const publishedAt = new Date(deps.now())
        const { scanner } = deps.config
        if (isDraft) await rejectTooManyDrafts(tx, projectId)
        const draftExpires = isDraft
          ? draftExpiry(deps.taxonomy, { ...version.columns, fields: version.fields, files: files.length }, deps.now())
          : null
        const row = { id, projectId, version, files, publishedAt, scanner, draftExpires }
        if (!isDraft)
          await warnOfVersionAhead(
            { db: tx, dryRun: deps.dryRun },
            { projectId, id, ordering: version.columns.ordering },
          )
        const status = await insertVersion(tx, viewer, row)
        await takeUploads(tx, uploads, { versionId: id, now: deps.now() })
        await announceVersion(tx, { versionId: id, project, status, at: publishedAt })
        if (status === 'listed') await recordVersionStatus(tx, { project, versionId: id, from: 'draft', to: status })
        changed.add('project', projectId)
        changed.add('version', id)
      }),
    )
  })
  if (!isDraft) recordEvent(deps, 'version.published', { project_id: projectId, version_id: id })
  return getVersion(deps, viewer, id)
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
  if (project === undefined || !canSeeProject(viewer, project, membership)) {
    throw validationError('project_id', 'must be the ID of a project that you can see')
  }
  requirePermission(viewer, membership, 'UPLOAD_VERSION')
  requireTrustedPublisher(viewer, project)
  requireNotMirrored(project)
  return project
}

/** A dry run can check a description without its files. */
function requireAllParts(
  { dryRun }: Pick<Deps, 'dryRun'>,
  version: NewVersion,
  { parts, uploads: { unfinished } }: { parts: readonly UploadedPart[]; uploads: NamedUploads },
): void {
  if (parts.length === 0 && dryRun !== undefined) {
    if (version.status !== 'draft' || version.fileParts.length > 0) dryRun.warn('file_parts', FILES_UNCHECKED)
    return
  }
  if (parts.length === 0 && version.status !== 'draft') {
    throw invalidInput('At least one file part is required', 'file_parts')
  }
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
  if (count >= INCOMPLETE_DRAFTS_MAX) {
    throw invalidInput(`A project can have at most ${INCOMPLETE_DRAFTS_MAX} incomplete drafts`, 'status')
  }
}
