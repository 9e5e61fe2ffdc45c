// The JSON form of an upload, and its headers.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import type { UploadRow } from './queries.ts'

export const UploadView = NamedObject('Upload', {
  id: Type.String({ description: 'Name the upload as `upload:ID` in `file_parts` of a version' }),
  length: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Announced length in bytes; null until it is known',
  }),
  offset: Type.Integer({ description: 'Bytes that are stored' }),
  finished: Type.Boolean(),
  metadata: Type.String({ description: 'Upload-Metadata as it was sent' }),
  expires: Timestamp,
})

export function uploadView({ id, length, received, metadata, expires }: UploadRow): Static<typeof UploadView> {
  return { id, length, offset: received, finished: received === length, metadata, expires: expires.toISOString() }
}

/** Headers of the state of an upload. */
export function stateHeaders({ length, received, metadata }: UploadRow): Record<string, string> {
  return {
    'upload-offset': String(received),
    ...(length === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }),
    ...(metadata === '' ? {} : { 'upload-metadata': metadata }),
  }
}

/** Headers of a write. */
export function offsetHeaders({ received, expires }: UploadRow): Record<string, string> {
  return { 'upload-offset': String(received), 'upload-expires': expires.toUTCString() }
}
