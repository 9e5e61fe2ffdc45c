// Reads the data files of the taxonomy, checks them against their schemas, and reports all errors together.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import Value from 'typebox/value'
import { Ordering } from '#lib/schema/schema-parts.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { GAME_IMAGE_PATTERN, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { ClientProgramRows } from './client-programs.ts'
import { type FileRules, parseFileRules } from './file-rules.ts'
import { GAME_IMAGES } from './game-images.ts'
import { ResolvingRules, resolvingErrors } from './resolving.ts'

/** Default folder, which operators can change. */
export const TAXONOMY_FOLDER = path.join(import.meta.dirname, '../../taxonomy')

const strict = { additionalProperties: false }
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9._+-]*$', maxLength: 64 })
const FieldName = Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 })
const FileName = Type.String({ pattern: '^[a-z0-9-]+\\.json$', maxLength: 64 })
// A single time format, so that the strings sort by time.
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', maxLength: 24 })
const Icon = Type.String({ pattern: '^<svg[ >][^]*</svg>$', maxLength: 8192 })
const GameImage = Type.Union([Type.String({ pattern: GAME_IMAGE_PATTERN, maxLength: URL_LENGTH_MAX }), Type.Null()], {
  description: `http or https URL of an image, or one of the images of Depot: ${GAME_IMAGES.join(', ')}`,
})
const Metadata = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean()]),
)

/** Whether a tag is not offered any more. What has the tag keeps it, and requests can still name it. */
const hidden = Type.Optional(Type.Boolean())

const Game = Type.Object(
  { slug: Name, name: Type.String({ minLength: 1, maxLength: 64 }), icon: GameImage, banner: GameImage, hidden },
  strict,
)

const Loader = Type.Object(
  {
    name: Name,
    project_types: Type.Array(Name, { minItems: 1, maxItems: 16 }),
    games: Type.Array(Name, { minItems: 1, maxItems: 64 }),
    fields: Type.Array(FieldName, { maxItems: 64 }),
    metadata: Metadata,
    icon: Icon,
    hidden,
  },
  strict,
)

const Category = Type.Object(
  {
    name: Name,
    project_type: Name,
    header: Type.String({ minLength: 1, maxLength: 64 }),
    ordering: Ordering,
    icon: Icon,
    hidden,
  },
  strict,
)

const Field = Type.Object(
  {
    name: FieldName,
    type: Type.Enum([
      'integer',
      'text',
      'boolean',
      'enum',
      'array_integer',
      'array_text',
      'array_boolean',
      'array_enum',
    ]),
    /** File in the same folder with the values of an enumeration. */
    values: Type.Optional(FileName),
    optional: Type.Boolean(),
    /** Default of an optional enumeration. */
    default: Type.Optional(Type.String()),
    /** Limits of an integer, or of the length of a list. */
    min: Type.Optional(Type.Integer()),
    max: Type.Optional(Type.Integer()),
    created: Instant,
  },
  strict,
)

const EnumValue = Type.Object(
  {
    value: Type.String({ minLength: 1, maxLength: 64 }),
    created: Instant,
    ordering: Type.Optional(Type.Union([Ordering, Type.Null()])),
    metadata: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(Type.Enum(['release', 'snapshot', 'beta', 'alpha'])),
          major: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
    hidden,
  },
  strict,
)

const LinkPlatform = Type.Object({ name: Name, donation: Type.Boolean() }, strict)

/** Prefixes of personal tokens of the code host. */
const CodeHost = Type.Object(
  { token_prefixes: Type.Array(Type.String({ minLength: 3, maxLength: 64 }), { maxItems: 64 }) },
  strict,
)

const Names = Type.Array(Name, { minItems: 1, maxItems: 64 })
const Fields = Type.Array(Field, { maxItems: 256 })
const LinkPlatforms = Type.Array(LinkPlatform, { maxItems: 256 })
const EnumFile = Type.Array(EnumValue, { minItems: 1, maxItems: 10_000 })

/** The lists that operators can edit, by their name in the API. */
export const TAG_LISTS = {
  games: Type.Array(Game, { minItems: 1, maxItems: 256 }),
  loaders: Type.Array(Loader, { minItems: 1, maxItems: 512 }),
  categories: Type.Array(Category, { maxItems: 4096 }),
  game_versions: EnumFile,
}
export type TagListName = keyof typeof TAG_LISTS
export type TagLists = { [List in TagListName]: Static<(typeof TAG_LISTS)[List]> }

