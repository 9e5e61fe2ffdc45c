// The reviewed state of projects, versions and users: everything that moderators compare later.
import { sql } from 'kysely'

export type ImageState = {
  id: string
  url: string
  name: string | null
  description: string | null
  featured: boolean
  ordering: number
  /** Missing without a video, as in states from before there were videos. */
  video?: string
}

export type FileState = { id: string; filename: string; size: number }

export type VersionState = {
  id: string
  number: string
  name: string
  channel: string
  status: string
  loaders: string[]
  game_versions: string[]
  published: string
  files: FileState[]
}

export type ProjectState = {
  name: string
  slug: string
  summary: string
  description: string
  license: string
  license_url: string | null
  categories: string[]
  additional_categories: string[]
  /** Missing in snapshots of former releases. */
  other_names?: string[]
  links: Record<string, string>
  /** Keys of images in the file store. */
  icon: string | null
  gallery: ImageState[]
  /** Newest first. */
  versions: VersionState[]
}

export type UserState = { username: string; bio: string | null; avatar: string | null }

const FILES = sql`(select coalesce(jsonb_agg(jsonb_build_object('id', file.id, 'filename', file.filename,
    'size', file.size_bytes) order by file.is_primary desc, file.filename), '[]')
  from file where file.version_id = version.id)`

/** SQL expression: the state of `version`, as JSON. */
export const VERSION_STATE = sql<VersionState>`jsonb_build_object('id', version.id, 'number', version.version_number,
  'name', version.name, 'channel', version.version_type, 'status', version.status, 'loaders', version.loaders,
  'game_versions', coalesce(version.fields -> 'game_versions', '[]'), 'published', version.date_published,
  'files', ${FILES})`

const GALLERY = sql`(select coalesce(jsonb_agg(jsonb_build_object('id', id, 'url', url, 'name', name,
    'description', description, 'featured', featured, 'ordering', ordering)
    || case when video is null then '{}' else jsonb_build_object('video', video) end order by ordering, created, id), '[]')
  from gallery_item where gallery_item.project_id = project.id)`

/** Unfinished uploads have no number yet, and only members see them. */
const VERSIONS = sql`(select coalesce(jsonb_agg(${VERSION_STATE} order by version.date_published desc, version.id), '[]')
  from version where version.project_id = project.id and not version.is_new_draft)`

/** SQL expression: the state of `project`, as JSON. */
export const PROJECT_STATE = sql<ProjectState>`jsonb_build_object('name', project.name, 'slug', project.slug,
  'summary', project.summary, 'description', project.description, 'license', project.license,
  'license_url', project.license_url, 'categories', project.categories,
  'additional_categories', project.additional_categories, 'other_names', project.other_names, 'links', project.link_urls, 'icon', project.icon_url,
  'gallery', ${GALLERY}, 'versions', ${VERSIONS})`

/** SQL expression: the state of `account`, as JSON. */
export const USER_STATE = sql<UserState>`jsonb_build_object('username', account.username, 'bio', account.bio,
  'avatar', account.avatar_url)`
