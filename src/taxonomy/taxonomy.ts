// The taxonomy: categories, loaders, game versions and loader fields. Read from data files at the start, with the lists that
// operators have edited.
import { compare } from '#lib/compare.ts'
import { validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { type ClientPrograms, labelClientPrograms } from './client-programs.ts'
import type { FileRules } from './file-rules.ts'
import type { Launcher } from './launchers.ts'
import type { ResolvingRules } from './resolving.ts'
import type { SourceHost } from './source-hosts.ts'
import type {
  CategoryRow,
  EnumValueRow,
  FieldRow,
  GameRow,
  LicenseRow,
  LinkPlatformRow,
  LoaderRow,
} from './tag-lists.ts'
import { readTaxonomyFiles, TAXONOMY_FOLDER, type TaxonomyData } from './taxonomy-files.ts'

/** Loader field and the values of its enumeration, in the order of the data file. */
export type LoaderField = FieldRow & { enumValues?: ReadonlyMap<string, EnumValueRow & { rank: number }> }

export type Taxonomy = {
  readonly games: ReadonlyMap<string, GameRow>
  readonly projectTypes: readonly string[]
  readonly loaders: ReadonlyMap<string, LoaderRow>
  readonly categories: readonly CategoryRow[]
  /** Categories by project type and name. */
  readonly categoriesByType: ReadonlyMap<string, ReadonlyMap<string, CategoryRow>>
  readonly categoryNames: ReadonlySet<string>
  readonly fields: ReadonlyMap<string, LoaderField>
  readonly linkPlatforms: ReadonlyMap<string, LinkPlatformRow>
  /** Licences that forms offer first, by identifier. */
  readonly licenses: ReadonlyMap<string, LicenseRow>
  readonly reportTypes: readonly string[]
}

/** Indexed content of the taxonomy folder. */
export type LoadedTaxonomy = {
  /** Keeps its identity: when operators edit tags, its parts are replaced. */
  taxonomy: Taxonomy
  /** Content of the files. */
  taxonomyData: TaxonomyData
  /** File rules of each loader. */
  fileRules: FileRules
  clientPrograms: ClientPrograms
  /** Prefixes of personal tokens of the code host. */
  codeHostPrefixes: readonly string[]
  resolving: ResolvingRules
  /** Launchers that links open, in the order of menus. */
  launchers: readonly Launcher[]
  /** Code hosts that source links lead to. */
  sourceHosts: readonly SourceHost[]
}

/**
 * Reads, checks and indexes the data files of `folder`.
 * @throws Error with all errors of all files.
 */
export function loadTaxonomy(folder: string = TAXONOMY_FOLDER): LoadedTaxonomy {
  const data = readTaxonomyFiles(folder)
  return {
    taxonomy: indexTaxonomy(data),
    taxonomyData: data,
    fileRules: data.fileRules,
    clientPrograms: labelClientPrograms(data.clientPrograms),
    codeHostPrefixes: data.codeHost.token_prefixes,
    resolving: data.resolving,
    launchers: data.launchers,
    sourceHosts: data.sourceHosts,
  }
}

export function indexTaxonomy(data: TaxonomyData): Taxonomy {
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
    licenses: new Map(data.licenses.map((license) => [license.id, license])),
    reportTypes: data.reportTypes,
  }
}

/** `rank`: position in the list of a project. Values without an ordering are first, then by ordering, then oldest first. */
function indexField(field: FieldRow, values: EnumValueRow[] | undefined): LoaderField {
  if (values === undefined) return field
  const ranked = values
    .toSorted((a, b) => ordering(a, -Infinity) - ordering(b, -Infinity) || compare(a.created, b.created))
    .map((row, rank) => ({ ...row, rank }))
  // In the list of values, those without an ordering are last, and the newest value is first.
  const listed = ranked.toSorted(
    (a, b) => ordering(a, Infinity) - ordering(b, Infinity) || compare(b.created, a.created),
  )
  return { ...field, enumValues: new Map(listed.map((row) => [row.value, row])) }
}