/** Loader field with the values of the list `game_versions`. */
const GAME_VERSIONS = 'game_versions'

export type GameRow = Static<typeof Game>
export type LoaderRow = Static<typeof Loader>
export type CategoryRow = Static<typeof Category>
export type FieldRow = Static<typeof Field>
export type EnumValueRow = Static<typeof EnumValue>
export type LinkPlatformRow = Static<typeof LinkPlatform>

export type TaxonomyData = ReturnType<typeof readTaxonomyFiles>

const ERRORS_MAX = 50

/**
 * Reads and checks every data file of `folder`.
 * @throws Error with at most 50 errors, one per line, each with its file and path.
 */
export function readTaxonomyFiles(folder: string) {
  const errors: string[] = []
  const json = (file: string) => readJson(folder, file, errors)
  const read = <Schema extends TSchema>(file: string, schema: Schema) => check(file, json(file), schema, errors)
  const data = {
    games: read('games.json', TAG_LISTS.games) ?? [],
    projectTypes: read('project-types.json', Names) ?? [],
    loaders: read('loaders.json', TAG_LISTS.loaders) ?? [],
    categories: read('categories.json', TAG_LISTS.categories) ?? [],
    fields: read('loader-fields.json', Fields) ?? [],
    /** Values of each enumeration, by field name. */
    fieldValues: new Map<string, EnumValueRow[]>(),
    linkPlatforms: read('link-platforms.json', LinkPlatforms) ?? [],
    reportTypes: read('report-types.json', Names) ?? [],
    clientPrograms: read('client-programs.json', ClientProgramRows) ?? [],
    codeHost: read('code-host.json', CodeHost) ?? { token_prefixes: [] },
    resolving: read('resolving.json', ResolvingRules),
    fileRules: readFileRules(json('file-rules.json'), errors),
  }
  for (const field of data.fields) {
    if (field.values === undefined) continue
    const values = read(field.values, EnumFile)
    if (values !== undefined) data.fieldValues.set(field.name, values)
  }
  const { fileRules, resolving } = data
  if (errors.length === 0 && fileRules !== undefined && resolving !== undefined) {
    // Checked last: if a file cannot be read, all references to it are wrong, which would hide the cause.
    const checked = { ...data, fileRules, resolving }
    const loaders = data.loaders.map(({ name }) => name)
    errors.push(...crossErrors(checked), ...resolvingErrors(resolving, { loaders, projectTypes: data.projectTypes }))
    if (errors.length === 0) return checked
  }
  const shown = errors.slice(0, ERRORS_MAX).map((error) => `  ${error}`)
  if (errors.length > ERRORS_MAX) shown.push(`  and ${errors.length - ERRORS_MAX} more`)
  throw new Error(`Invalid taxonomy in ${folder}:\n${shown.join('\n')}`)
}

/** Returns the lists that operators can edit, as they are in the files. */
export function tagListsOf({ games, loaders, categories, fieldValues }: TaxonomyData): TagLists {
  return { games, loaders, categories, game_versions: fieldValues.get(GAME_VERSIONS) ?? [] }
}

/**
 * Returns the data with other lists.
 * @throws Error with the first contradiction between the lists, or between a list and the files.
 */
export function withTagLists(data: TaxonomyData, lists: Partial<TagLists>): TaxonomyData {
  const { game_versions: values, ...rest } = lists
  const fieldValues = values === undefined ? data.fieldValues : new Map([...data.fieldValues, [GAME_VERSIONS, values]])
  const changed = { ...data, ...rest, fieldValues }
  const [error] = crossErrors(changed)
  if (error !== undefined) throw new Error(error)
  return changed
}

