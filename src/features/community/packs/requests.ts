// Requests to create and edit packs.
import Type, { type Static } from 'typebox'
import { packFields } from '#features/catalogue/resolve/requests.ts'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText, NAME_PATTERN, ORGANIZATION_SLUG_PATTERN } from '#lib/text/text-rules.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { PACK_STATUSES } from './policy.ts'

/** Maximum number of projects in a pack: the address of the page that composes a pack contains all of them. */
export const PACK_PROJECTS_MAX = 200
/** Maximum number of packs of an account. */
export const PACKS_MAX = 64
/** Maximum number of saves of a pack. */
export const SAVES_MAX = 1000

const NAME = { min: 3, max: 64, visible: true, isName: true } as const

const SLUG = 'Last part of the address, unique in the account and stored in lower case'

const details = {
  name: Type.String({ minLength: NAME.min, maxLength: NAME.max }),
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: ORGANIZATION_SLUG_PATTERN, description: SLUG }),
  projects: Type.Array(Type.String({ maxLength: 64, describedAs: { pattern: NAME_PATTERN } }), {
    minItems: 1,
    maxItems: PACK_PROJECTS_MAX,
    description: 'IDs or slugs of public projects; duplicates are ignored',
  }),
  game_version: Type.String({ minLength: 1, maxLength: 64 }),
  loader: Type.String({ minLength: 1, maxLength: 64, description: 'Name of a loader' }),
}
const status = Type.Enum([...PACK_STATUSES])

export const PackInput = NamedObject('PackCreate', {
  name: details.name,
  slug: Maybe({ ...details.slug, description: `${SLUG}. Default: from the name` }),
  status: Maybe({ ...status, description: '`listed` (the default) or `unlisted`' }),
  projects: details.projects,
  game_version: details.game_version,
  loader: Maybe({ ...details.loader, description: 'Name of a loader; required if the versions need a loader' }),
  loader_version: { ...packFields.loader_version, description: 'Required if an .mrpack names the loader' },
})
export type PackInput = Static<typeof PackInput>

/** An absent field stays unchanged. Null clears the loader and its version, and means absent in other fields. */
export const PackPatch = NamedObject('PackUpdate', {
  name: Maybe(details.name),
  slug: Maybe(details.slug),
  status: Maybe(status),
  projects: Maybe(details.projects),
  game_version: Maybe(details.game_version),
  loader: Maybe({ ...details.loader, description: 'Name of a loader; null for a pack without a loader' }),
  loader_version: packFields.loader_version,
})
export type PackPatch = Static<typeof PackPatch>

/** @throws ApiError `validation_error` naming `name`. */
export function checkPackName(name: string): string {
  return checkText(name.trim(), 'name', NAME)
}

/** @throws ApiError `validation_error` naming `loader` or `game_version`. */
export function checkSetup(
  taxonomy: Taxonomy,
  { loader, game_version }: { loader: string | null; game_version: string },
): void {
  if (loader !== null && !taxonomy.loaders.has(loader))
    throw validationError('loader', 'is not a known loader: GET /v3/tag/loader lists them')
  if (taxonomy.fields.get('game_versions')?.enumValues?.has(game_version) !== true)
    throw validationError('game_version', 'must be a value of GET /v3/loader_field?loader_field=game_versions')
}
