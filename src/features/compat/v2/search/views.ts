// v2 views of search results.
import Type, { type Static } from 'typebox'
import { PACK_LOADERS_FIELD } from '#features/catalogue/versions/files/pack-loaders.ts'
import type { SearchHit } from '#features/reading/search/views.ts'
import { keepKnownKeys } from '#lib/schema/known-keys.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { Side } from '#ports/search-index/sides.ts'
import { PACK_LOADER } from '../catalogue/pack-loaders.ts'
import { ProjectTypeView, shownType } from '../catalogue/project-types.ts'
import { SideView } from '../catalogue/sides.ts'

const Text = Type.String()
const Texts = Type.Array(Text)

const HitV2 = NamedObject('SearchHit', {
  project_id: Text,
  project_type: ProjectTypeView,
  all_project_types: Type.Array(Text, { description: 'All project types, as in the v3 API' }),
  slug: Nullable(Text),
  author: Type.String({ description: "Username of the owner, or of the organization's owner" }),
  author_id: Nullable(Text),
  organization: Nullable(Type.String({ description: 'Name of the owning organization' })),
  organization_id: Nullable(Text),
  title: Text,
  description: Type.String({ description: 'Summary' }),
  categories: Type.Array(Text, { description: 'All categories, and the loaders of the versions' }),
  display_categories: Type.Array(Text, { description: 'Categories for display, and the loaders of the versions' }),
  versions: Type.Array(Text, { description: 'Game versions' }),
  downloads: Type.Integer(),
  follows: Type.Integer(),
  icon_url: Type.String({ description: 'Empty if the project has no icon' }),
  date_created: Timestamp,
  date_modified: Timestamp,
  latest_version: Type.String({ description: 'ID of the newest version that matches the filters, or empty' }),
  license: Type.String({ description: 'First licence of the SPDX expression' }),
  client_side: SideView,
  server_side: SideView,
  environment: Texts,
  disclosure_types: Texts,
  gallery: Type.Array(Text, { description: 'URLs of the images, without the featured image' }),
  featured_gallery: Nullable(Text),
  color: Nullable(Type.Integer({ description: 'RGB colour of the icon' })),
})
type HitV2 = Static<typeof HitV2>

export const SearchResultV2 = NamedObject('SearchResult', {
  hits: Type.Array(HitV2),
  offset: Type.Integer({ minimum: 0, description: 'Number of skipped hits' }),
  limit: Type.Integer({ minimum: 1 }),
  total_hits: Type.Integer({ minimum: 0, description: 'Exact number of matching projects' }),
})

export function toHitV2(hit: SearchHit): HitV2 {
  const fields: Partial<typeof hit.project_loader_fields> = hit.project_loader_fields
  const loaders = [...hit.loaders, ...(fields[PACK_LOADERS_FIELD] ?? [])]
  const withLoaders = (names: readonly string[]): string[] =>
    [...new Set([...names, ...loaders])].filter((name) => name !== PACK_LOADER).sort()
  return keepKnownKeys<HitV2>(HitV2, {
    ...hit,
    project_type: shownType(hit.project_types),
    all_project_types: hit.project_types,
    title: hit.name,
    description: hit.summary,
    categories: withLoaders(hit.categories),
    display_categories: withLoaders(hit.display_categories),
    versions: fields['game_versions'] ?? [],
    icon_url: hit.icon_url ?? '',
    latest_version: hit.version_id ?? '',
    client_side: shownSide(hit.client_side),
    server_side: shownSide(hit.server_side),
    environment: fields['environment'] ?? [],
    disclosure_types: [],
  })
}

/** Returns the only side in the list, which is empty for a project without versions. */
function shownSide([side = 'unknown']: readonly string[]): Side {
  return side as Side
}
