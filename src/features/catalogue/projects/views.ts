// Response schema of a project. Everyone who can see a project gets the same response.
import Type, { type Static } from 'typebox'
import { OriginView, originProperty } from '#features/basics/access/origin.ts'
import { copyKey, type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { NamedObject, Nullable, Revision, Timestamp } from '#lib/schema/schema-parts.ts'
import { licenseName } from '#taxonomy/licenses.ts'
import { PROJECT_STATUSES, REQUESTABLE_STATUSES } from '#taxonomy/project-status.ts'
import { fieldsOf, gamesOf, projectTypesOf, sortFieldValues, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { GalleryRow, ProjectReadRow } from './queries.ts'

const LinkView = NamedObject('ProjectLink', { platform: Type.String(), donation: Type.Boolean(), url: Type.String() })

const ImageSizeView = NamedObject('PictureSize', {
  url: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
})

const GalleryItemView = NamedObject('GalleryItem', {
  url: Type.String({ description: 'URL of a copy scaled for display' }),
  raw_url: Type.String({ description: 'URL of the image in full size' }),
  width: Nullable(Type.Integer({ minimum: 1, description: 'Width of the full-size image, in pixels' })),
  height: Nullable(Type.Integer({ minimum: 1, description: 'Height of the full-size image, in pixels' })),
  sizes: Type.Array(ImageSizeView, {
    description: 'Copies that are 350, 700 and 1400 pixels wide, or as wide as a narrower image; narrowest first',
  }),
  featured: Type.Boolean(),
  name: Nullable(Type.String()),
  title: Nullable(Type.String({ description: 'Alias of `name`' })),
  description: Nullable(Type.String()),
  created: Timestamp,
  ordering: Type.Integer(),
  video: Nullable(
    Type.String({ description: 'Page of the video on YouTube or Vimeo that the image is the preview of' }),
  ),
})

export const ProjectFields = Type.Array(Type.Unknown(), {
  description: 'Loader field → its distinct values in listed and archived versions',
})

export const ProjectView = Type.Object(
  {
    id: Type.String(),
    revision: Revision('project'),
    slug: Type.String(),
    project_types: Type.Array(Type.String(), {
      description:
        'Project types, derived from the loaders of its versions; without versions, the type that was chosen',
    }),
    games: Type.Array(Type.String(), { description: 'Games, derived from the loaders of its versions' }),
    team_id: Type.String(),
    organization: Nullable(Type.String({ description: 'Alias of `organization_id`' })),
    organization_id: Nullable(Type.String()),
    name: Type.String(),
    summary: Type.String(),
    description: Type.String({ description: 'Markdown' }),
    published: Timestamp,
    updated: Timestamp,
    approved: Nullable(Timestamp),
    queued: Nullable(
      Type.String({ format: 'date-time', description: 'When the project was last submitted for review' }),
    ),
    scheduled_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'When the scheduled project takes the status `requested_status`',
      }),
    ),
    status: Type.Enum([...PROJECT_STATUSES]),
    requested_status: Nullable(
      Type.Enum([...REQUESTABLE_STATUSES], {
        description: 'Status that the project takes after the review or at `scheduled_at`',
      }),
    ),
    moderator_message: Nullable(Type.Object({ message: Type.String(), body: Nullable(Type.String()) })),
    license: Type.Object({
      id: Type.String({ description: 'SPDX expression' }),
      name: Type.String(),
      url: Nullable(Type.String()),
    }),
    downloads: Type.Integer(),
    followers: Type.Integer(),
    categories: Type.Array(Type.String()),
    additional_categories: Type.Array(Type.String(), {
      description: 'Secondary categories, which search also matches',
    }),
    loaders: Type.Array(Type.String()),
    game_versions: Type.Optional(
      Type.Array(Type.String(), { description: 'Game versions of listed and archived versions, oldest first' }),
    ),
    environment: Type.Optional(
      Type.Array(Type.String(), { description: 'Environments of listed and archived versions' }),
    ),
    versions: Type.Array(Type.String(), { description: 'IDs of listed and archived versions, oldest first' }),
    icon_url: Nullable(Type.String()),
    raw_icon_url: Nullable(Type.String({ description: 'URL of the icon in full size' })),
    link_urls: Type.Record(Type.String(), LinkView, { description: 'Platform name → link' }),
    gallery: Type.Array(GalleryItemView),
    color: Nullable(Type.Integer({ description: 'Main colour of the icon, as RGB' })),
    thread_id: Nullable(Type.String({ description: 'ID of the thread between members and moderators' })),
    monetization_status: Type.Enum(['monetized', 'demonetized', 'force-demonetized']),
    public_statistics: Type.Boolean({ description: 'Whether everyone can see the breakdown of its downloads' }),
    other_names: Type.Array(Type.String(), { description: 'Other names, by which the search finds it' }),
    version_order: Type.Enum(['date', 'number'], { description: 'Order that makes a version the newest' }),
    license_decided: Type.Boolean({
      description: 'Whether the licence was chosen. If false, the project cannot be submitted for review',
    }),
    origin: Type.Optional(OriginView),
    side_types_migration_review_status: Type.Enum(['reviewed', 'pending'], {
      description: 'Always `reviewed`; kept for existing clients. Publishers set the environments of each version',
    }),
  },
  { title: 'Project', additionalProperties: ProjectFields },
)
export type ProjectView = Static<typeof ProjectView>