/** Returns the rows that users can choose: those that are not hidden. */
export function offered<Row extends { hidden?: boolean }>(rows: Iterable<Row>): Row[] {
  return [...rows].filter((row) => row.hidden !== true)
}

function ordering(row: EnumValueRow, absent: number): number {
  // Infinity - Infinity is NaN, which `||` treats as a tie.
  return row.ordering ?? absent
}

/**
 * Returns the loaders with these names, without duplicates.
 * @throws ApiError `validation_error` with the path of each unknown name (`loaders.2`).
 */
export function checkLoaders(taxonomy: Taxonomy, names: readonly string[], field = 'loaders'): string[] {
  const message = 'is not a known loader: GET /v3/tag/loader lists them'
  return checkNames(names, (name) => taxonomy.loaders.has(name), { field, message })
}

/**
 * Returns the categories with these names, without duplicates. A name is valid if any project type has the category.
 * Callers limit the number of categories.
 * @throws ApiError `validation_error` with the path of each unknown name (`categories.2`).
 */
export function checkCategories(taxonomy: Taxonomy, names: readonly string[], field = 'categories'): string[] {
  const message = 'is not a known category: GET /v3/tag/category lists them'
  return checkNames(names, (name) => taxonomy.categoryNames.has(name), { field, message })
}

function checkNames(
  names: readonly string[],
  isKnown: (name: string) => boolean,
  { field, message }: { field: string; message: string },
): string[] {
  const refusals = new Refusals()
  refusals.each(names, (name, index) => {
    if (!isKnown(name)) throw validationError(`${field}.${index}`, message)
  })
  refusals.throwAny()
  return [...new Set(names)]
}

/**
 * Returns the sorted project types of a version or project with these loaders; without loaders, the type that was chosen for
 * a draft. Ignores unknown loaders.
 */
export function projectTypesOf(taxonomy: Taxonomy, loaders: readonly string[], chosen?: string | null): string[] {
  return chosen && loaders.length === 0 ? [chosen] : unionOf(taxonomy, loaders, (loader) => loader.project_types)
}

/** Returns the sorted loaders of a project type. */
export function loadersOf(taxonomy: Taxonomy, projectType: string): string[] {
  return Array.from(taxonomy.loaders.values()).flatMap(({ name, project_types }) =>
    project_types.includes(projectType) ? name : [],
  )
}

/** Returns the sorted games of a version with these loaders. Ignores unknown loaders. */
export function gamesOf(taxonomy: Taxonomy, loaders: Iterable<string>): string[] {
  return unionOf(taxonomy, loaders, (loader) => loader.games)
}

/** Returns the sorted names of the fields that any of these loaders supports. Ignores unknown loaders. */
export function fieldsOf(taxonomy: Taxonomy, loaders: Iterable<string>): string[] {
  return unionOf(taxonomy, loaders, (loader) => loader.fields)
}

/**
 * Returns the union of stored values in the order in which a project shows them: values without an ordering first, then by
 * ordering, then oldest first. Values that the taxonomy no longer has are last.
 */
export function sortFieldValues(taxonomy: Taxonomy, field: string, values: Iterable<string>): string[] {
  const known = taxonomy.fields.get(field)?.enumValues
  const rank = (value: string) => known?.get(value)?.rank ?? Infinity
  return [...new Set(values)].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

/** Returns the loaders whose versions have the field. */
export function loadersWith(taxonomy: Taxonomy, field: string): string[] {
  return [...taxonomy.loaders.values()].filter(({ fields }) => fields.includes(field)).map(({ name }) => name)
}

function unionOf(taxonomy: Taxonomy, loaders: Iterable<string>, pick: (loader: LoaderRow) => string[]): string[] {
  const names = new Set<string>()
  for (const name of loaders) {
    const loader = taxonomy.loaders.get(name)
    if (loader !== undefined) for (const value of pick(loader)) names.add(value)
  }
  return [...names].sort()
}
