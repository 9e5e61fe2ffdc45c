// The request that makes a project: a form with its files and pictures, or JSON for a draft without. What is refused
// is refused before the first file byte is stored, as far as it can be known then.
import type { FastifyRequest } from 'fastify'
import { checkFilename } from '#features/versions/files/filename.ts'
import { FILE_BYTES_MAX } from '#features/versions/publish/prepare-files.ts'
import { readMultipart } from '#http/multipart.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { type NewProject, type ProjectForm, parseProjectData } from './requests.ts'

const ICON_BYTES_MAX = 262_144
const GALLERY_BYTES_MAX = 5 * 1024 * 1024
/** Up to 32 versions with their changelogs and thousands of dependencies. */
const DATA_BYTES_MAX = 16 * 1024 * 1024
const PARTS_MAX = 512
const BODY_BYTES_MAX = 8 * 1024 * 1024 * 1024

/**
 * Reads the request. The caller discards the parts' staged files when it is done with them.
 * @param precheck refuses what the database already knows to be impossible, before any file is stored.
 */
export async function receiveProjectForm(
  deps: Pick<Deps, 'files' | 'taxonomy' | 'fileRules'>,
  req: FastifyRequest,
  precheck: (project: NewProject) => Promise<void>,
): Promise<ProjectForm> {
  const received: { project?: NewProject } = {}
  const accept = async (data: unknown): Promise<void> => {
    received.project = parseProjectData(data, deps.taxonomy)
    checkPartNames(received.project)
    await precheck(received.project)
  }
  if (!isMultipart(req)) {
    await accept(req.body)
    const { project } = received
    if (project === undefined) throw new Error('unreachable: accept sets the project or throws')
    if (project.versions.length > 0) {
      throw validationError('initial_versions', 'need their files: send the request as multipart/form-data')
    }
    if (project.gallery.length > 0) {
      throw validationError('gallery_items', 'need their pictures: send the request as multipart/form-data')
    }
    return { project, parts: [] }
  }
  const form = await readMultipart(req.raw, {
    files: deps.files,
    maxDataBytes: DATA_BYTES_MAX,
    maxParts: PARTS_MAX,
    maxBodyBytes: BODY_BYTES_MAX,
    onData: accept,
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
  return { project: received.project, parts: form.parts }
}

/** Of the other kind this route takes, JSON, an empty body is no body and refused as such. */
function isMultipart(req: FastifyRequest): boolean {
  return /^multipart\//i.test(req.headers['content-type'] ?? '')
}

/** Each part belongs to one thing: a version, a gallery item or the icon. */
function checkPartNames(project: NewProject): void {
  const owners = new Map<string, string>([
    ['icon', 'the icon'],
    ['data', 'the description'],
  ])
  const claim = (name: string, field: string): void => {
    const owner = owners.get(name)
    if (owner !== undefined) throw validationError(field, `names the part ${name}, which belongs to ${owner} already`)
    owners.set(name, field)
  }
  for (const [index, { item }] of project.gallery.entries()) claim(item, `gallery_items.${index}.item`)
  for (const [index, { fileParts }] of project.versions.entries()) {
    for (const [part, name] of fileParts.entries()) claim(name, `initial_versions.${index}.file_parts.${part}`)
  }
}
