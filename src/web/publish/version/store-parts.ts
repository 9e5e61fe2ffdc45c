// Stores the files of a form in the draft, which it creates if necessary. Each file is stored separately, so that one that
// is refused does not cost the others.
import { resolveFiles } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { addFiles } from '#features/catalogue/versions/publish/add-files.ts'
import { createVersion } from '#features/catalogue/versions/publish/create-version.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { FormError } from '#platform/html/forms.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { namesOfProjects, type UploadData, withDraft } from './upload-data.ts'

type Target = { data: UploadData; errors: FormError[] }

/** Adds errors of refused files to `errors`, and sets `data` to the draft as it is afterwards. */
export async function storeParts(request: OwnRequest, target: Target, parts: readonly UploadedPart[]): Promise<void> {
  const { deps, viewer } = request
  const { project } = target.data
  if (target.data.isDraftGone && parts.length === 0) return
  const id = target.data.draft?.id ?? (await createDraft(request, project.id))
  const owners = await otherOwners(request, project.id, parts)
  for (const [index, part] of parts.entries()) {
    const owner = owners[index]
    try {
      if (owner !== undefined) {
        await deps.files.discard(part.staged)
        target.errors.push({
          field: 'files',
          message: `${part.filename}: ${owner} already contains this file`,
          lang: 'en',
        })
        continue
      }
      const receive = async () => ({ description: new Map<string, null>(), parts: [part] })
      await addFiles(deps, viewer, { versionId: id, membership: target.data.membership, receive })
    } catch (thrown) {
      const error = asApiError(thrown)
      if (error.status >= 500) throw thrown
      target.errors.push({ field: 'files', message: `${part.filename}: ${error.message}`, lang: 'en' })
    }
  }
  target.data = { ...(await withDraft(request, target.data, id)), isDraftGone: false }
}

async function createDraft({ deps, viewer }: OwnRequest, projectId: string): Promise<string> {
  const version = await createVersion(deps, viewer, async (describe) => ({
    description: await describe({ project_id: projectId, status: 'draft' }),
    parts: [],
  }))
  return version.id
}

/** Returns the name of the other project that contains each file, if the viewer can see it. */
async function otherOwners(
  request: OwnRequest,
  projectId: string,
  parts: readonly UploadedPart[],
): Promise<(string | undefined)[]> {
  const found = await resolveFiles(request.deps, request.viewer, { hashes: parts.map(({ staged }) => staged.sha512) })
  const others = found.map((file) => (file === undefined || file.projectId === projectId ? null : file.projectId))
  const names = await namesOfProjects(request, others)
  return others.map((id) => (id === null ? undefined : names.get(id)))
}
