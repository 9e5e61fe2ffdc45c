// The response schemas of search. The index returns serialised responses, which these schemas describe.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

const Texts = Type.Array(Type.String())
const Sides = Type.Array(Type.String(), { description: 'One value for the project; empty without versions' })
const Ids = Type.Array(Type.String())

const SearchHit = Type.Object(
  {
    version_id: Nullable(Type.String({ description: 'ID of the newest version that matches the filters' })),
    latest_version: Nullable(Type.String({ description: 'The same as `version_id`' })),
    project_id: Type.String(),
    project_types: Type.Array(Type.String(), { description: 'Types of all versions' }),
    all_project_types: Type.Array(Type.String(), { description: 'The same as `project_types`' }),
    slug: Nullable(Type.String()),
    author: Type.String({ description: "Username of the owner, or of the organization's owner" }),
    author_id: Type.String(),
    organization: Nullable(Type.String({ description: 'Name of the owning organization' })),
    organization_id: Nullable(Type.String()),
    name: Type.String(),
    summary: Type.String(),
    categories: Type.Array(Type.String(), { description: 'All categories, and the loaders of all versions' }),
    display_categories: Texts,
    downloads: Type.Integer(),
    follows: Type.Integer(),
    icon_url: Nullable(Type.String()),
    date_created: Timestamp,
    date_modified: Timestamp,
    license: Type.String({ description: 'First licence of the SPDX expression' }),
    gallery: Type.Array(Type.String(), { description: 'URLs of the images, without the featured image' }),
    featured_gallery: Nullable(Type.String()),
    color: Nullable(Type.Integer({ description: 'RGB colour derived from the icon' })),
    dependency_project_ids: Ids,
    compatible_dependency_project_ids: Ids,
    required_dependency_project_ids: Ids,
    optional_dependency_project_ids: Ids,
    embedded_dependency_project_ids: Ids,
    incompatible_dependency_project_ids: Ids,
    dependencies: Type.Array(
      Type.Object({
        project_id: Type.String(),
        dependency_type: Type.String(),
        name: Type.String(),
        slug: Nullable(Type.String()),
        icon_url: Nullable(Type.String()),
      }),
    ),
    disclosure_types: Texts,
    loaders: Texts,
    project_loader_fields: Type.Record(Type.String(), Texts),
    client_side: Sides,
    server_side: Sides,
  },
  {
    title: 'SearchHit',
    additionalProperties: Type.Array(Type.String(), { description: 'Values of a loader field in all versions' }),
  },
)
export type SearchHit = Static<typeof SearchHit>

export const SearchResult = NamedObject('SearchResult', {
  hits: Type.Array(SearchHit),
  page: Type.Integer({ minimum: 1, description: 'Starts at 1' }),
  hits_per_page: Type.Integer({ minimum: 1 }),
  total_hits: Type.Integer({ minimum: 0, description: 'Exact number of matching projects' }),
})

/** The first matches of a text, for fields that suggest while a user types. */
export const Suggestions = NamedObject('Suggestions', {
  projects: Type.Array(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      project_types: Texts,
      icon_url: Nullable(Type.String()),
      color: Nullable(Type.Integer({ description: 'RGB colour derived from the icon' })),
    }),
    { maxItems: 5, description: 'The first hits of a search' },
  ),
  users: Type.Array(Type.Object({ id: Type.String(), username: Type.String(), avatar_url: Nullable(Type.String()) }), {
    maxItems: 3,
    description: 'Users whose name begins with the text',
  }),
  tags: Type.Array(Type.Object({ name: Type.String(), kind: Type.Enum(['category', 'loader', 'game_version']) }), {
    maxItems: 4,
    description: 'Tags with words that begin with the text; released game versions',
  }),
})

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description })

export const FacetCounts = Type.Object(
  {
    total_hits: Type.Integer({ minimum: 0, description: 'Number of hits without a further condition' }),
    project_types: Counts('By type of project'),
    categories: Counts('By category of the project'),
    loaders: Counts('By loader'),
    game_versions: Counts('By game version; only releases'),
    environment: Counts('By environment'),
    open_source: Counts('`true`: under an open-source licence; `false`: under another licence'),
  },
  {
    title: 'FacetCounts',
    description: 'For each value, the number of hits if the search were also filtered by that value.',
  },
)

export const IndexStateView = NamedObject('SearchIndexState', {
  state: Type.Enum(['closed', 'opening', 'building', 'ready', 'rebuilding', 'failing'], {
    description:
      '`closed`: no search has been made since the start. `building`: searches fail until the first index is complete. ' +
      '`rebuilding`: searches use the old index. `failing`: the index does not follow the database',
  }),
  documents: Type.Integer({ description: 'Projects in the index' }),
  projects: Type.Integer({ description: 'Projects that should be in the index' }),
  memory_bytes: Type.Integer({ description: 'Memory of the index, in bytes; 0 if a service contains the index' }),
  changed: Nullable(
    Type.String({ format: 'date-time', description: 'Last change of the index; null if it is unknown' }),
  ),
  is_requested: Type.Boolean({ description: 'Whether a requested rebuild has not finished' }),
  rebuild: Nullable(
    Type.Object(
      { built: Type.Integer(), total: Type.Integer() },
      { description: 'Progress of a build, in projects; null if none runs or another process runs it' },
    ),
  ),
  error: Nullable(Type.String({ description: 'Why the index does not follow the database' })),
})
export type IndexStateView = Static<typeof IndexStateView>
