// v2 views of search results.
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { PACK_LOADER, PACK_LOADERS_FIELD } from '../catalogue/pack-loaders.ts'
import { mainType, ProjectTypeView, shownType } from '../catalogue/project-types.ts'
import { SideView, toSides } from '../catalogue/sides.ts'

const Text = Type.String()
const Texts = Type.Array(Text)

const HitV2 = Type.Object(
  {
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
  },
  { title: 'SearchHit' },
)
export type HitV2 = Static<typeof HitV2>

export const SearchResultV2 = Type.Object(
  {
    hits: Type.Array(HitV2),
    offset: Type.Integer({ minimum: 0, description: 'Number of skipped hits' }),
    limit: Type.Integer({ minimum: 1 }),
    total_hits: Type.Integer({ minimum: 0, description: 'Exact number of matching projects' }),
  },
  { title: 'SearchResult' },
)

/** Fields of a v3 hit that the v2 view uses. */
export type HitV3 = {
  version_id: string | null
  project_id: string
  project_types: string[]
  slug: string | null
  author: string
  author_id: string
  organization: string | null
  organization_id: string | null
  name: string
  summary: string
  categories: string[]
  display_categories: string[]
  loaders: string[]
  downloads: number
  follows: number
  icon_url: string | null
  date_created: string
  date_modified: string
  license: string
  gallery: string[]
  featured_gallery: string | null
  color: number | null
  project_loader_fields: Record<string, string[] | undefined>
}

export function toHitV2(hit: HitV3): HitV2 {
  const fields = hit.project_loader_fields
  const type = mainType(hit.project_types)
  const loaders = [...hit.loaders, ...(fields[PACK_LOADERS_FIELD] ?? [])]
  const withLoaders = (names: readonly string[]): string[] =>
    [...new Set([...names, ...loaders])].filter((name) => name !== PACK_LOADER).sort()
  return {
    project_id: hit.project_id,
    project_type: shownType(type),
    all_project_types: hit.project_types,
    slug: hit.slug,
    author: hit.author,
    author_id: hit.author_id,
    organization: hit.organization,
    organization_id: hit.organization_id,
    title: hit.name,
    description: hit.summary,
    categories: withLoaders(hit.categories),
    display_categories: withLoaders(hit.display_categories),
    versions: fields['game_versions'] ?? [],
    downloads: hit.downloads,
    follows: hit.follows,
    icon_url: hit.icon_url ?? '',
    date_created: hit.date_created,
    date_modified: hit.date_modified,
    latest_version: hit.version_id ?? '',
    license: hit.license,
    ...toSides(type, fields['environment']?.[0]),
    environment: fields['environment'] ?? [],
    disclosure_types: [],
    gallery: hit.gallery,
    featured_gallery: hit.featured_gallery,
    color: hit.color,
  }
}
