// Reads the data files of the taxonomy, checks them against their schemas, and reports all errors together.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import Value from 'typebox/value'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { ClientProgramRows } from './client-programs.ts'
import { crossErrors } from './cross-errors.ts'
import { type FileRules, parseFileRules } from './file-rules.ts'
import { LauncherRows, launcherErrors } from './launchers.ts'
import { ResolvingRules, resolvingErrors } from './resolving.ts'
import { SourceHostRows } from './source-hosts.ts'
import {
  CodeHost,
  EnumFile,
  type EnumValueRow,
  type FieldRow,
  GAME_VERSIONS,
  Names,
  TAG_LISTS,
  type TagLists,
} from './tag-lists.ts'

/** Default folder, which operators can change. */
export const TAXONOMY_FOLDER = path.join(import.meta.dirname, '../../taxonomy')

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
    fields: read('loader-fields.json', TAG_LISTS.loader_fields) ?? [],
    /** Values of each enumeration, by field name. */
    fieldValues: new Map<string, EnumValueRow[]>(),
    linkPlatforms: read('link-platforms.json', TAG_LISTS.link_platforms) ?? [],
    // A folder of an earlier release does not have the file.
    licenses: existsSync(path.join(folder, 'licenses.json')) ? (read('licenses.json', TAG_LISTS.licenses) ?? []) : [],
    reportTypes: read('report-types.json', Names) ?? [],
    clientPrograms: read('client-programs.json', ClientProgramRows) ?? [],
    launchers: existsSync(path.join(folder, 'launchers.json')) ? (read('launchers.json', LauncherRows) ?? []) : [],
    sourceHosts: existsSync(path.join(folder, 'source-hosts.json'))
      ? (read('source-hosts.json', SourceHostRows) ?? [])
      : [],
    codeHost: read('code-host.json', CodeHost) ?? { token_prefixes: [] },
    resolving: read('resolving.json', ResolvingRules),
    fileRules: readFileRules(json('file-rules.json'), errors),
  }
  for (const field of data.fields) {
    const values = field.values === undefined ? optionRows(field) : read(field.values, EnumFile)
    if (values !== undefined) data.fieldValues.set(field.name, values)
  }
  const { fileRules, resolving } = data
  if (errors.length === 0 && fileRules !== undefined && resolving !== undefined) {
    // Checked last: if a file cannot be read, all references to it are wrong, which would hide the cause.
    const checked = { ...data, fileRules, resolving }
    const loaders = data.loaders.map(({ name }) => name)
    errors.push(
      ...crossErrors(checked),
      ...resolvingErrors(resolving, { loaders, projectTypes: data.projectTypes }),
      ...launcherErrors(data.launchers, data.projectTypes),
    )
    if (errors.length === 0) return checked
  }
  const shown = errors.slice(0, ERRORS_MAX).map((error) => `  ${error}`)
  if (errors.length > ERRORS_MAX) shown.push(`  and ${errors.length - ERRORS_MAX} more`)
  throw new Error(`Invalid taxonomy in ${folder}:\n${shown.join('\n')}`)
}

/** Returns the lists that operators can edit, as they are in the files. */
export function tagListsOf(data: TaxonomyData): TagLists {
  const { games, loaders, categories, fields, licenses, linkPlatforms, fieldValues } = data
  const game_versions = fieldValues.get(GAME_VERSIONS) ?? []
  return { games, loaders, categories, game_versions, loader_fields: fields, licenses, link_platforms: linkPlatforms }
}

/**
 * Returns the data with other lists.
 * @throws Error with the first contradiction between the lists, or between a list and the files.
 */
export function withTagLists(data: TaxonomyData, lists: Partial<TagLists>): TaxonomyData {
  const all = { ...tagListsOf(data), ...lists }
  const { games, loaders, categories, licenses, loader_fields: fields, link_platforms: linkPlatforms } = all
  const fieldValues = new Map([...data.fieldValues, [GAME_VERSIONS, all.game_versions] as const])
  for (const field of fields) {
    const options = optionRows(field)
    if (options !== undefined) fieldValues.set(field.name, options)
  }
  const changed = { ...data, games, loaders, categories, licenses, fields, linkPlatforms, fieldValues }
  const [error] = crossErrors(changed)
  if (error !== undefined) throw new Error(error)
  return changed
}

/** Returns the values of an enumeration without a file. */
function optionRows({ options, created }: FieldRow): EnumValueRow[] | undefined {
  return options?.map((value, ordering) => ({ value, created, ordering }))
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
