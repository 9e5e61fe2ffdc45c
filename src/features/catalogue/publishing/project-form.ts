// The request that makes a project: a form with its files and pictures, or JSON for a draft without.
import type { FastifyRequest } from 'fastify'
import { ICON_BYTES_MAX } from '#features/basics/images/icons.ts'
import { GALLERY_BYTES_MAX } from '#features/catalogue/projects/gallery/requests.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import { FILE_BYTES_MAX, type ReceivedFiles } from '#features/catalogue/versions/publish/prepare-files.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { readMultipart } from '#platform/http/bodies/multipart.ts'
import type { Deps } from '#ports/deps.ts'
import type { NewProject } from './requests.ts'

/** Up to 32 versions with their changelogs and thousands of dependencies. */
const DATA_BYTES_MAX = 16 * 1024 * 1024
const PARTS_MAX = 512
const BODY_BYTES_MAX = 8 * 1024 * 1024 * 1024

/**
 * Reads the request: hands its description to `describe`, which refuses it before a file is read, and then stages the
 * files. The caller discards what is staged.
 * @throws ApiError `invalid_input` naming the part, and what `describe` throws.
 */
export async function receiveProjectForm(
  deps: Pick<Deps, 'files' | 'fileRules'>,
  req: FastifyRequest,
  describe: (data: unknown) => Promise<NewProject>,
): Promise<ReceivedFiles<NewProject>> {
  if (!isMultipart(req)) {
    const project = await describe(req.body)
    refuseFiles(project)
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
        throw invalidInput(`The part ${name} is named by no version, no gallery item and is no icon`, name)
      }
      checkFilename(deps.fileRules, name, filename)
      return FILE_BYTES_MAX
    },
  })
  if (received.project === undefined) throw invalidInput('The part data is missing', 'data')
  return { description: received.project, parts: form.parts }
}

/** JSON brings no files. */
function refuseFiles(project: NewProject): void {
  if (project.versions.length > 0) {
    throw validationError('initial_versions', 'need their files: send the request as multipart/form-data')
  }
  if (project.gallery.length > 0) {
    throw validationError('gallery_items', 'need their pictures: send the request as multipart/form-data')
  }
}

/** Of the other kind this route takes, JSON, an empty body is no body and refused as such. */
function isMultipart(req: FastifyRequest): boolean {
  return /^multipart\//i.test(req.headers['content-type'] ?? '')
}
