// Publishes a version: sends its files in the way that suits their size, then its description.
import type { Depot } from './client.ts'
import { Form } from './form.ts'
import type { Schemas } from './operations.ts'
import type { ResumeStore, Upload, UploadProgress } from './upload.ts'

/** A version. `primary_file` is the name of a file (default: the first one); the client sets `file_parts`. */
export type NewVersion = Schemas['VersionCreate']

export type PublishOptions = {
  signal?: AbortSignal
  onProgress?: (progress: UploadProgress) => void
  /** Whether to upload the files in parts. Default: if together they are larger than 16 MiB */
  inParts?: boolean
}

export type UploadsOptions = {
  signal?: AbortSignal
  /** Progress of all files together */
  onProgress?: (progress: UploadProgress) => void
  /** Remembers the upload of a file. */
  resumeOf?: (file: File) => ResumeStore
}

const LARGE_BYTES = 16 * 1024 * 1024
/** A smaller file is sent with the description. */
const UPLOAD_BYTES = 1024 * 1024
/** Fewer than an account can have, because it can have others. */
const UPLOADS_MAX = 16

export async function publishVersion(
  depot: Depot,
  version: NewVersion,
  files: readonly File[],
  { signal, onProgress, inParts }: PublishOptions = {},
): Promise<Schemas['Version']> {
  const call = signal === undefined ? {} : { signal }
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const large = (inParts ?? total > LARGE_BYTES) ? chooseUploads(files, inParts === true ? 0 : UPLOAD_BYTES) : []
  const uploads = await uploadAll(depot, large, { ...call, ...(onProgress === undefined ? {} : { onProgress }) })
  return depot.post('/v3/version', { body: describe(version, files, uploads), ...call })
}

/** Returns the largest files that have at least a size. */
export function chooseUploads(files: readonly File[], minBytes: number = UPLOAD_BYTES): File[] {
  const large = files.filter(({ size }) => size >= minBytes)
  return [...large].sort((a, b) => b.size - a.size).slice(0, UPLOADS_MAX)
}

/** Uploads files one after another. */
export async function uploadAll(
  depot: Depot,
  files: readonly File[],
  { signal, onProgress, resumeOf }: UploadsOptions = {},
): Promise<Map<File, Upload>> {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const uploads = new Map<File, Upload>()
  let before = 0
  for (const file of files) {
    const upload = await depot.upload(file, {
      ...(signal === undefined ? {} : { signal }),
      ...(resumeOf === undefined ? {} : { resume: resumeOf(file) }),
      onProgress: ({ sent }) => onProgress?.({ sent: before + sent, total }),
    })
    before += file.size
    uploads.set(file, upload)
  }
  return uploads
}

/** The name of an upload in `file_parts`. */
export const partOf = ({ id }: Upload): string => `upload:${id}`

/** Returns the body of a request that publishes the version: it names the uploads, and contains the other files. */
export function describe(
  { primary_file, ...rest }: NewVersion,
  files: readonly File[],
  uploads: ReadonlyMap<File, Upload>,
): NewVersion | Form<NewVersion> {
  const names = files.map((file, index) => {
    const upload = uploads.get(file)
    return upload === undefined ? `file-${index}` : partOf(upload)
  })
  const primary = names[files.findIndex(({ name }) => name === primary_file)]
  const version: NewVersion = { ...rest, file_parts: names }
  if (primary !== undefined) version.primary_file = primary
  const parts = files.flatMap((file, index) => (uploads.has(file) ? [] : [[`file-${index}`, file] as const]))
  return parts.length === 0 ? version : new Form(version, Object.fromEntries(parts))
}
