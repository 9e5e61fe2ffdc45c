// Reads a folder with a project. Its names and paths can come from anywhere, so no path leaves the folder.
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ICON_BYTES_MAX } from '#features/basics/images/icons.ts'
import { GALLERY_BYTES_MAX } from '#features/catalogue/projects/gallery/requests.ts'
import { type NewProject, parseProjectData } from '#features/catalogue/publishing/requests.ts'
import { checkFilename, nameProblem } from '#features/catalogue/versions/files/filename.ts'
import { FILE_BYTES_MAX, type UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { type NewVersion, parseVersionData } from '#features/catalogue/versions/publish/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import type { Deps } from '#ports/deps.ts'
import { isStorable, possibleDate } from '../import/checks.ts'
import {
  FILES_FOLDER,
  isProjectExtras,
  isVersionExtras,
  PROJECT_FILE,
  type ProjectExtras,
  VERSION_FILE,
  VERSIONS_FOLDER,
  type VersionExtras,
} from './layout.ts'

const JSON_BYTES_MAX = 16 * 1024 * 1024
const VERSIONS_MAX = 10_000

type Json = Record<string, unknown>
export type ProjectFolder = {
  project: NewProject
  extras: ProjectExtras
  versionExtras: VersionExtras[]
  /** Files by the name of their part, which is their path in the folder. */
  files: { part: string; filename: string; maxBytes: number }[]
}

/** Reads and checks both descriptions and names; opens no file or image. @throws OperatorError naming the file. */
export async function readFolder(
  { taxonomy, fileRules }: Pick<Deps, 'taxonomy' | 'fileRules'>,
  folder: string,
): Promise<ProjectFolder> {
  const data = await readJson(folder, PROJECT_FILE)
  const extras = checked(isProjectExtras, data, PROJECT_FILE)
  for (const time of [extras.published, extras.updated, extras.approved]) checkTime(time, PROJECT_FILE)
  const { id: _, status: __, icon: ___, initial_versions: ____, organization_id: _____, ...content } = data
  const parsed = refusing(PROJECT_FILE, () => {
    const refusals = new Refusals()
    const project = parseProjectData({ ...structuredClone(content), is_draft: true }, taxonomy, refusals)
    refusals.throwAny()
    return project
  })
  const files: ProjectFolder['files'] = []
  if (extras.icon != null)
    files.push({ part: 'icon', filename: imageName(extras.icon, /^[^/]+$/), maxBytes: ICON_BYTES_MAX })
  for (const [index, { item }] of parsed.gallery.entries()) {
    checkTime(extras.gallery_items[index]?.created, PROJECT_FILE)
    files.push({ part: item, filename: imageName(item, /^gallery\/[^/]+$/), maxBytes: GALLERY_BYTES_MAX })
  }
  const versions: NewVersion[] = []
  const versionExtras: VersionExtras[] = []
  for (const name of await versionFolders(folder)) {
    const path = `${VERSIONS_FOLDER}/${name}`
    const json = await readJson(folder, `${path}/${VERSION_FILE}`)
    const { id: ______, date_published, withdrawn, ...version } = json
    versionExtras.push(checked(isVersionExtras, json, `${path}/${VERSION_FILE}`))
    for (const time of [date_published, (withdrawn as Json | undefined)?.['at']])
      checkTime(time as string | undefined, `${path}/${VERSION_FILE}`)
    const own = refusing(`${path}/${VERSION_FILE}`, () => {
      const read = parseVersionData(version, taxonomy)
      for (const filename of read.fileParts) checkFilename(fileRules, filename, filename)
      return read
    })
    if (!['listed', 'archived', 'unlisted'].includes(own.status))
      throw new OperatorError(`${path}/${VERSION_FILE}: status must be listed, archived or unlisted`)
    const partOf = (filename: string) => `${path}/${FILES_FOLDER}/${filename}`
    for (const filename of own.fileParts) files.push({ part: partOf(filename), filename, maxBytes: FILE_BYTES_MAX })
    const { primaryFile } = own
    versions.push({
      ...own,
      fileParts: own.fileParts.map(partOf),
      primaryFile: primaryFile === undefined ? undefined : partOf(primaryFile),
      projectId: undefined,
      uploadedImages: [],
    })
  }
  if (versions.length > 0 && parsed.columns.draft_type !== null)
    throw new OperatorError(
      `${PROJECT_FILE}: project_type must be absent, because the loaders of the versions decide it`,
    )
  return { project: { ...parsed, versions, uploadedImages: [] }, extras, versionExtras, files }
}

/** Copies the files to the local disk of the instance. If it fails, `parts` has what it has copied. */
export async function stageFolder(
  { files }: Pick<Deps, 'files'>,
  { folder, read, parts }: { folder: string; read: ProjectFolder; parts: UploadedPart[] },
): Promise<void> {
  for (const { part, filename, maxBytes } of read.files) {
    const path = await pathIn(folder, part === 'icon' ? filename : part)
    const staged = await refusing(part, () => files.stage(createReadStream(path), { maxBytes, field: part }))
    parts.push({ name: part, filename: basename(filename), staged })
  }
}

async function versionFolders(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, VERSIONS_FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new OperatorError(`${VERSIONS_FOLDER} cannot be read: ${error.message}. Check the folder.`)
  })
  if (entries.length > VERSIONS_MAX)
    throw new OperatorError(`${VERSIONS_FOLDER} has more than ${VERSIONS_MAX} versions. Import them in parts.`)
  return entries.sort()
}

