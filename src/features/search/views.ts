// The wire shapes of search (facts/catalogue.md 1.24). Answers come from the index as bytes; the schemas describe them.
import Type from 'typebox'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import { SORTS } from '#search-index/search-index.ts'

/** As long as a body may be: the filter's own limit is the parser's, which names the position. */
const FILTER_LENGTH_MAX = 2_097_152
const QUERY_LENGTH_MAX = 1024
const FACETS_MAX = 1024
/** The two last are names that older clients use. */
const INDEXES = ['', ...SORTS, 'date_created', 'date_modified']

const about = {
  query: 'Words, in names, summaries, slugs and authors; empty finds everything',
  limit: 'Hits on a page, 10 unless given',
  offset: 'Hits skipped, exactly',
  index: `The order: ${INDEXES.slice(1).join(', ')}; relevance unless given`,
  new_filters: 'A filter, such as `categories IN [magic, mobs] AND downloads > 1000`',
  facets:
    'Older form of a filter: an array of arrays of `field:value`, encoded as a string; the outer one is AND, as in ' +
    '`[["project_types:mod"],["categories:magic","categories:mobs"]]`',
  filters: 'Older name of `new_filters`',
  version: 'A further filter, joined by AND',
}

const Filter = (description: string) => Type.Optional(Type.String({ maxLength: FILTER_LENGTH_MAX, description }))
const Limit = Type.Integer({ minimum: 1, maximum: 100, description: about.limit })
const Offset = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: about.offset })

export const SearchQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: QUERY_LENGTH_MAX, description: about.query })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
  index: Type.Optional(Type.String({ maxLength: 64, description: about.index })),
  new_filters: Filter(about.new_filters),
  facets: Filter(about.facets),
  filters: Filter(about.filters),
  version: Filter(about.version),
})

const NumberText = Type.String({ maxLength: 20 })
const Text = (maxLength: number, description: string) =>
  Type.Optional(Nullable(Type.String({ maxLength, description })))

export const SearchBody = Type.Object(
  {
    query: Text(QUERY_LENGTH_MAX, about.query),
    limit: Type.Optional(Type.Union([Limit, NumberText, Type.Null()])),
    offset: Type.Optional(Type.Union([Offset, NumberText, Type.Null()])),
    index: Type.Optional(Nullable(Type.Enum(INDEXES, { description: about.index }))),
    new_filters: Text(FILTER_LENGTH_MAX, about.new_filters),
    facets: Type.Optional(
      Type.Union([
        Type.String({ maxLength: FILTER_LENGTH_MAX, description: about.facets }),
        Type.Array(Type.Unknown(), { maxItems: FACETS_MAX, description: 'The same as an array' }),
        Type.Null(),
      ]),
    ),
    filters: Text(FILTER_LENGTH_MAX, about.filters),
    version: Text(FILTER_LENGTH_MAX, about.version),
  },
  { title: 'SearchRequest' },
)

const Texts = Type.Array(Type.String())
const Ids = Type.Array(Type.String())

const SearchHit = Type.Object(
  {
    version_id: Nullable(Type.String({ description: 'The newest version that the filters on versions fit' })),
    latest_version: Nullable(Type.String({ description: 'The same as `version_id`' })),
    project_id: Type.String(),
    project_types: Type.Array(Type.String(), { description: 'Of all versions' }),
    all_project_types: Type.Array(Type.String(), { description: 'The same as `project_types`' }),
    slug: Nullable(Type.String()),
    author: Type.String({ description: "Username of the owner, or of the organization's owner" }),
    author_id: Type.String(),
    organization: Nullable(Type.String({ description: 'Name of the owning organization' })),
    organization_id: Nullable(Type.String()),
    name: Type.String(),
    summary: Type.String(),
    categories: Type.Array(Type.String(), { description: 'All categories, and the loaders of the versions' }),
    display_categories: Texts,
    downloads: Type.Integer(),
    follows: Type.Integer(),
    icon_url: Nullable(Type.String()),
    date_created: Timestamp,
    date_modified: Timestamp,
    license: Type.String({ description: 'The first licence of the expression' }),
    gallery: Type.Array(Type.String(), { description: 'Addresses of the pictures, without the featured one' }),
    featured_gallery: Nullable(Type.String()),
    color: Nullable(Type.Integer({ description: 'RGB, of the icon' })),
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
    client_side: Texts,
    server_side: Texts,
  },
  {
    title: 'SearchHit',
    additionalProperties: Type.Array(Type.String(), { description: 'A loader field: its values over all versions' }),
  },
)

export const SearchResult = Type.Object(
  {
    hits: Type.Array(SearchHit),
    page: Type.Integer({ minimum: 1, description: 'From 1' }),
    hits_per_page: Type.Integer({ minimum: 1 }),
    total_hits: Type.Integer({ minimum: 0, description: 'Exact' }),
  },
  { title: 'SearchResult' },
)
