// Publishes a version of an existing project, and adds files to an existing version.
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { findMembership } from '#features/access/memberships.ts'
import { canSeeProject, projectPermissions, requireProjectPermission } from '#features/access/project-policy.ts'
import { isPublicStatus } from '#features/access/project-status.ts'
import { lockProject } from '#features/projects/queries.ts'
import { withStoredFiles } from '#files/claims.ts'
import { enqueue } from '#jobs/queue.ts'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import { recordEvent } from '#telemetry/events.ts'
import { holdForNewFiles } from '../lifecycle/scan-gate.ts'
import { lockVersion } from '../queries.ts'
import { insertFiles, insertVersion } from './insert-version.ts'
import { prepareFiles, type UploadedPart } from './prepare-files.ts'
import { FILE_PARTS_MAX, type FileTypes, type NewVersion } from './requests.ts'

/**
 * Refuses a version that the viewer may not publish, before any file is stored; returns the project's ID.
 * @throws ApiError `validation_error` when `project_id` names nothing he sees, 403 without UPLOAD_VERSION.
 */
export async function requirePublisher(
  { db }: Pick<Deps, 'db'>,
  viewer: Viewer,
  projectId: string | undefined,
): Promise<string> {
  if (projectId === undefined) throw validationError('project_id', 'is required')
  if (!isIdForm(projectId)) throw validationError('project_id', 'is not a base62 identifier')
  const project = await db
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where('id', '=', projectId)
    .executeTakeFirst()
  const membership = project === undefined ? {} : await findMembership(db, viewer.id, project)
  if (project === undefined || !canSeeProject(viewer, project, membership)) {
    throw validationError('project_id', 'names no project')
  }
  requireProjectPermission(projectPermissions(viewer, membership), 'UPLOAD_VERSION')
  return project.id
}

/** Makes the version and returns its ID. The staged files are used up or discarded. */
export async function createVersion(
  deps: Deps,
  viewer: Viewer,
  { version, parts }: { version: NewVersion; parts: readonly UploadedPart[] },
): Promise<string> {
  try {
    const projectId = await requirePublisher(deps, viewer, version.projectId)
    requireAllParts(version, parts)
    const id = newId()
    const choose = { primaryPart: version.primaryFile, declaredParts: version.fileParts.length }
    const files = await prepareFiles(deps, { version, versionId: id, parts, choose })
    await withStoredFiles(deps, files, () =>
      transaction(deps, async (tx, changed) => {
        const project = await lockProject(tx, projectId)
        if (project === undefined) throw validationError('project_id', 'names no project')
        const publishedAt = new Date(deps.now())
        const { scanner } = deps.config
        const status = await insertVersion(tx, viewer, { id, projectId, version, files, publishedAt, scanner })
        await announceVersion(tx, {
          versionId: id,
          projectId,
          status,
          projectStatus: project.status,
          at: publishedAt,
        })
        changed.add('project', projectId)
        changed.add('version', id)
      }),
    )
    recordEvent(deps, 'version.published', { project_id: projectId, version_id: id })
    return id
  } finally {
    await discardAll(deps, parts)
  }
}

/**
 * What follows when a version becomes listed: the project's `updated` moves, and followers of a visible project are
 * told, once for each version.
 */
export async function announceVersion(
  tx: Tx,
  {
    versionId,
    projectId,
    status,
    projectStatus,
    at,
  }: { versionId: string; projectId: string; status: string; projectStatus: string; at: Date },
): Promise<void> {
  if (status !== 'listed') return
  await tx.updateTable('project').set({ updated: at }).where('id', '=', projectId).execute()
  if (isPublicStatus(projectStatus)) {
    await enqueue(
      tx,
      'versions.notify-followers',
      { version_id: versionId },
      { jobKey: `notify-followers:${versionId}` },
    )
  }
}

/** Adds files to a version; none of them becomes primary unless the version had none. */
export async function addFiles(
  deps: Deps,
  {
    versionId,
    projectId,
    fileTypes,
    parts,
  }: { versionId: string; projectId: string; fileTypes: FileTypes; parts: readonly UploadedPart[] },
): Promise<void> {
  try {
    if (parts.length === 0) throw invalidInput('At least one file part is required', 'file')
    const row = await deps.db
      .selectFrom('version')
      .select(['loaders', 'fields'])
      .where('id', '=', versionId)
      .executeTakeFirst()
    if (row === undefined) throw notFound('version')
    const version = { loaders: row.loaders, fields: row.fields as LoaderFieldValues, fileTypes }
    const files = await prepareFiles(deps, { version, versionId, parts })
    await withStoredFiles(deps, files, () =>
      transaction(deps, async (tx, changed) => {
        // The project first, as everywhere, so that two edits wait for each other instead of deadlocking.
        const project = await lockProject(tx, projectId)
        const locked = await lockVersion(tx, versionId)
        if (project === undefined || locked === undefined) throw notFound('version')
        await refuseTooManyFiles(tx, versionId, files.length)
        await insertFiles(tx, { versionId, projectId, files })
        await holdForNewFiles(tx, locked, { scanner: deps.config.scanner, now: deps.now() })
        await tx
          .updateTable('project')
          .set({ updated: new Date(deps.now()) })
          .where('id', '=', projectId)
          .execute()
        changed.add('version', versionId)
        changed.add('project', projectId)
      }),
    )
  } finally {
    await discardAll(deps, parts)
  }
}

async function refuseTooManyFiles(tx: Tx, versionId: string, added: number): Promise<void> {
  const { count } = await tx
    .selectFrom('file')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('version_id', '=', versionId)
    .executeTakeFirstOrThrow()
  if (count + added > FILE_PARTS_MAX) throw invalidInput(`A version has at most ${FILE_PARTS_MAX} files`, 'file')
}

function requireAllParts(version: NewVersion, parts: readonly UploadedPart[]): void {
  if (parts.length === 0) throw invalidInput('At least one file part is required', 'file_parts')
  const missing = version.fileParts.find((name) => !parts.some((part) => part.name === name))
  if (missing !== undefined) throw invalidInput(`The part ${missing}, named in file_parts, is missing`, missing)
}

async function discardAll({ files }: Pick<Deps, 'files'>, parts: readonly UploadedPart[]): Promise<void> {
  await Promise.allSettled(parts.map(({ staged }) => files.discard(staged)))
}
