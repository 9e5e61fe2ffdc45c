// Bodies of forms, plain ones and those with a picture, and reading their fields.
import type { IncomingHttpHeaders } from 'node:http'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import formbody from '@fastify/formbody'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidInput } from '#lib/errors.ts'
import { bodyError } from '#lib/schema/schema-errors.ts'
import { readRawBody } from '#platform/http/bodies/raw-body.ts'
import type { App } from '#platform/http/server.ts'

const FORM_BYTES_MAX = 64 * 1024
const PICTURE_BYTES_MAX = 262_144
const FIELDS_MAX = 20

type Upload = { filename: string; bytes: Buffer }

/** Takes forms in this scope, and nothing else. A form with a file has the file's bytes under its field's name. */
export async function takeForms(app: App): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: FORM_BYTES_MAX })
  app.addContentTypeParser('multipart/form-data', (req, payload, done) => {
    readUpload(payload as Readable, req.headers).then((form) => done(null, form), done)
  })
}

/** Reads a form with a file. Of one that is too large the rest stays unread. @throws ApiError `invalid_input` */
async function readUpload(source: Readable, headers: IncomingHttpHeaders): Promise<Record<string, string | Upload>> {
  const maxBytes = PICTURE_BYTES_MAX + FORM_BYTES_MAX
  if (Number(headers['content-length'] ?? 0) > maxBytes)
    throw invalidInput(`The picture is larger than ${PICTURE_BYTES_MAX} bytes`, 'picture')
  return parseUpload(await readRawBody(source, { maxBytes, field: 'picture' }), String(headers['content-type']))
}

function parseUpload(body: Buffer, contentType: string): Promise<Record<string, string | Upload>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, string | Upload>>()
  const form: Record<string, string | Upload> = Object.create(null)
  let parser: BusboyInstance
  try {
    parser = new Busboy({
      headers: { 'content-type': contentType },
      // One byte more than a picture may have, so that what reaches the limit is too large.
      limits: { fileSize: PICTURE_BYTES_MAX + 1, files: 1, fields: FIELDS_MAX, fieldSize: 4096, parts: FIELDS_MAX + 1 },
    })
  } catch (cause) {
    return Promise.reject(invalidForm(cause))
  }
  parser.on('field', (name, value) => {
    form[name] = value
  })
  parser.on('file', (name, stream, filename) => {
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('error', (cause) => reject(invalidForm(cause)))
    stream.on('end', () => {
      const bytes = Buffer.concat(pieces)
      if (bytes.length > PICTURE_BYTES_MAX)
        reject(invalidInput(`The picture is larger than ${PICTURE_BYTES_MAX} bytes`, name))
      else form[name] = { filename: filename ?? '', bytes }
    })
  })
  parser.on('finish', () => resolve(form))
  parser.on('error', (cause) => reject(invalidForm(cause)))
  parser.end(body)
  return promise
}

function invalidForm(cause: unknown) {
  const error = invalidInput('The form cannot be read')
  error.cause = cause
  return error
}

/** The values of one field in the order they came. */
export function fieldsOf(body: unknown, name: string): string[] {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return [value].flat().filter((item): item is string => typeof item === 'string')
}

/** The one value of a field; empty when it is absent. @throws ApiError when it came twice, as no form of ours sends it */
export function fieldOf(body: unknown, name: string): string {
  const values = fieldsOf(body, name)
  if (values.length > 1) throw invalidInput(`${name} came twice`, name)
  return values[0] ?? ''
}

/** The picture that was chosen. @throws ApiError when none was */
export function pictureOf(body: unknown): { bytes: Buffer; ext: string } {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)['picture'] : undefined
  if (typeof value !== 'object' || value === null || !('bytes' in value) || (value as Upload).bytes.length === 0)
    throw invalidInput('Choose a picture first', 'picture')
  const { bytes, filename } = value as Upload
  return { bytes, ext: extname(filename).slice(1).toLowerCase() }
}

const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>()

/** Holds values against the schema that the API has for them. @throws ApiError `validation_error` naming the field */
export function checkValues<Schema extends TSchema>(schema: Schema, values: unknown): Static<Schema> {
  const validator = validators.get(schema) ?? Compile(schema as TSchema)
  validators.set(schema, validator)
  if (!validator.Check(values)) throw bodyError(validator.Type(), values)
  return values as Static<Schema>
}
