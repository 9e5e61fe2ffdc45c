// The taxonomy: what projects and versions can be tagged with. Read once at start from data files, then only looked up:
// indexes for quick checks, and the contents of the tag endpoints.
import { invalidInput, validationError } from '#lib/errors.ts'
import {
  type CategoryRow,
  type EnumValueRow,
  type FieldRow,
  type GameRow,
  type LinkPlatformRow,
  type LoaderRow,
  readTaxonomyFiles,
  type TaxonomyData,
} from './taxonomy-files.ts'

/** A loader field with its enumeration, when it has one, by value; the map is in the order of the value list. */
export type LoaderField = FieldRow & { enumValues?: ReadonlyMap<string, EnumValueRow & { rank: number }> }

export type Taxonomy = {
  readonly games: ReadonlyMap<string, GameRow>
  readonly projectTypes: readonly string[]
  readonly loaders: ReadonlyMap<string, LoaderRow>
  readonly categories: readonly CategoryRow[]
  /** Project type → category name → category. */
  readonly categoriesByType: ReadonlyMap<string, ReadonlyMap<string, CategoryRow>>
  readonly categoryNames: ReadonlySet<string>
  readonly fields: ReadonlyMap<string, LoaderField>
  readonly linkPlatforms: ReadonlyMap<string, LinkPlatformRow>
  readonly reportTypes: readonly string[]
}

/**
 * Reads, checks and indexes the data files of `folder`.
 * @throws Error naming every fault at once.
 */
export function loadTaxonomy(folder: string): Taxonomy {
  return indexTaxonomy(readTaxonomyFiles(folder))
}

function indexTaxonomy(data: TaxonomyData): Taxonomy {
  const categoriesByType = new Map(data.projectTypes.map((type) => [type, new Map<string, CategoryRow>()]))
  for (const category of data.categories) categoriesByType.get(category.project_type)?.set(category.name, category)
  const typeRank = new Map(data.projectTypes.map((type, rank) => [type, rank]))
  return {
    games: new Map(data.games.map((game) => [game.slug, game])),
    projectTypes: data.projectTypes,
    loaders: new Map(
      data.loaders.toSorted((a, b) => compareText(a.name, b.name)).map((loader) => [loader.name, loader]),
    ),
    categories: data.categories.toSorted(
      (a, b) =>
        a.ordering - b.ordering ||
        compareText(a.name, b.name) ||
        (typeRank.get(a.project_type) ?? 0) - (typeRank.get(b.project_type) ?? 0),
    ),
    categoriesByType,
    categoryNames: new Set(data.categories.map((category) => category.name)),
    fields: new Map(data.fields.map((field) => [field.name, indexField(field, data.fieldValues.get(field.name))])),
    linkPlatforms: new Map(data.linkPlatforms.map((platform) => [platform.name, platform])),
    reportTypes: data.reportTypes,
  }
}

/** `rank` is the place of a value in a project's aggregated list: by ordering, values without one first, then oldest first. */
function indexField(field: FieldRow, values: EnumValueRow[] | undefined): LoaderField {
  if (values === undefined) return field
  const ranked = values
    .toSorted((a, b) => ordering(a, -Infinity) - ordering(b, -Infinity) || compareText(a.created, b.created))
    .map((row, rank) => ({ ...row, rank }))
  // The list of values itself puts those without an ordering last, and the newest first.
  const listed = ranked.toSorted(
    (a, b) => ordering(a, Infinity) - ordering(b, Infinity) || compareText(b.created, a.created),
  )
  return { ...field, enumValues: new Map(listed.map((row) => [row.value, row])) }
}

