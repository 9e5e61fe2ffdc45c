// Deletes content that was taken down: the second step of a takedown, for operators.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { deleteProject } from '#features/catalogue/projects/edit/delete-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { deleteCollection } from '#features/community/collections/update-collection.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { requireDeleter } from './policy.ts'
import { type Concerned, getConcerned, listCopies } from './queries.ts'
import type { TakedownKind } from './requests.ts'

/** Kinds of content that can be deleted. The gallery deletes images, and a takedown already clears the text of a user. */
export const DELETABLE_KINDS = ['project', 'version', 'file', 'collection'] as const satisfies readonly TakedownKind[]
export type DeletableKind = (typeof DELETABLE_KINDS)[number]

export type Deletion = { kind: DeletableKind; id: string }

const HIDDEN = ['withheld', 'rejected']

/** Returns the content that the deletion concerns. @throws ApiError 404 if there is none */
export async function findDeletion({ db }: Pick<Deps, 'db'>, { kind, id }: Deletion): Promise<Concerned> {
  const concerned = await getConcerned(db, { kind, id })
  const { projects, versions, collection } = concerned
  const isMissing = kind === 'version' || kind === 'file' ? versions.length === 0 : projects.length === 0
  if (isMissing && collection === null) throw notFound(kind)
  return concerned
}

/** Returns whether all of the content was taken down. */
export function isTakenDown({ projects, versions, collection }: Concerned): boolean {
  const hidden = new Set(projects.filter(({ status }) => HIDDEN.includes(status)).map(({ id }) => id))
  return (
    (collection === null || collection.status === 'rejected') &&
    (versions.length > 0 || hidden.size === projects.length) &&
    versions.every(({ project_id, status }) => hidden.has(project_id) || status === 'unlisted')
  )
}

/**
 * Deletes content with the commands that delete each part of it, which add entries to the audit log. A version without
 * another file is deleted with its file. An interrupted deletion can be repeated.
 * @throws ApiError 403 unless the viewer is an operator, 404, `conflict` if the content was not taken down.
 */
export async function deleteContent(deps: Deps, viewer: Viewer, deletion: Deletion): Promise<void> {
  requireDeleter(viewer)
  const concerned = await findDeletion(deps, deletion)
  if (!isTakenDown(concerned)) throw new ApiError('conflict', 'Take the content down before you delete it')
  const { kind, id } = deletion
  if (kind === 'collection') return deleteCollection(deps, viewer, id)
  if (kind === 'project') return deleteProject(deps, viewer, await getProjectAsMember(deps, viewer, id))
  if (kind === 'version') return removeVersion(deps, viewer, id)
  for (const { id: fileId, version_id: versionId, project_id: projectId, is_only: isOnly } of await listCopies(
    deps.db,
    id,
  )) {
    if (isOnly) await removeVersion(deps, viewer, versionId)
    else await deleteFile(deps, viewer, { id: fileId, versionId, projectId })
  }
}

async function removeVersion(deps: Deps, viewer: Viewer, id: string): Promise<void> {
  const { membership } = await getVersionAsMember(deps, viewer, id)
  await deleteVersion(deps, viewer, { id, membership })
}
