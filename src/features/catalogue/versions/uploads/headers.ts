// The headers of tus 1.0.0 (https://tus.io/protocols/resumable-upload): parsing, and those of every response.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { FILE_BYTES_MAX } from '../publish/prepare-files.ts'

export const TUS_VERSION = '1.0.0'
export const ALGORITHMS = ['sha1', 'sha256', 'sha512', 'md5'] as const
const METADATA_LENGTH_MAX = 4096
const BODY_TYPE = 'application/offset+octet-stream'

/** Headers of the response to OPTIONS. */
export const CAPABILITIES = {
  'tus-version': TUS_VERSION,
  'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
  'tus-max-size': String(FILE_BYTES_MAX),
  'tus-checksum-algorithm': ALGORITHMS.join(','),
}

export const EXPOSED_TUS_HEADERS =
  'Location, Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Expires, Upload-Metadata, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm'

/** @throws ApiError 412 unless the client speaks this version of the protocol. */
export function requireTus(headers: IncomingHttpHeaders): void {
  if (headers['tus-resumable'] === TUS_VERSION) return
  throw new ApiError('precondition_failed', `The header Tus-Resumable must be ${TUS_VERSION}`, {
    details: { field: 'tus-resumable', message: `must be ${TUS_VERSION}` },
    headers: { 'tus-version': TUS_VERSION },
  })
}

/** Whether the request has a body of an upload. @throws ApiError 415 for another type of body. */
export function hasPart(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === BODY_TYPE) return true
  if (type === undefined && !hasBody(headers)) return false
  throw new ApiError('unsupported_media_type', `The Content-Type of the body must be ${BODY_TYPE}`, {
    details: { field: 'content-type', message: `must be ${BODY_TYPE}` },
  })
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** @throws ApiError `invalid_input` unless the header is absent or a whole number. */
export function readSize(headers: IncomingHttpHeaders, name: 'upload-length' | 'upload-offset'): number | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text)) throw invalidInput(`${name} must be a whole number`, name)
  return Number(text)
}

/** @throws ApiError `invalid_input` for a part of a concatenation, which tus describes as an extension. */
export function rejectConcatenation(headers: IncomingHttpHeaders): void {
  if (headers['upload-concat'] === undefined) return
  throw invalidInput('Uploads cannot be concatenated; send all parts to one upload', 'upload-concat')
}

/** Returns the announced length; null if it is deferred. */
export function readLength(headers: IncomingHttpHeaders): number | null {
  const length = readSize(headers, 'upload-length')
  const isDeferred = headers['upload-defer-length']
  if (isDeferred !== undefined && isDeferred !== '1')
    throw invalidInput('upload-defer-length must be 1', 'upload-defer-length')
  if ((length === undefined) === (isDeferred === undefined)) {
    throw invalidInput(
      'The request must have one of the headers Upload-Length and Upload-Defer-Length',
      'upload-length',
    )
  }
  return length ?? null
}

export function readMetadata(headers: IncomingHttpHeaders): string {
  const text = headers['upload-metadata'] ?? ''
  if (typeof text !== 'string' || text.length > METADATA_LENGTH_MAX)
    throw invalidInput(`upload-metadata must have at most ${METADATA_LENGTH_MAX} characters`, 'upload-metadata')
  metadataOf(text)
  return text
}

/** Returns the values by key. @throws ApiError `invalid_input` for pairs that are not `key BASE64`, and for keys that are listed twice. */
export function metadataOf(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  if (text.trim() === '') return values
  for (const pair of text.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (key === '' || more.length > 0 || !/^[\x21-\x7e]+$/.test(key) || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
      throw invalidInput('upload-metadata must be a list of keys with Base64 values', 'upload-metadata')
    if (values.has(key)) throw invalidInput(`upload-metadata has the key ${key} twice`, 'upload-metadata')
    values.set(key, Buffer.from(value, 'base64').toString())
  }
  return values
}

export type Checksum = { update(chunk: Buffer): void; matches(): boolean }

/** @throws ApiError `invalid_input` for an unknown algorithm or a value that is not its checksum. */
export function readChecksum(headers: IncomingHttpHeaders): Checksum | undefined {
  const text = headers['upload-checksum']
  if (text === undefined) return undefined
  const [name = '', value = ''] = typeof text === 'string' ? text.split(' ') : []
  const algorithm = ALGORITHMS.find((each) => each === name)
  if (algorithm === undefined)
    throw invalidInput(`upload-checksum must begin with ${ALGORITHMS.join(', ')}`, 'upload-checksum')
  const hash = createHash(algorithm)
  const wanted = Buffer.from(value, 'base64')
  if (wanted.length !== createHash(algorithm).digest().length)
    throw invalidInput(`upload-checksum must have a ${algorithm} checksum in Base64`, 'upload-checksum')
  return { update: (chunk) => void hash.update(chunk), matches: () => hash.digest().equals(wanted) }
}