async function readJson(folder: string, path: string): Promise<Json> {
  const file = await pathIn(folder, path)
  if ((await lstat(file)).size > JSON_BYTES_MAX)
    throw new OperatorError(`${path} has more than ${JSON_BYTES_MAX} bytes. Check the folder.`)
  let value: unknown
  try {
    value = JSON.parse(withoutMark(await readFile(file, 'utf8')))
  } catch {
    throw new OperatorError(`${path} is not JSON. Check the folder.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OperatorError(`${path} must be a JSON object. Check the folder.`)
  if (!isStorable(value)) throw new OperatorError(`${path} has characters that cannot be stored. Remove them.`)
  return value as Json
}

/** Returns the path of a file inside the folder. @throws OperatorError for a link, a folder and everything else that is not a file. */
export async function pathIn(folder: string, path: string): Promise<string> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) throw new OperatorError(`There is no folder ${folder}. Check the name.`)
  const file = join(root, path)
  const real = await realpath(file).catch(() => undefined)
  if (real === undefined) throw new OperatorError(`${folder} has no ${path}. Check the folder.`)
  if (real !== file) throw new OperatorError(`${path} is a link or leads through one. Replace the link by its file.`)
  if (!(await lstat(file)).isFile()) throw new OperatorError(`${path} is not a file. Check the folder.`)
  return file
}

function imageName(name: string, form: RegExp): string {
  const problem = form.test(name) ? nameProblem(basename(name)) : 'is not in the place of an image'
  if (problem !== undefined)
    throw new OperatorError(`${PROJECT_FILE}: the image name ${JSON.stringify(name)} ${problem}. Correct it.`)
  return name
}

type Checker<T> = {
  Check(value: unknown): value is T
  Errors(value: unknown): Iterable<{ instancePath: string; message: string }>
}

function checked<T>(checker: Checker<T>, value: unknown, path: string): T {
  if (checker.Check(value)) return value
  const [error] = checker.Errors(value)
  const field = error?.instancePath.slice(1).replaceAll('/', '.') || 'it'
  throw new OperatorError(`${path}: ${field} ${error?.message ?? 'has an unknown form'}`)
}

function checkTime(text: string | null | undefined, path: string): void {
  if (text != null && possibleDate(text) === undefined)
    throw new OperatorError(`${path}: ${text} is not a possible date`)
}

/** Names the file in the refusal of a rule. */
export function refusing<T>(path: string, act: () => T): T {
  const refused = (error: unknown): never => {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const field = error.details?.['field']
    const place = typeof field === 'string' && !error.message.includes(field) ? `${path}: ${field}` : path
    throw new OperatorError(`${place}: ${error.message}`)
  }
  try {
    const result = act()
    return result instanceof Promise ? (result.catch(refused) as T) : result
  } catch (error) {
    return refused(error)
  }
}
