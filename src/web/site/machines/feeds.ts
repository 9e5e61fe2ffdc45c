// Feeds of lists, versions, users, organizations and collections: Atom (RFC 4287) and JSON Feed 1.1.

import type { FastifyReply } from 'fastify'
import { getProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import { listCollections } from '#features/community/collections/queries.ts'
import { getOrganization } from '#features/community/organizations/organization-cache.ts'
import { listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { escapeText } from '#platform/html/html.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { NO_SETUP } from '#web/kit/cookies.ts'
import type { Pages } from '#web/kit/pages.ts'
import {
  collectionPath,
  listPath,
  offeredTypes,
  organizationPath,
  type ProjectType,
  projectPath,
  projectSegments,
  userPath,
  versionPath,
} from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { filterOf, findHits } from '../lists/list-query.ts'
import { listUrl, readListRequest } from '../lists/list-request.ts'
import { listTitle } from '../lists/list-view.ts'
import { type ProjectRow, rowOfHit, rowOfProject, versionOf, viewOf } from '../lists/rows.ts'
import { sendDocument } from './send-document.ts'

type Entry = { id: string; path: string; title: string; text: string; at: string; by?: string }
type Feed = { title: string; path: string; entries: Entry[] }

/** Registers each feed in both formats. */
export function feedPages(pages: Pages, taxonomy: Taxonomy): void {
  for (const format of ['atom', 'json'] as const) {
    const feed = (path: string, load: (request: PageRequest) => Promise<Feed>) =>
      pages.open('GET', `${path}.${format}`, 'siteFeed', async (request) =>
        sendFeed(request, await load(request), format),
      )
    for (const type of [undefined, ...offeredTypes(taxonomy)])
      feed(listPath(type), (request) => loadListFeed(request, type))
    for (const segment of projectSegments(taxonomy)) feed(`/${segment}/:slug/versions`, loadVersionsFeed)
    feed('/user/:name', loadUserFeed)
    feed('/organization/:name', loadOrganizationFeed)
    feed('/collection/:id', loadCollectionFeed)
  }
}

/** Maximum number of entries per feed. */
const ENTRIES_MAX = 50

const entryOf = (row: ProjectRow): Entry => ({
  id: row.id,
  path: row.path,
  title: row.name,
  text: row.summary,
  at: row.updated,
  ...(row.by === undefined ? {} : { by: row.by.name }),
})

/** Ignores the setup, because feed readers have no cookies. */
async function loadListFeed(request: PageRequest, type: ProjectType | undefined): Promise<Feed> {
  const { deps, page } = request
  const list = { ...readListRequest({ ...request, setup: NO_SETUP }, type), page: 1 }
  const sort = request.query('sort') === '' ? 'newest' : list.sort
  const filter = filterOf(list, { now: deps.now(), taxonomy: deps.taxonomy })
  const { hits, total } = await findHits(deps, { ...list, sort, caller: callerOf(request.req) }, filter, ENTRIES_MAX)
  return {
    title: listTitle(page.language, list, total),
    path: listUrl(list),
    entries: hits.map(rowOfHit).map(entryOf),
  }
}

async function loadVersionsFeed({ deps, viewer, param, page }: PageRequest): Promise<Feed> {
  const project = viewOf(await getProject(deps, viewer, param('slug')))
  const path = projectPath(project)
  const versions = await listCachedVersions(deps, await listVersionIdsFor(deps, project.id, { limit: ENTRIES_MAX }))
  const entries = versions.map(versionOf).map((version) => ({
    id: version.id,
    path: versionPath(path, version),
    title: `${project.name} ${version.version_number}`,
    text: version.changelog ?? '',
    at: version.date_published,
  }))
  return { title: page.language.t('site.title.versions', { name: project.name }), path: `${path}/versions`, entries }
}

async function loadUserFeed(request: PageRequest): Promise<Feed> {
  const { deps, viewer, param } = request
  const { id, username } = await getCachedUser(deps, param('name'))
  const entries = await loadEntries(request, await listProjectIdsOf(deps.db, viewer, id))
  return { title: username, path: userPath(username), entries }
}

async function loadOrganizationFeed(request: PageRequest): Promise<Feed> {
  const { deps, viewer, param } = request
  const { id, slug } = await getOrganization(deps, param('name'))
  const entries = await loadEntries(request, await listOrganizationProjectIds(deps.db, viewer, [id]))
  return { title: slug, path: organizationPath(slug), entries }
}

async function loadCollectionFeed(request: PageRequest): Promise<Feed> {
  const { deps, viewer, param } = request
  const id = param('id')
  const [row] = isIdForm(id) ? await listCollections(deps.db, viewer, [id]) : []
  if (row === undefined) throw notFound('collection')
  return { title: row.name, path: collectionPath(id), entries: await loadEntries(request, row.projects) }
}

/** Returns the entries of the projects that the viewer can see, newest first. */
async function loadEntries({ deps, viewer }: PageRequest, ids: readonly string[]): Promise<Entry[]> {
  const rows = (await listVisibleProjects(deps, viewer, ids)).map(rowOfProject)
  rows.sort((a, b) => (a.updated < b.updated ? 1 : -1))
  return rows.slice(0, ENTRIES_MAX).map(entryOf)
}

function sendFeed(request: PageRequest, feed: Feed, format: 'atom' | 'json'): FastifyReply {
  const { page, viewer, req } = request
  const [updated = '1970-01-01T00:00:00.000Z'] = feed.entries
    .map(({ at }) => at)
    .sort()
    .reverse()
  const self = `${page.site.url}${req.raw.url ?? ''}`
  return sendDocument(request, {
    type: format === 'json' ? 'application/feed+json; charset=utf-8' : 'application/atom+xml; charset=utf-8',
    body: format === 'json' ? jsonFeed(page, feed, self) : atomFeed(page, feed, { self, updated }),
    cacheControl: viewer === null ? 'public, max-age=0, must-revalidate' : 'private, no-cache',
    modifiedAt: Date.parse(updated),
    vary: 'accept-language, cookie',
  })
}

function jsonFeed({ site: { url } }: PageContext, feed: Feed, self: string): string {
  const items = feed.entries.map(({ id, path, title, text, at, by }) => ({
    id,
    url: `${url}${path}`,
    title,
    content_text: text,
    date_published: at,
    ...(by === undefined ? {} : { authors: [{ name: by }] }),
  }))
  const version = 'https://jsonfeed.org/version/1.1'
  return JSON.stringify({ version, title: feed.title, home_page_url: `${url}${feed.path}`, feed_url: self, items })
}

function atomFeed({ site }: PageContext, feed: Feed, { self, updated }: { self: string; updated: string }): string {
  const { url, name } = site
  const entries = feed.entries.map(
    ({ id, path, title, text, at, by }) =>
      `<entry><id>${xml(`${url}/#${id}`)}</id><title>${xml(title)}</title><link href="${xml(`${url}${path}`)}"/><updated>${at}</updated><author><name>${xml(by ?? name)}</name></author><summary>${xml(text)}</summary></entry>\n`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>${xml(`${url}${feed.path}`)}</id><title>${xml(feed.title)}</title><link rel="self" href="${xml(self)}"/><link href="${xml(`${url}${feed.path}`)}"/><updated>${updated}</updated>\n${entries.join('')}</feed>\n`
}

/** Escapes text for XML. Removes the control characters that XML cannot contain. */
export function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
  return escapeText(text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ''))
}
