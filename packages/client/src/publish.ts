// Publishes a version: sends its files in the way that suits their size, then its description.
import type { Depot } from './client.ts'
import { Form } from './form.ts'
import type { Schemas } from './operations.ts'
import { acceptsUploads, type UploadProgress } from './upload.ts'

/** A version. `primary_file` is the name of a file (default: the first one); the client sets `file_parts`. */
export type NewVersion = Schemas['VersionCreate']

export type PublishOptions = {
  signal?: AbortSignal
  onProgress?: (progress: UploadProgress) => void
  /** Whether to upload the files in parts. Default: if together they are larger than 16 MiB and the instance supports it */
  inParts?: boolean
}

const LARGE_BYTES = 16 * 1024 * 1024

export async function publishVersion(
  depot: Depot,
  version: NewVersion,
  files: readonly File[],
  options: PublishOptions = {},
): Promise<Schemas['Version']> {
  const { signal } = options
  const body = await versionForm(depot, version, files, options)
  return depot.post('/v3/version', { body, ...(signal === undefined ? {} : { signal }) })
}

/** Returns the body of a request that publishes the version. The files are uploaded if they are sent in parts. */
export async function versionForm(
  depot: Depot,
  version: NewVersion,
  files: readonly File[],
  { signal, onProgress, inParts }: PublishOptions = {},
): Promise<Form<Schemas['VersionCreate']>> {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const isLarge = inParts ?? (total > LARGE_BYTES && (await acceptsUploads(depot.transport)))
  const names: string[] = []
  let sent = 0
  for (const [index, file] of files.entries()) {
    if (!isLarge) {
      names.push(`file-${index}`)
      continue
    }
    const { id } = await depot.upload(file, {
      ...(signal === undefined ? {} : { signal }),
      onProgress: (progress) => onProgress?.({ sent: sent + progress.sent, total }),
    })
    sent += file.size
    names.push(`upload:${id}`)
  }
  const { primary_file, ...rest } = version
  const primary = names[files.findIndex(({ name }) => name === primary_file)]
  const data = { ...rest, file_parts: names, ...(primary === undefined ? {} : { primary_file: primary }) }
  return new Form(data, isLarge ? {} : Object.fromEntries(files.map((file, index) => [`file-${index}`, file])))
}
