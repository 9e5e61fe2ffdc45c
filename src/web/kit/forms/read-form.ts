// Reads submitted forms: parses their bodies, with or without an image, checks their fields and runs their commands.
// src/web/ui/parts/fields.ts draws forms.

import { extname } from 'node:path'
import { unescape as decodePercent } from 'node:querystring'
import type { Readable } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { ICON_BYTES_MAX } from '#features/basics/images/icons.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { bodyError } from '#lib/schema/schema-errors.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { type MultipartRequest, readParts } from '#platform/http/bodies/multipart.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { App } from '#platform/http/server.ts'
import type { FormError } from '#web/ui/parts/fields.ts'
import { withoutRawNames } from '#web/ui/refusals.ts'

/** Limits of the forms of an area. */
export type FormLimits = {
  /** Bytes of a form without files, and of all files of a form together. */
  formBytes: number
  filesBytes: number
  /** Bytes of a file. */
  fileBytes: number
  /** Number of fields in a form with files, and characters of each. */
  fields: number
  fieldLength: number
}

/** Limits for forms with one small image at most. */
export const SMALL_FORMS: FormLimits = {
  formBytes: 64 * 1024,
  filesBytes: 256 * 1024,
  fileBytes: 256 * 1024,
  fields: 20,
  fieldLength: 4096,
}

/** A file that is larger than its limit has no content; using it throws `refusal`. */
type Upload = { filename: string; bytes: Buffer; refusal?: ApiError }
type ParsedForm = Record<string, string | Upload | (string | Upload)[]>

/** Registers parsers for forms in this scope, and removes all other parsers. An uploaded file is in the field of its name. */
export async function registerFormParsers(app: App, limits: FormLimits): Promise<void> {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'string', bodyLimit: limits.formBytes } as const
  app.addContentTypeParser('application/x-www-form-urlencoded', options, async (_req: unknown, body: string | Buffer) =>
    parseForm(String(body)),
  )
  app.addContentTypeParser('multipart/form-data', (req, _payload, done) => {
    readUpload(req.raw, limits).then((form) => done(null, form), done)
  })
}

/** Maximum number of fields in a form without files. */
const FIELDS_MAX = 20_000
/** Maximum length of a value, twice that of the longest text that a field accepts. */
const VALUE_LENGTH_MAX = 128 * 1024
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Parses a form in a fraction of the time of other parsers. A name with several values has a list. A value that is too
 * long for every field is cut, because a rejected form shows all values again.
 * @throws ApiError `invalid_input` for too many fields.
 */
function parseForm(text: string): Record<string, string | string[]> {
  const bytes = Buffer.from(text)
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at += 1) if (bytes[at] === PLUS) bytes[at] = SPACE
  const form: Record<string, string | string[]> = Object.create(null)
  const pairs = bytes.toString().split('&', FIELDS_MAX + 1)
  if (pairs.length > FIELDS_MAX) return invalidForm()
  for (const pair of pairs) {
    if (pair === '') continue
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length
    const [name, value] = [
      decodePercent(pair.slice(0, end)),
      withoutMark(decodePercent(pair.slice(end + 1))).slice(0, VALUE_LENGTH_MAX),
    ]
    const known = form[name]
    if (known === undefined) form[name] = value
    else if (Array.isArray(known)) known.push(value)
    else form[name] = [known, value]
  }
  return form
}

/** Bytes of a form that are read so that its other fields remain when a file is too large. */
const READ_BYTES_MAX = 256 * 1024 * 1024
const IN_MEMORY = { assertAvailable: async () => undefined }

/**
 * Reads a form with files. A file that is too large is read without being stored, so that the form can be shown again with
 * everything else that was entered.
 * @throws ApiError `invalid_input` for a form that no page sends
 */
