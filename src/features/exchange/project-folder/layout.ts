// The layout of a folder that contains one project: what an export writes and an import reads.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { WITHDRAWAL_KINDS } from '#features/catalogue/versions/kinds.ts'
import { ID_PATTERN } from '#lib/ids.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'

export const PROJECT_FILE = 'project.json'
export const VERSIONS_FOLDER = 'versions'
export const VERSION_FILE = 'version.json'
/** Folder of the published files in the folder of a version, so that no file has the name of the description. */
export const FILES_FOLDER = 'files'

/** Statuses that an import restores. Every other project becomes a draft. */
export const RESTORED_STATUSES = ['approved', 'archived', 'unlisted', 'private', 'draft'] as const

const OldId = Type.Optional(Type.String({ pattern: ID_PATTERN }))
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$' })

/** The fields of `project.json` that the body of `POST /v3/project` lacks. */
const ProjectExtras = Type.Object({
  id: OldId,
  status: Type.String({ maxLength: 64 }),
  published: Time,
  updated: Time,
  approved: Maybe(Time),
  icon: Maybe(Type.String({ maxLength: 255 })),
  gallery_items: Type.Array(Type.Object({ item: Type.String({ maxLength: 255 }), created: Time }), { maxItems: 64 }),
})
export type ProjectExtras = Static<typeof ProjectExtras>
export const isProjectExtras = Compile(ProjectExtras)

/** The fields of `version.json` that the body of `POST /v3/version` lacks. */
const VersionExtras = Type.Object({
  id: OldId,
  date_published: Time,
  withdrawn: Maybe(
    Type.Object({
      kind: Type.Enum([...WITHDRAWAL_KINDS]),
      reason: Type.String({ minLength: 1, maxLength: 500 }),
      at: Time,
      replacement: Maybe(Type.String({ pattern: ID_PATTERN })),
    }),
  ),
})
export type VersionExtras = Static<typeof VersionExtras>
export const isVersionExtras = Compile(VersionExtras)