export const ProjectCheckView = Type.Object({ id: Type.String() })

/** Returns the view of a project. Array loader fields without a value are empty arrays. */
export function toProjectView(
  row: ProjectReadRow,
  { taxonomy, config }: { taxonomy: Taxonomy; config: FilesConfig },
): ProjectView {
  const loaders = (row.loaders ?? []).sort()
  return {
    ...aggregatedFields(row, loaders, taxonomy),
    id: row.id,
    revision: row.revision,
    slug: row.slug,
    project_types: projectTypesOf(taxonomy, loaders, row.draft_type),
    games: gamesOf(taxonomy, loaders),
    team_id: row.team_id,
    organization: row.organization_id,
    organization_id: row.organization_id,
    name: row.name,
    summary: row.summary,
    description: row.description,
    published: row.published.toISOString(),
    updated: row.updated.toISOString(),
    approved: row.approved?.toISOString() ?? null,
    queued: row.queued?.toISOString() ?? null,
    scheduled_at: row.scheduled_at?.toISOString() ?? null,
    status: row.status,
    requested_status: row.requested_status,
    moderator_message:
      row.moderation_message === null ? null : { message: row.moderation_message, body: row.moderation_message_body },
    license: { id: row.license, name: licenseName(row.license, taxonomy.licenses), url: row.license_url },
    downloads: row.downloads,
    followers: row.followers,
    categories: row.categories.toSorted(),
    additional_categories: row.additional_categories.toSorted(),
    loaders,
    versions: row.version_ids ?? [],
    icon_url: imageUrl(config, row.icon_url),
    raw_icon_url: imageUrl(config, row.raw_icon_url),
    link_urls: linkViews(row.link_urls as Record<string, string>, taxonomy),
    gallery: row.gallery.map((item) => toGalleryItemView(item, config)),
    color: row.color,
    thread_id: row.thread_id,
    monetization_status: row.monetization_status,
    public_statistics: row.public_statistics,
    other_names: row.other_names,
    version_order: row.version_order as 'date' | 'number',
    license_decided: row.license_decided,
    ...originProperty(row),
    side_types_migration_review_status: 'reviewed',
  }
}

function toGalleryItemView({ copy_widths, ...item }: GalleryRow, config: FilesConfig): Static<typeof GalleryItemView> {
  const { width, height, name, created } = item
  const [url, raw_url] = [imageUrl(config, item.url), imageUrl(config, item.raw_url)]
  const sizes =
    width === null || height === null
      ? []
      : copy_widths.map((madeFor) => {
          const shown = Math.min(madeFor, width)
          return {
            url: imageUrl(config, copyKey(item.raw_url, madeFor)),
            width: shown,
            height: Math.max(1, Math.round((height * shown) / width)),
          }
        })
  return { ...item, url, raw_url, sizes, title: name, created: new Date(created).toISOString() }
}

type FieldValues = Record<string, unknown[]> & Pick<ProjectView, 'game_versions' | 'environment'>

function aggregatedFields(row: ProjectReadRow, loaders: string[], taxonomy: Taxonomy): FieldValues {
  const fields: FieldValues = {}
  for (const name of fieldsOf(taxonomy, loaders)) {
    const values = row.field_values?.[name]
    const field = taxonomy.fields.get(name)
    if (field?.enumValues !== undefined) fields[name] = sortFieldValues(taxonomy, name, (values ?? []) as string[])
    else if (values !== undefined) fields[name] = values
    else if (field?.type.startsWith('array')) fields[name] = []
  }
  return fields
}

function linkViews(links: Record<string, string>, taxonomy: Taxonomy): ProjectView['link_urls'] {
  return Object.fromEntries(
    Object.entries(links)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([platform, url]) => [
        platform,
        { platform, donation: taxonomy.linkPlatforms.get(platform)?.donation ?? false, url },
      ]),
  )
}
