// Feeds of projects: of lists, users, organizations and collections.

import { sql } from 'kysely'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listUpdatedIds } from '#features/catalogue/projects/queries.ts'
import { type CollectionReadRow, listCollections } from '#features/community/collections/queries.ts'
import { getOrganization } from '#features/community/organizations/organization-cache.ts'
import { listedProjectsOf, listedProjectsOfOrganization } from '#features/people/users/queries.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { IdList } from '#platform/db/db.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { NO_SETUP } from '#web/kit/cookies.ts'
import { collectionPath, organizationPath, type ProjectType, userPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { filterOf, findHits } from '../lists/list-query.ts'
import { type ListRequest, listUrl, readListRequest } from '../lists/list-request.ts'
import { listTitle } from '../lists/list-view.ts'
import { type Hit, type ProjectRow, rowOfHit, rowOfProject } from '../lists/rows.ts'
import { ENTRIES, type Entry, type Feed, pageOf } from './feed.ts'

/** The subject of a feed: its projects and its page. */
export type Subject = Pick<Feed, 'title' | 'description' | 'path' | 'changed'> & { projectIds: IdList }

/** @throws ApiError 404 */
export async function userSubject({ deps, viewer, param }: PageRequest): Promise<Subject> {
  const user = await getCachedUser(deps, param('name'))
  const { username, bio, created } = viewOf(user)
  return {
    title: username,
    ...(bio === null || bio === '' ? {} : { description: bio }),
    path: userPath(username),
    changed: created,
    projectIds: sql`array(${listedProjectsOf(deps.db, viewer, user.id)})`,
  }
}

/** @throws ApiError 404 */
export async function organizationSubject({ deps, viewer, param }: PageRequest): Promise<Subject> {
  const organization = await getOrganization(deps, param('name'))
  const { name, description } = viewOf(organization)
  return {
    title: name,
    description,
    path: organizationPath(organization.slug),
    projectIds: sql`array(${listedProjectsOfOrganization(deps.db, viewer, organization.id)})`,
  }
}

/** @throws ApiError 404 */
export async function collectionSubject({ deps, viewer, param }: PageRequest): Promise<Subject> {
  const id = param('id')
  const [row]: (CollectionReadRow | undefined)[] = isIdForm(id) ? await listCollections(deps.db, viewer, [id]) : []
  if (row === undefined) throw notFound('collection')
  return {
    title: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    path: collectionPath(id),
    changed: row.updated.toISOString(),
    projectIds: row.projects,
  }
}

/** Returns the projects of a subject, most recently updated first. */
export async function projectsOf(request: PageRequest, { projectIds, ...about }: Subject): Promise<Feed> {
  const { deps, viewer } = request
  const offset = (pageOf(request) - 1) * ENTRIES
  const ids = await listUpdatedIds(deps.db, viewer, projectIds, { offset, limit: ENTRIES + 1 })
  const projects = await listVisibleProjects(deps, viewer, ids.slice(0, ENTRIES))
  const entries = projects.map((project) => entryOf(rowOfProject(project), project.etag))
  return { ...about, entries, hasMore: ids.length > ENTRIES }
}

/** Returns the projects of a list. Ignores the setup, because feed readers have no cookies. */
export async function loadListFeed(request: PageRequest, type: ProjectType | undefined): Promise<Feed> {
  const sort = request.query('sort') === '' ? 'newest' : undefined
  const { hits, total, ...about } = await findListed(request, { type, sort, limit: ENTRIES, page: pageOf(request) })
  return {
    ...about,
    entries: hits.map((hit) => entryOf(rowOfHit(hit), '')),
    hasMore: total > pageOf(request) * ENTRIES,
  }
}

/** Searches as the page of the list does. `sort`: default as the query says. */
export async function findListed(
  request: PageRequest,
  wanted: { type: ProjectType | undefined; sort: ListRequest['sort'] | undefined; limit: number; page: number },
): Promise<{ hits: Hit[]; total: number; title: string; path: string }> {
  const { deps, page } = request
  const list = { ...readListRequest({ ...request, setup: NO_SETUP }, wanted.type), page: wanted.page }
  const filter = filterOf(list, { now: deps.now(), taxonomy: deps.taxonomy })
  const query = { ...list, sort: wanted.sort ?? list.sort, caller: callerOf(request.req) }
  const { hits, total } = await findHits(deps, query, filter, wanted.limit)
  return { hits, total, title: listTitle(page.language, list, total), path: listUrl({ ...list, page: 1 }) }
}

function entryOf(row: ProjectRow, etag: string): Entry {
  return {
    id: row.id,
    kind: 'project',
    path: row.path,
    title: row.name,
    summary: row.summary,
    published: row.published ?? row.updated,
    updated: row.updated,
    ...(row.by === undefined ? {} : { author: row.by }),
    tags: [...row.categories, ...row.gameVersions],
    etag,
  }
}