async function readUpload(req: MultipartRequest, limits: FormLimits): Promise<ParsedForm> {
  const form: ParsedForm = {}
  const left = {
    fields: limits.fields,
    formBytes: limits.formBytes,
    files: limits.fields,
    filesBytes: limits.filesBytes,
  }
  await readParts(req, { files: IN_MEMORY, maxBodyBytes: READ_BYTES_MAX }, async ({ name = '', filename, stream }) => {
    if (filename === undefined) {
      const { bytes, size } = await readBytes(stream, left.formBytes)
      left.fields -= 1
      left.formBytes -= size
      if (left.fields < 0 || left.formBytes < 0) throw invalidForm()
      if (name === '__proto__') return
      const value = withoutMark(bytes.toString('utf8')).slice(0, limits.fieldLength)
      const known = form[name]
      form[name] = known === undefined ? value : [known, value].flat()
      return
    }
    const { bytes, size } = await readBytes(stream, limits.fileBytes)
    // Browsers send a part without a name for an empty file field.
    if (filename === '') return
    left.files -= 1
    left.filesBytes -= size
    if (left.files < 0) throw invalidForm()
    const refusal =
      size > limits.fileBytes
        ? refusedFile(name, `The image must be at most ${describeBytes(limits.fileBytes)}`)
        : left.filesBytes < 0
          ? refusedFile(name, `The images must be at most ${describeBytes(limits.filesBytes)} together`)
          : undefined
    const file: Upload = refusal === undefined ? { filename, bytes } : { filename, bytes: Buffer.alloc(0), refusal }
    const others = form[name]
    form[name] = Array.isArray(others) ? [...others, file] : typeof others === 'object' ? [others, file] : file
  })
  return form
}

/** Reads a part, and stores its content unless it is larger than `maxBytes`. */
async function readBytes(stream: Readable, maxBytes: number): Promise<{ bytes: Buffer; size: number }> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxBytes) pieces = []
    else pieces.push(piece)
  }
  return { bytes: Buffer.concat(pieces), size }
}

/** An error at the file field of the form. */
function refusedFile(field: string, message: string): ApiError {
  return new ApiError('invalid_input', message, { details: { field, message, isSentence: true } })
}

function invalidForm(cause?: unknown): never {
  throw new ApiError('invalid_input', 'The form cannot be read', { cause })
}

/** Returns the values of a field in the order of the form. */
export function fieldsOf(body: unknown, name: string): string[] {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return [value].flat().filter((item): item is string => typeof item === 'string')
}

/** Returns the value of a field, empty if it is missing. @throws ApiError if the form contains the field twice */
export function fieldOf(body: unknown, name: string): string {
  const values = fieldsOf(body, name)
  if (values.length > 1) throw invalidInput(`The form contains ${name} twice`, name)
  return values[0] ?? ''
}

/**
 * Returns the uploaded image. @throws ApiError if the form has no image, or if the image is too large
 * @param maxBytes limit of the field, which can be lower than that of all forms: the error states this one
 */
export function uploadedImage(body: unknown, field = 'picture', maxBytes = ICON_BYTES_MAX): UploadedImage {
  const [image] = uploadedImages(body, field)
  if (image.refusal !== undefined) throw refusedFile(field, `The image must be at most ${describeBytes(maxBytes)}`)
  return image
}

type UploadedImage = Upload & { ext: string }

/** Returns the uploaded images of a field. @throws ApiError if there are none */
export function uploadedImages(body: unknown, field: string): readonly [UploadedImage, ...UploadedImage[]] {
  const value = typeof body === 'object' && body !== null ? (body as ParsedForm)[field] : undefined
  const uploads = [value].flat().filter((file): file is Upload => typeof file === 'object')
  const files = uploads.filter(({ bytes, refusal }) => bytes.length > 0 || refusal !== undefined)
  const images = files.map((file) => ({ ...file, ext: extname(file.filename).slice(1).toLowerCase() }))
  const [first, ...others] = images
  if (first === undefined) throw refusedFile(field, 'Choose an image first')
  return [first, ...others]
}

const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>()

