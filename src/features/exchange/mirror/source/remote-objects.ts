// The objects of a source, checked before anything here uses them. Everything else in its responses is ignored.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { DEPENDENCY_TYPES, FILE_TYPES, WITHDRAWAL_KINDS } from '#features/catalogue/versions/kinds.ts'
import { DECLARED_ID_LENGTH_MAX } from '#features/catalogue/versions/manifests/manifest.ts'
import { ID_PATTERN } from '#lib/ids.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'

const RemoteId = Type.String({ pattern: ID_PATTERN })
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$' })
const Url = Type.String({ maxLength: 2048, pattern: '^https?://' })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Revision = Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
/** A text that the rules for new projects and versions check. */
const Text = (maxLength: number) => Type.String({ maxLength })
const Names = (maxItems: number) => Type.Array(Text(64), { maxItems })

const GalleryItem = Type.Object({
  url: Url,
  raw_url: Maybe(Url),
  featured: Type.Boolean(),
  name: Maybe(Text(2048)),
  title: Maybe(Text(2048)),
  description: Maybe(Text(2048)),
  created: Time,
  ordering: Type.Optional(Type.Integer({ minimum: -2147483648, maximum: 2147483647 })),
  video: Maybe(Type.String({ maxLength: 2048 })),
})
export type RemoteGalleryItem = Static<typeof GalleryItem>

const RemoteProject = Type.Object({
  id: RemoteId,
  revision: Revision,
  slug: Text(64),
  name: Text(64),
  summary: Text(256),
  description: Text(65_536),
  status: Type.Enum(['approved', 'archived', 'unlisted', 'withheld']),
  license: Type.Object({ id: Text(2048), url: Maybe(Text(2048)) }),
  categories: Names(16),
  additional_categories: Names(256),
  link_urls: Type.Record(Text(64), Type.Object({ url: Text(2048) })),
  project_types: Names(64),
  versions: Type.Array(RemoteId, { maxItems: 100_000 }),
  published: Time,
  updated: Time,
  approved: Maybe(Time),
  downloads: Count,
  icon_url: Maybe(Url),
  raw_icon_url: Maybe(Url),
  gallery: Type.Array(GalleryItem, { maxItems: 64 }),
  team_id: Type.Optional(RemoteId),
  organization: Maybe(RemoteId),
  public_statistics: Type.Optional(Type.Boolean()),
  other_names: Type.Optional(Type.Array(Text(64), { maxItems: 5 })),
  version_order: Type.Optional(Type.Enum(['date', 'number'])),
})
export type RemoteProject = Static<typeof RemoteProject>

const RemoteFile = Type.Object({
  hashes: Type.Object({ sha512: Type.String({ pattern: '^[0-9a-f]{128}$' }) }),
  url: Url,
  filename: Type.String({ minLength: 1, maxLength: 255 }),
  primary: Type.Boolean(),
  size: Count,
  file_type: Maybe(Type.Enum([...FILE_TYPES])),
})
export type RemoteFile = Static<typeof RemoteFile>

const RemoteDependency = Type.Object({
  version_id: Maybe(RemoteId),
  project_id: Maybe(RemoteId),
  file_name: Maybe(Type.String({ minLength: 1, maxLength: 255 })),
  dependency_type: Type.Enum([...DEPENDENCY_TYPES]),
  declared_id: Maybe(Type.String({ minLength: 1, maxLength: DECLARED_ID_LENGTH_MAX })),
})
export type RemoteDependency = Static<typeof RemoteDependency>

const RemoteVersion = Type.Object({
  id: RemoteId,
  project_id: RemoteId,
  revision: Revision,
  author_id: Maybe(RemoteId),
  featured: Type.Boolean(),
  name: Text(64),
  version_number: Text(32),
  changelog: Maybe(Text(65_536)),
  date_published: Time,
  downloads: Count,
  version_type: Text(16),
  status: Type.Enum(['listed', 'archived', 'unlisted']),
  files: Type.Array(RemoteFile, { maxItems: 256 }),
  dependencies: Type.Array(RemoteDependency, { maxItems: 4096 }),
  loaders: Names(64),
  ordering: Maybe(Type.Integer({ minimum: -2147483648, maximum: 2147483647 })),
  withdrawn: Maybe(
    Type.Object({
      kind: Type.Enum([...WITHDRAWAL_KINDS]),
      reason: Type.String({ minLength: 1, maxLength: 500 }),
      replacement: Maybe(RemoteId),
    }),
  ),
})
/** `json` has the loader fields. */
export type RemoteVersion = Static<typeof RemoteVersion> & { json: Readonly<Record<string, unknown>> }

const Change = Type.Object({
  kind: Type.String({ maxLength: 64 }),
  id: RemoteId,
  project_id: Type.Optional(RemoteId),
  state: Type.Enum(['present', 'removed']),
  revision: Revision,
})
export type RemoteChange = Static<typeof Change>

const Cursor = Type.String({ minLength: 1, maxLength: 128 })
const Changes = Type.Object({
  changes: Type.Array(Change, { maxItems: 1000 }),
  next: Cursor,
  more: Type.Boolean(),
  latest: Cursor,
})
export type RemoteChanges = Static<typeof Changes>

const Keys = Type.Object({
  keys: Type.Array(Type.Object({ public_key: Type.String({ maxLength: 256 }) }), { maxItems: 64 }),
})
const Hits = Type.Object({
  hits: Type.Array(Type.Object({ project_id: RemoteId, date_modified: Time }), { maxItems: 100 }),
  total_hits: Count,
})
const Named = Type.Object({ id: RemoteId, name: Type.Optional(Text(64)), username: Type.Optional(Text(64)) })
const Member = Type.Object({ team_id: RemoteId, is_owner: Type.Boolean(), user: Type.Object({ username: Text(64) }) })

export const isProject = Compile(RemoteProject)
export const isVersion = Compile(RemoteVersion)
export const isChanges = Compile(Changes)
export const isKeys = Compile(Keys)
export const isHits = Compile(Hits)
export const isNamed = Compile(Named)
export const isMember = Compile(Member)

type Checker = { Errors(value: unknown): Iterable<{ instancePath: string; message: string }> }

/** Returns what is wrong with an object of the source. */
export function problemOf(checker: Checker, value: unknown): string {
  for (const { instancePath, message } of checker.Errors(value))
    return `${instancePath || 'it'} ${message}`.slice(0, 200)
  return 'it has an unknown form'
}
