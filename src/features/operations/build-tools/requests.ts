// Addresses that build tools ask for.
import Type from 'typebox'
import { ProjectParams } from '#platform/http/query-values.ts'

const ArtifactParams = Type.Object({
  group: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    maxLength: 64,
    description: 'Any word; the Maven groupId is `maven.` followed by it',
  }),
  ...ProjectParams.properties,
})
const FileName = Type.String({ maxLength: 512, description: 'Name of the file, see the description' })

export const MetadataParams = Type.Object({ ...ArtifactParams.properties, file: FileName })

export const FileParams = Type.Object({
  ...ArtifactParams.properties,
  version: Type.String({ maxLength: 256, description: 'Maven version, see the description' }),
  file: FileName,
})

export const UpdateFileParams = Type.Object({ ...ProjectParams.properties, file: FileName })

export const UpdateFileQuery = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 }), {
  description: 'Loader → `include`, `only` or `none`',
})

/** A digest that an address may ask for in place of the file. */
export type Digest = 'sha1' | 'sha512'

export function splitDigest(file: string): { name: string; digest?: Digest } {
  const match = /^(.*)\.(sha1|sha512)$/.exec(file)
  return match === null ? { name: file } : { name: match[1] ?? '', digest: match[2] as Digest }
}
