// Describes the headers of responses, and the header of the tus protocol in requests.
import type { RouteEntry } from '../route-config.ts'

type Json = Record<string, unknown>

const integer = (description: string): Json => ({ description, schema: { type: 'integer' } })
const text = (description: string): Json => ({ description, schema: { type: 'string' } })

/** The component of each header. */
const HEADERS: Record<string, Json> = {
  ETag: text(
    'Identifies this state of the resource: a value for `If-None-Match`, and for `If-Match` where it is offered',
  ),
  'Retry-After': integer('Seconds to wait before the next attempt'),
  'Upload-Defer-Length': text('`1` if the length of the file is not known yet'),
  'Upload-Expires': text('Time at which Depot deletes the upload, as an HTTP date'),
  'Upload-Length': integer('Length of the file in bytes'),
  'Upload-Metadata': text('Names and values in Base64, as they were sent'),
  'Upload-Offset': integer('Number of stored bytes'),
  'X-Ratelimit-Limit': integer('Number of requests that the client may send per minute'),
  'X-Ratelimit-Remaining': integer('Number of requests that the client may still send in this minute'),
  'X-Ratelimit-Reset': integer('Seconds until the limit starts again'),
  'X-Request-Id': text('ID of the request, for the operators of the instance'),
}

const names = (prefix: string): string[] => Object.keys(HEADERS).filter((name) => name.startsWith(prefix))

/** Returns the headers of all descriptions, as components. */
export function headerComponents(): Json {
  return HEADERS
}

/** Returns references to the headers that a response can have. */
export function headersOf(status: string, { config, url }: Pick<RouteEntry, 'config' | 'url'>): Json {
  if (config.unlimited === true) return refer(['X-Request-Id'])
  const isSuccess = status.startsWith('2')
  const hasTag = (isSuccess || status === '304') && (config.cache ?? 'no-store') !== 'no-store'
  const isUpload = isSuccess && url.startsWith('/v3/upload')
  return refer([...(hasTag ? ['ETag'] : []), ...(isUpload ? names('Upload-') : []), ...names('X-')])
}

/** Returns references to the headers that an error can have, which does not depend on the operation. */
export function errorHeaders(status: string): Json {
  return refer([...(status === '429' || status === '503' ? ['Retry-After'] : []), ...names('X-')])
}

function refer(wanted: readonly string[]): Json {
  return Object.fromEntries(wanted.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The header of the tus protocol, as properties of a schema. */
export const TUS_HEADER = {
  'Tus-Resumable': { type: 'string', enum: ['1.0.0'], description: 'The revision of tus that the client uses' },
} as const
