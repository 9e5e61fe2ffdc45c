// v2 views of versions.
import Type, { type Static } from 'typebox'
import { VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { PACK_LOADERS_FIELD } from '#features/catalogue/versions/files/pack-loaders.ts'
import { DEPENDENCY_TYPES, FILE_TYPES, VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import {
  type CachedVersion,
  type VersionReader,
  versionForm,
} from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { JsonEntityWithTail } from '#lib/text/json-bytes.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import { versionLoaders } from './pack-loaders.ts'

const Text = Type.String()

const FileV2 = NamedObject('File', {
  id: Text,
  hashes: Type.Object({ sha1: Text, sha512: Text }),
  url: Text,
  filename: Text,
  primary: Type.Boolean({ description: 'Whether this is the primary file, which clients install' }),
  size: Type.Integer({ description: 'Size in bytes' }),
  file_type: Nullable(Type.Enum([...FILE_TYPES])),
})

const DependencyV2 = NamedObject('Dependency', {
  version_id: Nullable(Text),
  project_id: Nullable(Text),
  file_name: Nullable(Text),
  dependency_type: Type.Enum([...DEPENDENCY_TYPES]),
})

export const VersionV2 = NamedObject('Version', {
  id: Text,
  project_id: Text,
  author_id: Text,
  featured: Type.Boolean(),
  name: Text,
  version_number: Text,
  changelog: Type.Optional(
    Nullable(Type.String({ description: 'Changelog in Markdown. Absent if `include_changelog` is false' })),
  ),
  changelog_url: Type.Null(),
  date_published: Timestamp,
  downloads: Type.Integer(),
  version_type: Type.Enum([...VERSION_TYPES]),
  status: Type.Enum([...VERSION_STATUSES]),
  requested_status: Nullable(Text),
  game_versions: Type.Array(Text),
  loaders: Type.Array(Text, { description: 'Loaders. For a pack: the loaders inside it' }),
  environment: Text,
  files: Type.Array(FileV2),
  dependencies: Type.Array(DependencyV2),
})
type VersionV2 = Static<typeof VersionV2>

/** Converts a version without its changelog, which lists can omit. Deleting the other keys would be slower. */
function toVersionV2(view: VersionView): VersionV2 {
  const fields = view as unknown as Record<string, unknown>
  const known: Record<string, unknown> = {}
  for (const name in fields) if (Object.hasOwn(VersionV2.properties, name)) known[name] = fields[name]
  return {
    ...(known as VersionV2),
    dependencies: view.dependencies.map(({ declared_id: _, ...dependency }) => dependency),
    changelog_url: null,
    game_versions: (fields['game_versions'] as string[] | undefined) ?? [],
    loaders: versionLoaders(view.loaders, fields[PACK_LOADERS_FIELD] as string[] | undefined),
    environment: (fields['environment'] as string | undefined) ?? 'unknown',
  }
}

const FORM: DerivedForm<CachedVersion, JsonEntityWithTail> = {
  derive: ({ headText, tail }) =>
    new JsonEntityWithTail(JSON.stringify(toVersionV2(JSON.parse(`${headText}}`))).slice(0, -1), tail),
  sizeOf: ({ sizeBytes }) => sizeBytes + 300,
}

/** v2 view of a cached version, as bytes. */
export function versionBytes(reader: VersionReader, version: CachedVersion): JsonEntityWithTail {
  return versionForm(reader, version, FORM)
}
