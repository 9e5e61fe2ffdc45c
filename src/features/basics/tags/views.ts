// Response schemas of the tag endpoints, and their values from the taxonomy.
import Type, { type Static, type TSchema } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { Deps } from '#ports/deps.ts'
import { gameImagePath, isGameImage } from '#taxonomy/game-images.ts'
import { type LoaderField, offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { ValueFilters } from './requests.ts'

export const Game = NamedObject('Game', {
  slug: Type.String(),
  name: Type.String({ description: 'Display name' }),
  icon: Nullable(Type.String({ description: 'URL of a square image' })),
  banner: Nullable(Type.String({ description: 'URL of a wide image' })),
})

export const Loader = NamedObject('Loader', {
  name: Type.String(),
  icon: Type.String({ description: 'SVG' }),
  supported_project_types: Type.Array(Type.String()),
  supported_games: Type.Array(Type.String()),
  supported_fields: Type.Array(Type.String()),
  metadata: Type.Object({}, { additionalProperties: true }),
})

export const Category = NamedObject('Category', {
  name: Type.String(),
  icon: Type.String({ description: 'SVG' }),
  project_type: Type.String(),
  header: Type.String(),
})

export const LoaderFieldValue = NamedObject('LoaderFieldValue', {
  value: Type.String(),
  created: Timestamp,
  metadata: Type.Object({ type: Type.Optional(Type.String()), major: Type.Optional(Type.Boolean()) }),
  type: Nullable(Type.String()),
  major: Nullable(Type.Boolean()),
  ordering: Nullable(Type.Integer()),
})
type LoaderFieldValue = Static<typeof LoaderFieldValue>

export const License = NamedObject('License', { short: Type.String(), name: Type.String() })
export const LicenseText = NamedObject('LicenseText', { title: Type.String(), body: Type.String() })
export const LinkPlatform = NamedObject('LinkPlatform', { name: Type.String(), donation: Type.Boolean() })

/** Returns the games, in the order of their list, with absolute URLs of their images. */
export function toGameViews({ taxonomy, config }: Pick<Deps, 'taxonomy' | 'config'>): Static<typeof Game>[] {
  const base = config.http.baseUrl.replace(/\/$/, '')
  const urlOf = (image: string | null) =>
    image !== null && isGameImage(image) ? `${base}${gameImagePath(image)}` : image
  return offered(taxonomy.games.values()).map(({ slug, name, icon, banner }) => ({
    slug,
    name,
    icon: urlOf(icon),
    banner: urlOf(banner),
  }))
}

/** Returns the loaders, ordered by name. */
export function toLoaderViews({ loaders }: Taxonomy): Static<typeof Loader>[] {
  return offered(loaders.values()).map((loader) => ({
    name: loader.name,
    icon: loader.icon,
    supported_project_types: loader.project_types,
    supported_games: loader.games,
    supported_fields: loader.fields,
    metadata: loader.metadata,
  }))
}

/** Returns the categories, ordered by their ordering, name and project type. */
export function toCategoryViews({ categories }: Taxonomy): Static<typeof Category>[] {
  return offered(categories).map(({ name, icon, project_type, header }) => ({ name, icon, project_type, header }))
}

/**
 * Returns the values of a loader field: those of an enumeration by ordering (values without an ordering last), then
 * newest first; `true` and `false` for a boolean. A value without the filtered metadata does not match.
 * @throws ApiError `invalid_input` for an unknown field and for a field without a list of values.
 */
export function toLoaderFieldValues({ fields }: Taxonomy, name: string, filters: ValueFilters): LoaderFieldValue[] {
  const field = fields.get(name)
  if (field === undefined) throw invalidInput(`There is no loader field with the name ${name}`, 'loader_field')
  const { type, major } = filters
  return valuesOf(field).filter(
    (value) => (type === undefined || value.type === type) && (major === undefined || value.major === major),
  )
}

function valuesOf(field: LoaderField): LoaderFieldValue[] {
  if (field.enumValues !== undefined) {
    return offered(field.enumValues.values()).map((row) => ({
      value: row.value,
      created: row.created,
      metadata: row.metadata ?? {},
      type: row.metadata?.type ?? null,
      major: row.metadata?.major ?? null,
      ordering: row.ordering ?? null,
    }))
  }
  const flat = { metadata: {}, type: null, major: null, ordering: null }
  if (field.type === 'boolean') return ['true', 'false'].map((value) => ({ value, created: field.created, ...flat }))
  throw invalidInput(
    `The loader field ${field.name} is of type ${field.type} and has no list of values`,
    'loader_field',
  )
}

/** Returns the schema of a response with one list under a key. */
export function listOf<Key extends string, Item extends TSchema>(key: Key, item: Item) {
  return Type.Object({ [key]: Type.Array(item) } as Record<Key, Type.TArray<Item>>)
}
