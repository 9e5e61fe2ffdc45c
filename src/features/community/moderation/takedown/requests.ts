// The request to take content down.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

export const TAKEDOWN_KINDS = ['project', 'version', 'file', 'image', 'collection', 'user'] as const
export type TakedownKind = (typeof TAKEDOWN_KINDS)[number]

/** Resulting visibility. No content is deleted. */
export const VISIBILITIES = ['withheld', 'rejected', 'unlisted', 'cleared'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** The visibilities that a moderator can choose for each kind of content, the default first: it hides the content. */
export const VISIBILITIES_OF: Readonly<Record<TakedownKind, readonly [Visibility, ...Visibility[]]>> = {
  project: ['rejected', 'withheld'],
  version: ['unlisted'],
  file: ['rejected', 'withheld', 'unlisted'],
  image: ['rejected', 'withheld'],
  collection: ['rejected'],
  user: ['cleared'],
}

/** Kinds of content with files, whose contents a takedown can block. */
export const BLOCKABLE_KINDS = ['project', 'version', 'file'] as const satisfies readonly TakedownKind[]
export type BlockableKind = (typeof BLOCKABLE_KINDS)[number]
export const isBlockable = (kind: TakedownKind): kind is BlockableKind => BLOCKABLE_KINDS.some((each) => each === kind)

const REFERENCE = { max: 256 }
const MESSAGE = { min: 1, max: 2_000, visible: true }
/** Maximum number of projects of one takedown. */
export const PROJECTS_MAX = 100

export const TakedownInput = NamedObject('TakedownCreate', {
  kind: Type.Enum([...TAKEDOWN_KINDS], {
    description:
      '`file`: all projects with a file. `image`: the project in whose gallery or texts the image is. `user`: the text of ' +
      'their profile',
  }),
  id: Type.String({ maxLength: 128, description: 'ID of the content; of a file, its SHA-512 hash' }),
  reason: Type.String({ maxLength: 64, description: 'Report type from `GET /v3/report_type`' }),
  reference: Type.Optional(
    Type.String({ maxLength: REFERENCE.max, description: 'Report or document that is the cause' }),
  ),
  visibility: Type.Enum([...VISIBILITIES], {
    description:
      '`withheld`, `rejected`: status of the projects, or of the collection. `unlisted`: status of the versions. ' +
      '`cleared`: the text is removed',
  }),
  projects: Type.Optional(
    Type.Array(Id(), { maxItems: PROJECTS_MAX, description: 'Only these projects. Default: all that are concerned' }),
  ),
  message: Type.Optional(
    Type.String({ minLength: MESSAGE.min, maxLength: MESSAGE.max, description: 'Message to the members, in Markdown' }),
  ),
  block_files: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'Whether to block the contents of the files: nobody can download or upload them in any project, until the ' +
        'takedown is undone or an operator lifts the block. If false and the projects are rejected, other projects can ' +
        'publish the files. If the projects are rejected, a job also blocks the images of other hosts that only their texts ' +
        'contain. Only for `project`, `version` and `file`',
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to only return what the takedown would change' }),
  ),
})
export type Takedown = Omit<Static<typeof TakedownInput>, 'dry_run' | 'reference' | 'block_files'> & {
  reference: string
  block_files: boolean
}

/** @throws ApiError `validation_error` naming the field. */
export function parseTakedown(
  { dry_run: _, ...input }: Static<typeof TakedownInput>,
  { reportTypes }: Taxonomy,
): Takedown {
  const { kind, id, reason, visibility, message } = input
  const isId = kind === 'file' ? /^[0-9a-f]{128}$/i.test(id) : isIdForm(id)
  if (!isId) throw validationError('id', kind === 'file' ? 'must be a SHA-512 hash' : 'is not a base62 identifier')
  if (!reportTypes.includes(reason)) throw validationError('reason', `must be one of ${reportTypes.join(', ')}`)
  const allowed = VISIBILITIES_OF[kind]
  if (!allowed.includes(visibility)) throw validationError('visibility', `must be one of ${allowed.join(', ')}`)
  if (message !== undefined) checkText(message, 'message', MESSAGE)
  const reference = checkText(input.reference ?? '', 'reference', REFERENCE)
  const { block_files = true } = input
  return {
    ...input,
    id: kind === 'file' ? id.toLowerCase() : id,
    reference,
    block_files: block_files && isBlockable(kind),
  }
}

/** Longest time after which a moderator can undo a takedown. Operators can always. */
export const UNDO_MS = HOUR_MS

export const BlockedFileParams = Type.Object({
  hash: Type.String({
    pattern: '^[0-9a-fA-F]{128}$',
    maxLength: 128,
    description: 'SHA-512 hash',
    examples: ['ab'.repeat(64)],
  }),
})
