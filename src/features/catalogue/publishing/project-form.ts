// Reads the request that creates a project: a form with files and images, or JSON for a draft without files.
import type { FastifyRequest } from 'fastify'
import { ICON_BYTES_MAX } from '#features/basics/images/icons.ts'
import { GALLERY_BYTES_MAX } from '#features/catalogue/projects/gallery/requests.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import { FILE_BYTES_MAX, type ReceivedFiles } from '#features/catalogue/versions/publish/prepare-files.ts'
import { isUploadPart } from '#features/catalogue/versions/uploads/use-uploads.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { isForm, readMultipart } from '#platform/http/bodies/multipart.ts'
import type { Deps } from '#ports/deps.ts'
import type { NewProject } from './requests.ts'

/** Maximum size of the description: up to 32 versions with changelogs and thousands of dependencies. */
const DATA_BYTES_MAX = 16 * 1024 * 1024
const PARTS_MAX = 512
const BODY_BYTES_MAX = 8 * 1024 * 1024 * 1024

/**
 * Passes the description to `describe`, which can reject it before a file is read, and then stages the files, which the
 * caller discards.
 * @throws ApiError `invalid_input` naming the part, and what `describe` throws.
 */
export async function receiveProjectForm(
  deps: Pick<Deps, 'files' | 'fileRules' | 'dryRun'>,
  req: FastifyRequest,
  describe: (data: unknown) => Promise<NewProject>,
): Promise<ReceivedFiles<NewProject>> {
  if (!isForm(req)) {
    const project = await describe(req.body)
    if (deps.dryRun === undefined) rejectFiles(project)
    return { description: project, parts: [] }
  }
  const received: { project?: NewProject } = {}
  const form = await readMultipart(req.raw, {
    files: deps.files,
    maxDataBytes: DATA_BYTES_MAX,
    maxParts: PARTS_MAX,
    maxBodyBytes: BODY_BYTES_MAX,
    onData: async (data) => {
      received.project = await describe(data)
    },
    maxBytesOf: ({ name, filename }) => {
      if (name === 'icon') return ICON_BYTES_MAX
      if (received.project?.gallery.some(({ item }) => item === name) === true) return GALLERY_BYTES_MAX
      if (received.project?.versions.some(({ fileParts }) => fileParts.includes(name)) !== true) {
        const reason = 'it is not the icon, and no version or gallery item refers to it'
        throw invalidInput(`The form part ${name} is not used: ${reason}`, name)
      }
      checkFilename(deps.fileRules, name, filename)
      return FILE_BYTES_MAX
    },
  })
  if (received.project === undefined) throw invalidInput('The part data is missing', 'data')
  return { description: received.project, parts: form.parts }
}

/** @throws ApiError `validation_error` if the project needs files, which JSON cannot contain. */
function rejectFiles(project: NewProject): void {
  if (project.versions.some(({ fileParts }) => !fileParts.every(isUploadPart)))
    throw validationError('initial_versions', 'need files: send the request as multipart/form-data, or name uploads')
  if (project.gallery.length > 0)
    throw validationError('gallery_items', 'need images: send the request as multipart/form-data')
}
