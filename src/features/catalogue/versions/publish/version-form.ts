// Reads the form with the files of a version: first the description, then one part per file.
import type { FastifyRequest } from 'fastify'
import { isForm, readMultipart } from '#platform/http/bodies/multipart.ts'
import type { Deps } from '#ports/deps.ts'
import { checkFilename } from '../files/filename.ts'
import { FILE_BYTES_MAX, type ReceivedFiles } from './prepare-files.ts'
import { FILE_PARTS_MAX } from './requests.ts'

/** Maximum size of the description: a changelog and thousands of dependencies. */
const DATA_BYTES_MAX = 4 * 1024 * 1024
const BODY_BYTES_MAX = 4 * 1024 * 1024 * 1024

/**
 * Reads a form, or a description as JSON. Passes the description to `describe`, which can reject it before a file is read, and then stages the files, which the
 * caller discards. With `isDataOptional`, `describe` receives undefined for a form without a description.
 * @throws ApiError `invalid_input` naming the part, and what `describe` throws.
 */
export async function receiveForm<Description>(
  deps: Pick<Deps, 'files' | 'fileRules'>,
  req: FastifyRequest,
  describe: (data: unknown) => Description | Promise<Description>,
  { isDataOptional = false }: { isDataOptional?: boolean } = {},
): Promise<ReceivedFiles<Description>> {
  if (!isForm(req) && req.body !== undefined) return { description: await describe(req.body), parts: [] }
  const received: { description?: Description } = {}
  const { parts } = await readMultipart(req.raw, {
    files: deps.files,
    dataRequired: !isDataOptional,
    maxDataBytes: DATA_BYTES_MAX,
    maxParts: FILE_PARTS_MAX,
    maxBodyBytes: BODY_BYTES_MAX,
    onData: async (data) => {
      received.description = await describe(data)
    },
    maxBytesOf: ({ name, filename }) => {
      checkFilename(deps.fileRules, name, filename)
      return FILE_BYTES_MAX
    },
  })
  return { description: received.description ?? (await describe(undefined)), parts }
}
