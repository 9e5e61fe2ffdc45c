// The taxonomy: what projects and versions can be tagged with. Read once at start from data files, then only looked up.
import { compare } from '#lib/compare.ts'
import { validationError } from '#lib/errors.ts'
import { type ClientPrograms, labelClientPrograms } from './client-programs.ts'
import type { FileRules } from './file-rules.ts'
import {
  type CategoryRow,
  type EnumValueRow,
  type FieldRow,
  type GameRow,
  type LinkPlatformRow,
  type LoaderRow,
  readTaxonomyFiles,
  TAXONOMY_FOLDER,
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

/** Everything that the taxonomy's folder holds, ready for use. */
export type LoadedTaxonomy = {
  taxonomy: Taxonomy
  /** Which files each loader takes. */
  fileRules: FileRules
  clientPrograms: ClientPrograms
  /** How personal tokens of the code host begin. */
  codeHostPrefixes: readonly string[]
}

/**
 * Reads, checks and indexes the data files of `folder`.
 * @throws Error naming everything that is wrong in any of them at once.
 */
export function loadTaxonomy(folder: string = TAXONOMY_FOLDER): LoadedTaxonomy {
  const data = readTaxonomyFiles(folder)
  return {
    taxonomy: indexTaxonomy(data),
    fileRules: data.fileRules,
    clientPrograms: labelClientPrograms(data.clientPrograms),
    codeHostPrefixes: data.codeHost.token_prefixes,
  }
}

function indexTaxonomy(data: TaxonomyData): Taxonomy {
  const categoriesByType = new Map(data.projectTypes.map((type) => [type, new Map<string, CategoryRow>()]))
  for (const category of data.categories) categoriesByType.get(category.project_type)?.set(category.name, category)
  const typeRank = new Map(data.projectTypes.map((type, rank) => [type, rank]))
  return {
    games: new Map(data.games.map((game) => [game.slug, game])),
    projectTypes: data.projectTypes,
    loaders: new Map(data.loaders.toSorted((a, b) => compare(a.name, b.name)).map((loader) => [loader.name, loader])),
    categories: data.categories.toSorted(
      (a, b) =>
        a.ordering - b.ordering ||
        compare(a.name, b.name) ||
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
    .toSorted((a, b) => ordering(a, -Infinity) - ordering(b, -Infinity) || compare(a.created, b.created))
    .map((row, rank) => ({ ...row, rank }))
  // The list of values itself puts those without an ordering last, and the newest first.
  const listed = ranked.toSorted(
    (a, b) => ordering(a, Infinity) - ordering(b, Infinity) || compare(b.created, a.created),
  )
  return { ...field, enumValues: new Map(listed.map((row) => [row.value, row])) }
}

function ordering(row: EnumValueRow, absent: number): number {
  // Infinity - Infinity is NaN, which `||` takes for a tie, as wanted.
  return row.ordering ?? absent
}

/**
 * The loaders that `names` names, each once, in the order given.
 * @throws ApiError `validation_error` naming the first unknown one (`loaders.2`).
 */
export function checkLoaders(taxonomy: Taxonomy, names: readonly string[], field = 'loaders'): string[] {
  const wrong = names.findIndex((name) => !taxonomy.loaders.has(name))
  if (wrong >= 0) throw validationError(`${field}.${wrong}`, 'is not a known loader: GET /v3/tag/loader lists them')
  return [...new Set(names)]
}

/**
 * The categories that `names` names, each once, in the order given. A name may stand for several project types; whether
 * it exists for any of them is what counts. How many there may be is the caller's rule.
 * @throws ApiError `validation_error` naming the first unknown one (`categories.2`).
 */
export function checkCategories(taxonomy: Taxonomy, names: readonly string[], field = 'categories'): string[] {
  const wrong = names.findIndex((name) => !taxonomy.categoryNames.has(name))
  if (wrong >= 0) throw validationError(`${field}.${wrong}`, 'is not a known category: GET /v3/tag/category lists them')
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