function ordering(row: EnumValueRow, absent: number): number {
  // Infinity - Infinity is NaN, which `||` takes for a tie, as wanted.
  return row.ordering ?? absent
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * The loaders that `names` names, each once, in the order given.
 * @throws ApiError `validation_error` naming the first unknown one (`loaders.2`).
 */
export function checkLoaders(taxonomy: Taxonomy, names: readonly string[], field = 'loaders'): string[] {
  const wrong = names.findIndex((name) => !taxonomy.loaders.has(name))
  if (wrong >= 0) throw validationError(`${field}.${wrong}`, 'is not a known loader')
  return [...new Set(names)]
}

/**
 * The categories that `names` names, each once, in the order given. A name may stand for several project types; whether
 * it exists for any of them is what counts. How many there may be is the caller's rule.
 * @throws ApiError `validation_error` naming the first unknown one (`categories.2`).
 */
export function checkCategories(taxonomy: Taxonomy, names: readonly string[], field = 'categories'): string[] {
  const wrong = names.findIndex((name) => !taxonomy.categoryNames.has(name))
  if (wrong >= 0) throw validationError(`${field}.${wrong}`, 'is not a known category')
  return [...new Set(names)]
}

/** The project types that a version with these loaders belongs to, A-Z. Unknown loaders count for nothing. */
export function projectTypesOf(taxonomy: Taxonomy, loaders: Iterable<string>): string[] {
  return unionOf(taxonomy, loaders, (loader) => loader.project_types)
}

/** The loaders that make a version one of this project type, A-Z. */
export function loadersOf(taxonomy: Taxonomy, projectType: string): string[] {
  return Array.from(taxonomy.loaders.values()).flatMap(({ name, project_types }) =>
    project_types.includes(projectType) ? name : [],
  )
}

/** The games that a version with these loaders belongs to, A-Z. Unknown loaders count for nothing. */
export function gamesOf(taxonomy: Taxonomy, loaders: Iterable<string>): string[] {
  return unionOf(taxonomy, loaders, (loader) => loader.games)
}

/** The names of the fields that any of these loaders supports, A-Z. Unknown loaders count for nothing. */
export function fieldsOf(taxonomy: Taxonomy, loaders: Iterable<string>): string[] {
  return unionOf(taxonomy, loaders, (loader) => loader.fields)
}

function unionOf(taxonomy: Taxonomy, loaders: Iterable<string>, pick: (loader: LoaderRow) => string[]): string[] {
  const names = new Set<string>()
  for (const name of loaders) {
    const loader = taxonomy.loaders.get(name)
    if (loader !== undefined) for (const value of pick(loader)) names.add(value)
  }
  return [...names].sort()
}

export function gameTags(taxonomy: Taxonomy): GameRow[] {
  return [...taxonomy.games.values()]
}

export type LoaderTag = {
  name: string
  icon: string
  supported_project_types: string[]
  supported_games: string[]
  supported_fields: string[]
  metadata: LoaderRow['metadata']
}

/** A-Z by name. */
export function loaderTags(taxonomy: Taxonomy): LoaderTag[] {
  return Array.from(taxonomy.loaders.values(), (loader) => ({
    name: loader.name,
    icon: loader.icon,
    supported_project_types: loader.project_types,
    supported_games: loader.games,
    supported_fields: loader.fields,
    metadata: loader.metadata,
  }))
}

export type CategoryTag = { name: string; icon: string; project_type: string; header: string }

/** By ordering, then by name, then by project type. */
export function categoryTags(taxonomy: Taxonomy): CategoryTag[] {
  return taxonomy.categories.map(({ name, icon, project_type, header }) => ({ name, icon, project_type, header }))
}

export function linkPlatformTags(taxonomy: Taxonomy): LinkPlatformRow[] {
  return [...taxonomy.linkPlatforms.values()]
}

export type LoaderFieldValueTag = {
  value: string
  created: string
  metadata: { type?: string; major?: boolean }
  type: string | null
  major: boolean | null
  ordering: number | null
}

/**
 * The values of a loader field: an enumeration's by ordering (those without one last), then newest first; `true` and
 * `false` for a boolean. `filters` is the decoded `filters` query value; a value without the metadata never matches.
 * @throws ApiError `invalid_input` for an unknown field, a field that has no list of values, or a filter that is no
 * object of `type` (text) and `major` (boolean): a typing error there would silently give a wrong list.
 */
export function loaderFieldValues(taxonomy: Taxonomy, name: string, filters?: unknown): LoaderFieldValueTag[] {
  const field = taxonomy.fields.get(name)
  if (field === undefined) throw invalidInput(`There is no loader field of the name ${name}`, 'loader_field')
  const { type, major } = filters === undefined ? {} : checkFilters(filters)
  return fieldValueTags(field).filter(
    (tag) => (type === undefined || tag.type === type) && (major === undefined || tag.major === major),
  )
}

function fieldValueTags(field: LoaderField): LoaderFieldValueTag[] {
  const flat = { metadata: {}, type: null, major: null, ordering: null }
  if (field.enumValues !== undefined) {
    return Array.from(field.enumValues.values(), (row) => ({
      value: row.value,
      created: row.created,
      metadata: row.metadata ?? {},
      type: row.metadata?.type ?? null,
      major: row.metadata?.major ?? null,
      ordering: row.ordering ?? null,
    }))
  }
  if (field.type === 'boolean') return ['true', 'false'].map((value) => ({ value, created: field.created, ...flat }))
  throw invalidInput(
    `The loader field ${field.name} is of type ${field.type} and has no list of values`,
    'loader_field',
  )
}

function checkFilters(filters: unknown): { type?: string; major?: boolean } {
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters))
    throw invalidInput('filters must be a JSON object', 'filters')
  for (const [key, value] of Object.entries(filters)) {
    const expected = key === 'type' ? 'string' : key === 'major' ? 'boolean' : undefined
    if (expected === undefined) throw invalidInput(`filters knows type and major, not ${key}`, 'filters')
    if (typeof value !== expected) throw invalidInput(`filters.${key} must be a ${expected}`, 'filters')
  }
  return filters
}
