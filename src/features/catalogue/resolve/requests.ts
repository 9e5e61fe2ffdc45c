// Requests that choose versions or store a list of them.
import Type, { type Static } from 'typebox'
import { invalidInput, validationError } from '#lib/errors.ts'
import { isIdForm, parseId } from '#lib/ids.ts'
import { Id, IdOrName, Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { filterBody } from '../versions/lookup/list-requests.ts'
import { PROJECTS_MAX } from './load/load-world.ts'

/** Number of base62 digits of 16 bytes. */
export const LOCK_LENGTH = 22
const LOCK_PATTERN = `^[0-9A-Za-z]{${LOCK_LENGTH}}$`

export const ITEMS_MAX = 1000

const Item = NamedObject('ResolveItem', {
  project: Type.Optional(IdOrName('ID or slug of a project')),
  version: Type.Optional(Id('ID of a version: the item resolves to this version')),
  hash: Type.Optional(
    Type.String({ maxLength: 128, description: 'SHA-1 or SHA-512 of a file, hexadecimal, instead of the others' }),
  ),
})
export type RequestedItem = Static<typeof Item>

/** Name and target of a pack. */
export const packFields = {
  name: Maybe(Type.String({ minLength: 1, maxLength: 128, description: 'Name of the pack' })),
  version: Maybe(Type.String({ minLength: 1, maxLength: 64, description: 'Version of the pack' })),
  loader_version: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'Version of the loader, which the catalogue does not contain; has at least one digit, such as 0.15.11',
    }),
  ),
}

export const ResolveBody = Type.Object({
  items: Type.Array(Item, { minItems: 1, maxItems: ITEMS_MAX }),
  ...filterBody,
  keep: Maybe(
    Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 }), {
      maxProperties: PROJECTS_MAX,
      description: 'ID of a project → ID of its installed version',
    }),
  ),
  strategy: Type.Optional(
    Type.Enum(['newest', 'minimal'], {
      default: 'newest',
      description: '`newest`: the newest versions. `minimal`: kept versions stay unless a change is required',
    }),
  ),
  pins: Type.Optional(
    Type.Enum(['prefer', 'strict'], {
      default: 'prefer',
      description: 'Whether the versions that publishers name are preferred or binding',
    }),
  ),
  ...packFields,
})
export type ResolveBody = Static<typeof ResolveBody>

export const ResolveQuery = Type.Object({
  store: Type.Optional(Type.Boolean({ default: false, description: 'Whether to store the answer as a lock' })),
})

/** @throws ApiError naming an item that names nothing or too much, or a malformed ID in `keep`. */
export function checkRequest({ items, keep, ...pack }: ResolveBody): void {
  for (const [index, { project, version, hash }] of items.entries()) {
    const isNamed = project !== undefined || version !== undefined
    if ((hash !== undefined) === isNamed)
      throw invalidInput('An item must have a project, a version or both, or only a hash', `items.${index}`)
    if (version !== undefined) parseId(version, `items.${index}.version`)
  }
  for (const [project, version] of Object.entries(keep ?? {})) {
    if (!isIdForm(project)) throw invalidInput('keep must contain IDs of projects and of their versions', 'keep')
    parseId(version, `keep.${project}`)
  }
  checkPackFields(pack)
}

type PackFields = Pick<ResolveBody, keyof typeof packFields>

/** Returns whether a text can be the version of a loader: it has a digit, and launchers use it in the names of files. */
export const isLoaderVersion = (text: string): boolean =>
  /^[0-9A-Za-z][0-9A-Za-z.+_-]*$/.test(text) && /[0-9]/.test(text)

/** @throws ApiError naming a field that is blank or has more than one line, or that is not a version of a loader. */
export function checkPackFields({ name, version, loader_version }: PackFields): void {
  for (const [field, text] of Object.entries({ name, version, loader_version })) {
    if (text == null) continue
    checkText(text, field, { min: 1, max: 128, visible: true })
    if (/\p{Cc}/u.test(text)) throw validationError(field, 'must be a single line without control characters')
  }
  if (loader_version != null && !isLoaderVersion(loader_version))
    throw validationError(
      'loader_version',
      'must have a digit, and only letters, digits, ".", "+", "_" and "-", such as 0.15.11',
    )
}

export const LockParams = Type.Object({
  // Another text is the ID of no lock.
  id: Type.String({ maxLength: 64, describedAs: { pattern: LOCK_PATTERN }, description: '`lock` of an answer' }),
})

export const MetafileParams = Type.Object({
  ...LockParams.properties,
  folder: Type.String({ maxLength: 64, description: 'Such as `mods`' }),
  file: Type.String({ maxLength: 80, description: 'Slug of the project and `.pw.toml`' }),
})
