// Errors of the taxonomy that a schema cannot express: duplicates, unknown references and contradicting fields.
import { isReference, parseLicense } from './licenses.ts'
import type {
  CategoryRow,
  EnumValueRow,
  FieldRow,
  GameRow,
  LicenseRow,
  LinkPlatformRow,
  LoaderRow,
} from './tag-lists.ts'

type Data = {
  games: readonly GameRow[]
  projectTypes: string[]
  loaders: readonly LoaderRow[]
  categories: readonly CategoryRow[]
  fields: readonly FieldRow[]
  fieldValues: ReadonlyMap<string, EnumValueRow[]>
  linkPlatforms: readonly LinkPlatformRow[]
  licenses: readonly LicenseRow[]
  reportTypes: string[]
}

export function crossErrors(data: Data): string[] {
  const games = data.games.map((game) => game.slug)
  const fields = data.fields.map((field) => field.name)
  const names = {
    'games.json': games,
    'project-types.json': data.projectTypes,
    'loaders.json': data.loaders.map(({ name }) => name),
    'categories.json': data.categories.map(({ name, project_type }) => `${name} of ${project_type}`),
    'loader-fields.json': fields,
    'link-platforms.json': data.linkPlatforms.map(({ name }) => name),
    'licenses.json': data.licenses.map(({ id }) => id),
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
  for (const license of data.licenses) errors.push(...licenseErrors(license))
  return errors
}

/** Fields that every version has. A loader field of the same name could not be set. */
export const VERSION_FIELDS: ReadonlySet<string> = new Set(
  (
    'id revision project_id author_id featured name version_number project_types games changelog date_published downloads ' +
    'version_type status requested_status scheduled_at draft_expires files dependencies loaders ordering provenance origin withdrawn'
  ).split(' '),
)

function fieldErrors(field: FieldRow, values: EnumValueRow[] | undefined): string[] {
  const place = `loader-fields.json: ${field.name}`
  const errors: string[] = []
  const isEnum = field.type === 'enum' || field.type === 'array_enum'
  const sources = [field.values, field.options].filter((source) => source !== undefined).length
  if (isEnum && sources !== 1) errors.push(`${place}: an enumeration needs a file of values, or options`)
  if (!isEnum && sources > 0) errors.push(`${place}: only an enumeration has values`)
  if (isEnum && sources === 1 && values === undefined) errors.push(`${place}: Depot has not read ${field.values}`)
  if (VERSION_FIELDS.has(field.name)) errors.push(`${place}: every version already has a field of this name`)
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

function licenseErrors({ id, name }: LicenseRow): string[] {
  try {
    parseLicense(id)
  } catch (error) {
    return [`licenses.json: ${(error as Error).message.replace(/^Field license_id: /, '')}`]
  }
  if (isReference(id) === (name !== undefined)) return []
  return [`licenses.json: ${id}: ${name === undefined ? 'must have a name' : 'has the name of SPDX, so remove `name`'}`]
}

function duplicates(file: string, names: string[]): string[] {
  const twice = [...Map.groupBy(names, (name) => name)].filter(([, same]) => same.length > 1)
  return twice.map(([name]) => `${file}: ${name} is named twice`)
}

function unknownNames(place: string, kind: string, names: string[], known: string[]): string[] {
  return names.filter((name) => !known.includes(name)).map((name) => `${place}: unknown ${kind} ${name}`)
}
