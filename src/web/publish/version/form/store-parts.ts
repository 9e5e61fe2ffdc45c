// Stores the files of a form in a version. Each file is stored separately, so that one that is refused does not cost the
// others.

import { resolveFiles } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { addFiles } from '#features/catalogue/versions/publish/add-files.ts'
import { createVersion } from '#features/catalogue/versions/publish/create-version.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { metadataOf } from '#features/catalogue/versions/uploads/headers.ts'
import { getUpload } from '#features/catalogue/versions/uploads/queries.ts'
import { uploadPart } from '#features/catalogue/versions/uploads/use-uploads.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath, versionPath } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import type { ManagedProject } from '../../project/managed-project.ts'
import { type RefusedFile, refusedFile } from './receive-form.ts'
import { viewsOfProjects } from './upload-data.ts'

type Target = Pick<ManagedProject, 'project' | 'membership'> & { versionId: string }

/** Returns the files that were refused. */
export async function storeParts(
  request: OwnRequest,
  { project, membership, versionId }: Target,
  parts: readonly UploadedPart[],
): Promise<RefusedFile[]> {
  const { deps, viewer } = request
  const refused: RefusedFile[] = []
  const owners = await otherOwners(request, project.id, parts)
  for (const [index, part] of parts.entries()) {
    const owner = owners[index]
    if (owner !== undefined) {
      await deps.files.discard(part.staged)
      refused.push({ filename: part.filename, ...owner })
      continue
    }
    try {
      const receive = async () => ({
        description: { fileTypes: new Map<string, null>(), fileParts: [] },
        parts: [part],
      })
      await addFiles(deps, viewer, { versionId, membership, receive })
    } catch (thrown) {
      const error = asApiError(thrown)
      if (error.status >= 500) throw thrown
      refused.push(refusedFile(part.filename, error))
    }
  }
  return refused
}

/** Names an upload for a draft, which takes its file if it is complete. Returns the file if it was refused. */
export async function storeUpload(
  { deps, viewer }: OwnRequest,
  { membership, versionId }: Target,
  id: string,
): Promise<RefusedFile[]> {
  const { metadata } = await getUpload(deps, viewer, id)
  const receive = async () => ({
    description: { fileTypes: new Map<string, null>(), fileParts: [uploadPart(id)] },
    parts: [],
  })
  try {
    await addFiles(deps, viewer, { versionId, membership, receive })
    return []
  } catch (thrown) {
    const error = asApiError(thrown)
    if (error.status >= 500) throw thrown
    return [refusedFile(metadataOf(metadata).get('filename') ?? id, error)]
  }
}

/** Creates a draft and returns its ID. */
export function createDraft({ deps, viewer }: OwnRequest, projectId: string): Promise<string> {
  return createVersion(deps, viewer, async (describe) => ({
    description: await describe({ project_id: projectId, status: 'draft' }),
    parts: [],
  }))
}

type Known = { message: string; more?: Part }

/** Says in which other project each file is, if the viewer can see it. The ID of a new project is empty. */
export async function otherOwners(
  request: OwnRequest,
  projectId: string,
  parts: readonly UploadedPart[],
): Promise<(Known | undefined)[]> {
  if (parts.length === 0) return []
  const found = await resolveFiles(request.deps, request.viewer, { hashes: parts.map(({ staged }) => staged.sha512) })
  const others = found.map((file) => (file === undefined || file.projectId === projectId ? '' : file.projectId))
  const views = await viewsOfProjects(request, others)
  return others.map((id) => {
    const view = views.get(id)
    return view && inProject(request, view)
  })
}

function inProject(
  { page }: OwnRequest,
  view: { name: string; slug: string; project_types: readonly string[] },
): Known {
  const { t } = page.language
  return {
    message: t('upload.error.other-project', { name: view.name }),
    more: html`<a href="${pathTo(page, projectPath(view))}">${t('upload.error.view-project')}</a>`,
  }
}

/** Says where a file with this hash already is, before it is sent. Returns undefined for an unknown or hidden file. */
export async function findKnownFile(
  request: OwnRequest,
  { project, path }: ManagedProject,
  sha512: string,
): Promise<Known | undefined> {
  const { deps, viewer, page, t } = request
  const [found] = await resolveFiles(deps, viewer, { hashes: [sha512], algorithm: 'sha512' })
  if (found === undefined) return undefined
  if (found.projectId !== project.id) {
    const view = (await viewsOfProjects(request, [found.projectId])).get(found.projectId)
    return view && isPublicStatus(view.status) ? inProject(request, view) : undefined
  }
  const [cached] = await listVisibleVersions(deps, viewer, [found.versionId])
  if (cached === undefined) return undefined
  const version = viewOf(cached)
  if (version.version_number === '') return { message: t('upload.error.in-draft') }
  return {
    message: t('upload.error.in-version', { number: version.version_number }),
    more: html`<a href="${pathTo(page, versionPath(path, version))}">${t('upload.error.view-version')}</a>`,
  }
}
