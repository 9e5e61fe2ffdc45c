// Request schemas of the routes for build tools.
import Type from 'typebox'
import { ProjectParams } from '#features/basics/access/requests.ts'

const ArtifactParams = Type.Object({
  group: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    maxLength: 64,
    description: 'Any name. The Maven groupId is `maven.` followed by this name',
  }),
  ...ProjectParams.properties,
})
const FileName = Type.String({ maxLength: 512, description: 'File name. See the description of the operation' })

export const MetadataParams = Type.Object({ ...ArtifactParams.properties, file: FileName })

export const FileParams = Type.Object({
  ...ArtifactParams.properties,
  version: Type.String({ maxLength: 256, description: 'Maven version. See the description of the operation' }),
  file: FileName,
})

export const UpdateFileParams = Type.Object({ ...ProjectParams.properties, file: FileName })

export const UpdateFileQuery = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 }), {
  description: 'Map from loader to `include`, `only` or `none`',
})

/** Checksum that a URL can request instead of the file. */
export type Digest = 'md5' | 'sha1' | 'sha256' | 'sha512'

export function splitDigest(file: string): { name: string; digest?: Digest } {
  const match = /^(.*)\.(md5|sha1|sha256|sha512)$/.exec(file)
  return match === null ? { name: file } : { name: match[1] ?? '', digest: match[2] as Digest }
}
