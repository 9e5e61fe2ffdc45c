// Reads the form of the upload page part by part: its fields into memory, its files into the staging folder. A file that
// is refused does not stop the others, so that no other upload is lost.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import { FILE_BYTES_MAX, type UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { FILE_PARTS_MAX } from '#features/catalogue/versions/publish/requests.ts'
import { ApiError, forbidden } from '#lib/errors.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import { readPageForm } from '#platform/http/bodies/page-form.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { describeBytes } from '#ports/files/files.ts'
import type { PageOptions } from '#web/kit/pages.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { keepForm } from '#web/kit/work/lost-input.ts'

/** A file of the form that was not stored. */
export type RefusedFile = { filename: string; message: string }

export type ReceivedForm = { parts: UploadedPart[]; refused: RefusedFile[] }

const NO_FILES: ReceivedForm = { parts: [], refused: [] }

/** Checks the CSRF token of a form whose fields are in `req.body`. */
export type CheckToken = (req: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Reads the whole form with constant memory, and puts its fields into `req.body`. Checks the token before the first file is
 * stored. The caller discards the staged files. Without `stores`, refuses every file.
 * @throws ApiError `invalid_input` if the form is cut off or too large; the error of `checkToken`.
 */
async function receiveForm(
  deps: Pick<Deps, 'files' | 'fileRules'>,
  { req, reply, stores }: { req: FastifyRequest; reply: FastifyReply; stores: boolean },
  checkToken: CheckToken,
): Promise<ReceivedForm> {
  const refused: RefusedFile[] = []
  const { parts } = await readPageForm(req.raw, {
    files: deps.files,
    maxFileBytes: FILE_BYTES_MAX,
    maxParts: FILE_PARTS_MAX,
    onFields: async (fields) => {
      checkStorable(fields)
      req.body = fields
      await checkToken(req, reply)
    },
    check: ({ filename }) => {
      if (!stores) throw forbidden('The file was not stored')
      checkFilename(deps.fileRules, 'files', filename)
    },
    onRefused: ({ filename }, error) => {
      const message =
        error instanceof ApiError ? error.message : `The file exceeds the limit of ${describeBytes(FILE_BYTES_MAX)}`
      refused.push({ filename, message })
    },
  })
  checkStorable(req.body)
  return { parts, refused }
}

/** Returns the check of the tokens of a scope, whose forms are read after its hooks. */
export function tokenCheck(scope: App): CheckToken {
  return (req, reply) =>
    new Promise((resolve, reject) => {
      scope.csrfProtection(req, reply, (error?: Error) => (error === undefined ? resolve() : reject(error)))
    })
}

/** Options of a form with files: its handler checks the token, and stores the fields of visitors whose session has expired. */
export function streamedForm(checkToken: CheckToken): PageOptions {
  return {
    tokenless: true,
    whenReadOnly: 'form',
    whenSignedOut: async (request) => {
      await readFields(request, checkToken)
      return keepForm(request)
    },
  }
}

/** Reads a form with or without files, and refuses its files unless `stores`. */
export async function readFields(
  { deps, req, reply }: Pick<PageRequest, 'deps' | 'req' | 'reply'>,
  checkToken: CheckToken,
  stores = false,
): Promise<ReceivedForm> {
  if (/^multipart\//i.test(req.headers['content-type'] ?? ''))
    return receiveForm(deps, { req, reply, stores }, checkToken)
  await checkToken(req, reply)
  return NO_FILES
}
