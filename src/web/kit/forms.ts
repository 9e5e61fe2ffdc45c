// Reads submitted forms: parses their bodies, with or without an image, checks their fields and runs their commands.
// src/platform/html/forms.ts draws forms.
import type { IncomingHttpHeaders } from 'node:http'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import formbody from '@fastify/formbody'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { bodyError } from '#lib/schema/schema-errors.ts'
import type { FormError } from '#platform/html/forms.ts'
import { readRawBody } from '#platform/http/bodies/raw-body.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { App } from '#platform/http/server.ts'

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

type Upload = { filename: string; bytes: Buffer }
type ParsedForm = Record<string, string | Upload | Upload[]>

/** Registers parsers for forms in this scope, and removes all other parsers. An uploaded file is in the field of its name. */
export async function registerFormParsers(app: App, limits: FormLimits): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: limits.formBytes })
  app.addContentTypeParser('multipart/form-data', (req, payload, done) => {
    readUpload(payload as Readable, req.headers, limits).then((form) => done(null, form), done)
  })
}

/** Reads a form with files. Stops reading if it is too large. @throws ApiError `invalid_input` */
async function readUpload(source: Readable, headers: IncomingHttpHeaders, limits: FormLimits): Promise<ParsedForm> {
  const maxBytes = limits.filesBytes + limits.formBytes
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge('picture', limits.filesBytes)
  const body = await readRawBody(source, { maxBytes, field: 'picture' })
  const response = new Response(body, { headers: { 'content-type': String(headers['content-type']) } })
  const entries = await response.formData().then((parsed) => [...parsed], invalidForm)
  if (entries.length > limits.fields + 1) throw invalidForm()
  const form: ParsedForm = {}
  for (const [name, value] of entries) {
    if (typeof value === 'string') {
      form[name] = value.slice(0, limits.fieldLength)
      continue
    }
    if (value.size > limits.fileBytes) throw fileTooLarge(name, limits.fileBytes)
    const file = { filename: value.name, bytes: Buffer.from(await value.arrayBuffer()) }
    const others = form[name]
    form[name] = Array.isArray(others) ? [...others, file] : typeof others === 'object' ? [others, file] : file
  }
  return form
}

function fileTooLarge(field: string, bytes: number): ApiError {
  const size = bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`
  return invalidInput(`The image must be at most ${size}`, field)
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

/** Returns the uploaded image. @throws ApiError if there is none */
export function uploadedImage(body: unknown): { bytes: Buffer; ext: string } {
  const [image] = uploadedImages(body, 'picture')
  return image
}

type UploadedImage = { filename: string; bytes: Buffer; ext: string }

/** Returns the uploaded images of a field. @throws ApiError if there are none */
export function uploadedImages(body: unknown, field: string): readonly [UploadedImage, ...UploadedImage[]] {
  const value = typeof body === 'object' && body !== null ? (body as ParsedForm)[field] : undefined
  const files = [value].flat().filter((file): file is Upload => typeof file === 'object' && file.bytes.length > 0)
  const images = files.map((file) => ({ ...file, ext: extname(file.filename).slice(1).toLowerCase() }))
  const [first, ...others] = images
  if (first === undefined) throw invalidInput('Choose an image first', field)
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
  const { field, message, isTranslated } = error.details ?? {}
  // A label can belong to a part of a field, such as `link_urls.wiki`.
  const names = typeof field === 'string' ? [field, field.split('.')[0] ?? field] : []
  const name = names.find((each) => Object.hasOwn(labels, each))
  const label = name === undefined ? undefined : labels[name]
  if (isTranslated === true) return { field: typeof field === 'string' ? field : undefined, message: error.message }
  const reason = typeof message === 'string' ? { reason: message } : {}
  if (label === undefined || typeof message !== 'string')
    return { field: undefined, message: error.message, lang: 'en', ...reason }
  // A message either continues a sentence that begins with the field, or is a sentence.
  const sentence = /^[a-z]/.test(message) ? `${label} ${message}` : message
  return { field: name, message: `${sentence.replace(/\.$/, '')}.`, lang: 'en', ...reason }
}
