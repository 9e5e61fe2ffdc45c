// v2 views of projects: other names, a single project type, and sides instead of the environment.
import Type, { type Static } from 'typebox'
import {
  type CachedProject,
  type ProjectReader,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { PACK_LOADERS_FIELD } from '#features/catalogue/versions/files/pack-loaders.ts'
import { keepKnownKeys } from '#lib/schema/known-keys.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { bytesToKeep, JsonEntity } from '#lib/text/json-bytes.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { projectLoaders } from './pack-loaders.ts'
import { ProjectTypeView, shownType } from './project-types.ts'
import { SideView } from './sides.ts'

const Text = Type.String()
const Link = Nullable(Text)
const Texts = Type.Array(Text)

const DonationLink = NamedObject('DonationLink', { id: Text, platform: Text, url: Text })
const GalleryItem = NamedObject('GalleryItem', {
  url: Type.String({ description: 'URL of the scaled image' }),
  raw_url: Type.String({ description: 'URL of the original image' }),
  featured: Type.Boolean(),
  title: Nullable(Text),
  description: Nullable(Text),
  created: Timestamp,
  ordering: Type.Integer(),
})

export const ProjectV2 = NamedObject('Project', {
  id: Text,
  slug: Text,
  project_type: ProjectTypeView,
  team: Text,
  organization: Nullable(Text),
  title: Text,
  description: Type.String({ description: 'Summary' }),
  body: Type.String({ description: 'Description in Markdown' }),
  body_url: Type.Null(),
  published: Timestamp,
  updated: Timestamp,
  approved: Nullable(Timestamp),
  queued: Nullable(Timestamp),
  status: Type.Enum([...PROJECT_STATUSES]),
  requested_status: Nullable(Text),
  moderator_message: Nullable(Type.Object({ message: Text, body: Nullable(Text) })),
  license: Type.Object({ id: Type.String({ description: 'SPDX expression' }), name: Text, url: Link }),
  downloads: Type.Integer(),
  followers: Type.Integer(),
  categories: Texts,
  additional_categories: Texts,
  loaders: Type.Array(Text, { description: 'Loaders of the versions. For a pack: the loaders inside it' }),
  game_versions: Texts,
  environment: Texts,
  versions: Type.Array(Text, { description: 'IDs of listed and archived versions, oldest first' }),
  client_side: SideView,
  server_side: SideView,
  icon_url: Link,
  raw_icon_url: Link,
  issues_url: Link,
  source_url: Link,
  wiki_url: Link,
  discord_url: Link,
  donation_urls: Type.Array(DonationLink),
  gallery: Type.Array(GalleryItem),
  color: Nullable(Type.Integer({ description: 'RGB colour of the icon' })),
  thread_id: Text,
  monetization_status: Type.Enum(['monetized', 'demonetized', 'force-demonetized']),
})
export type ProjectV2 = Static<typeof ProjectV2>

/** Converts a project. `environment` is that of the cached project. */
function toProjectV2(view: ProjectView, environment: string | null): ProjectV2 {
  const fields = view as unknown as Record<string, string[] | undefined>
  const links = view.link_urls
  return keepKnownKeys<ProjectV2>(ProjectV2, {
    ...view,
    project_type: shownType(view.project_types),
    team: view.team_id,
    title: view.name,
    description: view.summary,
    body: view.description,
    body_url: null,
    loaders: projectLoaders(view.loaders, fields[PACK_LOADERS_FIELD]),
    game_versions: fields['game_versions'] ?? [],
    environment: fields['environment'] ?? [],
    ...sidesOf(view.project_types, environment),
    issues_url: links['issues']?.url ?? null,
    source_url: links['source']?.url ?? null,
    wiki_url: links['wiki']?.url ?? null,
    discord_url: links['discord']?.url ?? null,
    donation_urls: toDonationLinks(links),
    thread_id: view.thread_id ?? '',
  })
}

export function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

/** Sorts by platform. */
function toDonationLinks(links: ProjectView['link_urls']): ProjectV2['donation_urls'] {
  return Object.entries(links)
    .filter(([, { donation }]) => donation)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { url }]) => ({ id, platform: capitalised(id), url }))
}

const FORM: DerivedForm<CachedProject, JsonEntity> = {
  derive: ({ bytes, environment }) =>
    new JsonEntity(bytesToKeep(JSON.stringify(toProjectV2(JSON.parse(bytes.toString()), environment)))),
  sizeOf: ({ bytes }) => bytes.length + 200,
}

/** v2 view of a cached project, as bytes. */
export function projectBytes(reader: ProjectReader, project: CachedProject): JsonEntity {
  return projectForm(reader, project, FORM)
}