/** Checks values against a schema of the API. @throws ApiError `validation_error` with the field */
export function checkValues<Schema extends TSchema>(schema: Schema, values: unknown): Static<Schema> {
  const validator = validators.get(schema) ?? Compile(schema as TSchema)
  validators.set(schema, validator)
  if (!validator.Check(values)) throw bodyError(validator.Type(), values)
  return values as Static<Schema>
}

/** The reason why a form was rejected: message, field and status of the response, and the errors of other fields. */
export type FormRefusal = FormError & { status: number; others?: readonly FormError[] }

/** Returns the errors to show in a form. */
export const errorsOf = ({
  refusal,
}: {
  refusal?: (FormError & Pick<FormRefusal, 'others'>) | undefined
}): FormError[] => (refusal === undefined ? [] : [refusal, ...(refusal.others ?? [])])

/** Adds the errors of the other fields of a rejected form. `checks` contains a check per field. */
export async function withOtherErrors(
  refusal: FormRefusal,
  checks: Readonly<Record<string, () => Promise<unknown>>>,
  labels: Readonly<Record<string, string>>,
): Promise<FormRefusal> {
  const { field } = refusal
  if (field === undefined || checks[field] === undefined) return refusal
  const others: FormError[] = []
  for (const [name, check] of Object.entries(checks)) {
    const { refusal: other } = name === field ? {} : await attempt(check, labels)
    if (other !== undefined) others.push(other)
  }
  return { ...refusal, others }
}

/**
 * Runs the command of a form and returns its value, or the refusal to show with the form.
 * `labels` maps the fields that a refusal can concern to their names in the message.
 * @throws the error if it is the server's fault, except if the service is temporarily unavailable
 */
export async function attempt<T>(
  act: () => Promise<T>,
  labels: Readonly<Record<string, string>> = {},
): Promise<{ value: T; refusal?: never } | { refusal: FormRefusal; value?: never }> {
  try {
    return { value: await act() }
  } catch (thrown) {
    const error = asApiError(thrown)
    if (error.status >= 500 && error.status !== 503) throw thrown
    return { refusal: toRefusal(error, labels) }
  }
}

/** Returns the refusal of a form by its page, with a message in the language of the page. */
export function refusedField(field: string, message: string): ApiError {
  return new ApiError('validation_error', message, { details: { field, message, isTranslated: true } })
}

/** Uses the message of the API, which is English, and the messages of pages. */
function toRefusal(error: ApiError, labels: Readonly<Record<string, string>>): FormRefusal {
  const others = error.fieldErrors
    .slice(1)
    .map(({ field, message }) => toFormError({ message, details: { field, message } }, labels))
    .filter(({ field }) => field !== undefined)
  return { ...toFormError(error, labels), status: error.status, ...(others.length === 0 ? {} : { others }) }
}

function toFormError(
  error: Pick<ApiError, 'message' | 'details'>,
  labels: Readonly<Record<string, string>>,
): FormError {
  const { field, message, isTranslated, isSentence } = error.details ?? {}
  // A label can belong to a part of a field, such as `link_urls.wiki`.
  const names = typeof field === 'string' ? [field, field.split('.')[0] ?? field] : []
  const name = names.find((each) => Object.hasOwn(labels, each))
  const label = name === undefined ? undefined : labels[name]
  if (isTranslated === true) return { field: typeof field === 'string' ? field : undefined, message: error.message }
  const reason = typeof message === 'string' ? { reason: message } : {}
  if (isSentence === true && typeof field === 'string')
    return { field, message: `${error.message}.`, lang: 'en', reason: error.message }
  if (label === undefined || typeof message !== 'string')
    return { field: undefined, message: withoutRawNames(error.message), lang: 'en', ...reason }
  // A message either continues a sentence that begins with the field, or is a sentence.
  const plain = withoutRawNames(message)
  const sentence = /^[a-z]/.test(plain) ? `${label} ${plain}` : plain
  return { field: name, message: `${sentence.replace(/\.$/, '')}.`, lang: 'en', ...reason }
}
