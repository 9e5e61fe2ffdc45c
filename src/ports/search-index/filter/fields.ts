// The fields that a filter can name, with their types and grains.

/** A `text` field can have several values; `=` then means "contains". */
export type FieldType = 'text' | 'number' | 'boolean'

/** Whether the project or each version has the values of a field. */
export type Grain = 'project' | 'version'

export type Field = { readonly name: string; readonly type: FieldType; readonly grain: Grain }

const TABLE = {
  'text version': [
    'categories',
    'loaders',
    'game_versions',
    'project_types',
    'environment',
    'client_side',
    'server_side',
  ],
  'number version': ['version_published_timestamp'],
  'text project': [
    'project_id',
    'name',
    'author',
    'license',
    'all_project_types',
    'project_categories',
    'disclosure_types',
    'dependency_project_ids',
    'compatible_dependency_project_ids',
    'required_dependency_project_ids',
    'optional_dependency_project_ids',
    'embedded_dependency_project_ids',
    'incompatible_dependency_project_ids',
  ],
  'number project': ['downloads', 'follows', 'created_timestamp', 'modified_timestamp'],
  'boolean project': ['open_source'],
} as const

export const FIELDS: ReadonlyMap<string, Field> = new Map(
  Object.entries(TABLE).flatMap(([kind, names]) => {
    const [type, grain] = kind.split(' ') as [FieldType, Grain]
    return names.map((name) => [name, { name, type, grain }] as const)
  }),
)

/** Previous names of fields, which legacy parameters accept. */
const LEGACY_NAMES: ReadonlyMap<string, string> = new Map([
  ['versions', 'game_versions'],
  ['project_type', 'project_types'],
  ['title', 'name'],
])

/** Live data of game servers, named after the game. Any name of a game is accepted. */
const COMPONENT = /^[a-z][a-z0-9_]{0,62}_java_server\.(content\.kind|verified_plays_2w|ping\.data\.players_online)$/

/** Returns the field of that name. Ignores a leading `components.`, and accepts previous names with `legacy`. */
export function findField(written: string, { legacy }: { legacy: boolean }): Field | undefined {
  const name = written.startsWith('components.') ? written.slice('components.'.length) : written
  const field = FIELDS.get((legacy && LEGACY_NAMES.get(name)) || name)
  if (field !== undefined) return field
  const component = COMPONENT.exec(name)
  if (component === null) return undefined
  return { name, type: component[1] === 'content.kind' ? 'text' : 'number', grain: 'project' }
}

/** Normalises an author for comparison: lower case, `_` and space as `-`, only letters, digits and `-`. */
export function authorKey(author: string): string {
  return author
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '-')
    .replace(/[^\p{L}\p{N}-]/gu, '')
}