/** Returns undefined if the file does not exist or is not JSON. */
function readJson(folder: string, file: string, errors: string[]): unknown {
  try {
    return JSON.parse(withoutMark(readFileSync(path.join(folder, file), 'utf8')))
  } catch (error) {
    errors.push(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`)
    return undefined
  }
}

/** Compiled schemas: checking all files without compiling takes three times as long. */
const validators = new WeakMap<TSchema, Validator>()

function check<Schema extends TSchema>(
  file: string,
  value: unknown,
  schema: Schema,
  errors: string[],
): Static<Schema> | undefined {
  if (value === undefined) return undefined
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  if (validator.Check(value)) return value as Static<Schema>
  for (const error of Value.Errors(schema, value)) {
    // Errors of a whole union and of an unknown key repeat a more precise error.
    if (error.keyword === 'anyOf' || error.keyword === 'boolean') continue
    errors.push(`${file}${error.instancePath.replaceAll('/', '.')}: ${error.message}${keysOf(error.params)}`)
  }
  return undefined
}

function readFileRules(value: unknown, errors: string[]): FileRules | undefined {
  if (value === undefined) return undefined
  try {
    return parseFileRules(value)
  } catch (error) {
    errors.push(`file-rules.json: ${error instanceof Error ? error.message : 'is not valid'}`)
    return undefined
  }
}

function keysOf(params: object): string {
  const keys = 'additionalProperties' in params ? params.additionalProperties : undefined
  return Array.isArray(keys) ? ` (${keys.join(', ')})` : ''
}

/** Finds errors that a schema cannot express: duplicates, unknown references and contradicting fields. */
function crossErrors(data: TaxonomyData): string[] {
  const games = data.games.map((game) => game.slug)
  const fields = data.fields.map((field) => field.name)
  const names = {
    'games.json': games,
    'project-types.json': data.projectTypes,
    'loaders.json': data.loaders.map(({ name }) => name),
    'categories.json': data.categories.map(({ name, project_type }) => `${name} of ${project_type}`),
    'loader-fields.json': fields,
    'link-platforms.json': data.linkPlatforms.map(({ name }) => name),
    'report-types.json': data.reportTypes,
  }
  const errors = Object.entries(names).flatMap(([file, list]) => duplicates(file, list))
  for (const loader of data.loaders) {
    const place = `loaders.json: ${loader.name}`
    errors.push(...unknownNames(place, 'project type', loader.project_types, data.projectTypes))
    errors.push(...unknownNames(place, 'game', loader.games, games))
    errors.push(...unknownNames(place, 'field', loader.fields, fields))
  }
  for (const category of data.categories) {
    const place = `categories.json: ${category.name}`
    errors.push(...unknownNames(place, 'project type', [category.project_type], data.projectTypes))
  }
  for (const field of data.fields) errors.push(...fieldErrors(field, data.fieldValues.get(field.name)))
  return errors
}

function fieldErrors(field: FieldRow, values: EnumValueRow[] | undefined): string[] {
  const place = `loader-fields.json: ${field.name}`
  const errors: string[] = []
  const isEnum = field.type === 'enum' || field.type === 'array_enum'
  if (isEnum && field.values === undefined) errors.push(`${place}: an enumeration needs a file of values`)
  if (!isEnum && field.values !== undefined) errors.push(`${place}: only an enumeration has a file of values`)
  if (field.min !== undefined && field.max !== undefined && field.min > field.max)
    errors.push(`${place}: min is above max`)
  if (field.default !== undefined) {
    if (field.type !== 'enum' || !field.optional) errors.push(`${place}: only an optional enumeration has a default`)
    else if (!values?.some((row) => row.value === field.default))
      errors.push(`${place}: default ${field.default} is not among its values`)
  }
  const names = (values ?? []).map((row) => row.value)
  errors.push(...duplicates(field.values ?? place, names))
  for (const row of values ?? []) {
    if (Number.isNaN(Date.parse(row.created))) errors.push(`${field.values}: ${row.value}: created is not a date`)
  }
  if (Number.isNaN(Date.parse(field.created))) errors.push(`${place}: created is not a date`)
  return errors
}

function duplicates(file: string, names: string[]): string[] {
  const twice = [...Map.groupBy(names, (name) => name)].filter(([, same]) => same.length > 1)
  return twice.map(([name]) => `${file}: ${name} is named twice`)
}

function unknownNames(place: string, kind: string, names: string[], known: string[]): string[] {
  return names.filter((name) => !known.includes(name)).map((name) => `${place}: unknown ${kind} ${name}`)
}
