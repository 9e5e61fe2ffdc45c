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
import { keepForm } from '#web/kit/forms/lost-input.ts'
import type { PageOptions } from '#web/kit/pages.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { Part } from '#web/ui/html.ts'
import { withoutRawNames } from '#web/ui/refusals.ts'

/** A file that was not stored. */
export type RefusedFile = { filename: string; message: string; lang?: string; more?: Part }

export type ReceivedForm = { parts: UploadedPart[]; refused: RefusedFile[] }

type FormRequest = Pick<PageRequest, 'deps' | 'req' | 'reply' | 'page'>

/** Checks the CSRF token of a form whose fields are in `req.body`. */
export type CheckToken = (req: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Reads the whole form with constant memory, and puts its fields into `req.body`. Checks the token before the first file is
 * stored. The caller discards the staged files. Without `stores`, refuses every file.
 * @throws ApiError `invalid_input` if the form is cut off or too large; the error of `checkToken`.
 */
async function receiveForm(
  { deps, req, reply, page }: FormRequest,
  stores: boolean,
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
    onRefused: ({ filename }, problem) => {
      const { t } = page.language
      const limit = wholeMebibytes(FILE_BYTES_MAX)
      if (problem instanceof ApiError) refused.push(refusedFile(filename, problem))
      else
        refused.push({ filename, message: t('upload.error.size', { size: wholeMebibytes(problem.sizeBytes), limit }) })
    },
  })
  checkStorable(req.body)
  return { parts, refused }
}

/** Returns the refusal of a file. The error names the part of a form or an upload, which users of the page do not know. */
export function refusedFile(filename: string, { message, details }: ApiError): RefusedFile {
  const part = String(details?.['field'] ?? '')
  if (part === '') return { filename, message: withoutRawNames(message), lang: 'en' }
  const named = message
    .replace(`Field ${part}:`, filename)
    .replaceAll(`of part ${part}`, '')
    .replaceAll(`in part ${part}`, '')
  return { filename, message: withoutRawNames(named.replaceAll(part, filename).replaceAll(/ {2,}/g, ' ')), lang: 'en' }
}

/** Returns a size in MiB, rounded up, so that a file above a limit never seems to have the size of the limit. */
export const wholeMebibytes = (bytes: number): number => Math.ceil(bytes / 1024 / 1024)

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
export async function readFields(request: FormRequest, checkToken: CheckToken, stores = false): Promise<ReceivedForm> {
  const { req, reply } = request
  if (/^multipart\//i.test(req.headers['content-type'] ?? '')) return receiveForm(request, stores, checkToken)
  await checkToken(req, reply)
  return { parts: [], refused: [] }
}
