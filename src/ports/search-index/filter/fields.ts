// Every field a filter may name, with its type and its grain. The one list: parser, engines and tests read it.

/** `text` fields may hold several values; `=` then means "contains". */
export type FieldType = 'text' | 'number' | 'boolean'

/** Where a field's values live: once for the project, or on each of its versions. */
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

/** Names that clients of the legacy parameters send for fields that have another name now. */
const LEGACY_NAMES: ReadonlyMap<string, string> = new Map([
  ['versions', 'game_versions'],
  ['project_type', 'project_types'],
  ['title', 'name'],
])

/** Live facts about a game server, named after its game; any game's name is accepted, values exist where sent. */
const COMPONENT = /^[a-z][a-z0-9_]{0,62}_java_server\.(content\.kind|verified_plays_2w|ping\.data\.players_online)$/

/**
 * The field of that name, or `undefined`. A leading `components.` is dropped (specification, "Search"); with
 * `legacy` the old names stand for the new ones.
 */
export function findField(written: string, { legacy }: { legacy: boolean }): Field | undefined {
  const name = written.startsWith('components.') ? written.slice('components.'.length) : written
  const known = FIELDS.get((legacy && LEGACY_NAMES.get(name)) || name)
  if (known !== undefined) return known
  const component = COMPONENT.exec(name)
  if (component === null) return undefined
  return { name, type: component[1] === 'content.kind' ? 'text' : 'number', grain: 'project' }
}

/** How an author is compared: lower case, `_` and space as `-`, everything but letters, digits and `-` dropped. */
export function authorKey(author: string): string {
  return author
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '-')
    .replace(/[^\p{L}\p{N}-]/gu, '')
}
