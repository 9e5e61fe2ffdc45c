// Feeds of releases: of a project, a user, an organization, a collection, a search, and the projects that a user follows.

import { findFollowFeedOwner } from '#features/catalogue/follows/follow-feed.ts'
import { listFollowedIds } from '#features/catalogue/follows/queries.ts'
import { getProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listReleases } from '#features/catalogue/versions/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { PATHS, type ProjectType, projectPath, userPath, versionPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fieldTexts } from '../lists/rows.ts'
import { ENTRIES, type Entry, type Feed, pageOf } from './feed.ts'
import { findListed, type Subject } from './project-feeds.ts'

const SUMMARY_LENGTH = 200
/** Projects of a search whose releases are compared, most recently updated first. Newer releases are of these projects. */
const SEARCHED_PROJECTS = 100

/** Returns the releases of the projects of a subject, newest first. */
export async function releasesOf(request: PageRequest, { projectIds, ...about }: Subject): Promise<Feed> {
  const { deps, viewer } = request
  const offset = (pageOf(request) - 1) * ENTRIES
  const ids = await listReleases(deps.db, viewer, projectIds, { offset, limit: ENTRIES + 1 })
  const versions = await listCachedVersions(deps, ids.slice(0, ENTRIES))
  const shown = [...new Set(versions.map(({ project }) => project.id))]
  const views = new Map(
    (await listVisibleProjects(deps, viewer, shown)).map((project) => [project.id, viewOf(project)]),
  )
  const authors = await authorsOf(request, versions.map(viewOf))
  const entries = versions.flatMap((version) => {
    const view = viewOf(version)
    const project = views.get(view.project_id)
    if (project === undefined) return []
    return [{ ...entryOf(view, project), ...authorOf(authors.get(view.author_id)), etag: version.etag }]
  })
  return { ...about, entries, hasMore: ids.length > ENTRIES }
}

type Author = Pick<UserView, 'id' | 'username'>

const authorOf = (user: Author | undefined): Pick<Entry, 'author'> =>
  user === undefined ? {} : { author: { name: user.username, path: userPath(user.username) } }

async function authorsOf({ deps }: PageRequest, versions: readonly VersionView[]): Promise<Map<string, Author>> {
  const ids = [...new Set(versions.map(({ author_id }) => author_id))]
  const users = (await listCachedUsers(deps, ids)).map(viewOf)
  return new Map(users.map((user) => [user.id, user]))
}

function entryOf(
  version: VersionView,
  project: Pick<ProjectView, 'name' | 'slug' | 'project_types' | 'link_urls'>,
): Entry {
  const changelog = version.changelog ?? ''
  const file = version.files.find(({ primary }) => primary)
  return {
    id: version.id,
    kind: 'version',
    path: versionPath(projectPath(project), version),
    title: `${project.name} ${version.version_number}`,
    summary: changelog.length > SUMMARY_LENGTH ? `${changelog.slice(0, SUMMARY_LENGTH).toWellFormed()}…` : changelog,
    markdown: changelog,
    project: { link_urls: project.link_urls },
    published: version.date_published,
    updated: version.date_published,
    tags: [...version.loaders, ...fieldTexts(version, 'game_versions')],
    ...(file === undefined
      ? {}
      : { file: { url: file.url, filename: file.filename, size: file.size, type: typeOf(file.filename) } }),
    etag: '',
  }
}

function typeOf(filename: string): string {
  if (filename.endsWith('.jar')) return 'application/java-archive'
  return filename.endsWith('.zip') ? 'application/zip' : 'application/octet-stream'
}

/** @throws ApiError 404 */
export async function projectSubject({ deps, viewer, param, page }: PageRequest): Promise<Subject> {
  const project = viewOf(await getProject(deps, viewer, param('slug')))
  return {
    title: page.language.t('site.title.versions', { name: project.name }),
    description: project.summary,
    path: `${projectPath(project)}/versions`,
    changed: project.updated,
    projectIds: [project.id],
  }
}

/** Returns the subject of a search, which takes the same query as its page. */
export async function searchSubject(request: PageRequest, type: ProjectType | undefined): Promise<Subject> {
  const { hits, ...about } = await findListed(request, { type, sort: 'updated', limit: SEARCHED_PROJECTS, page: 1 })
  const title = request.page.language.t('site.title.versions', { name: about.title })
  return { title, path: about.path, projectIds: hits.map(({ project_id }) => project_id) }
}

/** The feed of followed projects contains only what everyone can see. @throws ApiError 404 for an unknown secret. */
export async function followsSubject({ deps, param, page }: PageRequest): Promise<Subject> {
  const owner = await findFollowFeedOwner(deps, param('secret'))
  if (owner === undefined) throw notFound('feed')
  return {
    title: page.language.t('site.feed.follows', { name: owner.username }),
    path: PATHS.follows,
    projectIds: await listFollowedIds(deps.db, owner.id),
  }
}
