// The routes of all feeds. Each exists in both formats.

import type { Db } from '#platform/db/db.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Pages } from '#web/kit/pages.ts'
import { listPath, offeredTypes, projectSegments } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { Feed } from './feed.ts'
import {
  collectionSubject,
  loadListFeed,
  organizationSubject,
  projectsOf,
  type Subject,
  userSubject,
} from './project-feeds.ts'
import { followsSubject, projectSubject, releasesOf, searchSubject } from './release-feeds.ts'
import { sendFeed } from './send-feed.ts'

export function feedPages(pages: Pages, taxonomy: Taxonomy): void {
  let instance: ReturnType<typeof getInstance> | undefined
  for (const format of ['atom', 'json'] as const) {
    const feed = (path: string, load: (request: PageRequest) => Promise<Feed>) =>
      pages.open('GET', `${path}.${format}`, 'siteFeed', async (request) => {
        const content = await load(request)
        instance ??= getInstance(request.deps.db)
        return sendFeed(request, content, { format, instance: await instance })
      })
    const releases = (path: string, load: (request: PageRequest) => Promise<Subject>) =>
      feed(path, async (request) => releasesOf(request, await load(request)))
    const projectsAndReleases = (path: string, load: (request: PageRequest) => Promise<Subject>) => {
      feed(path, async (request) => projectsOf(request, await load(request)))
      releases(`${path}/releases`, load)
    }
    for (const type of [undefined, ...offeredTypes(taxonomy)]) {
      feed(listPath(type), (request) => loadListFeed(request, type))
      releases(`${listPath(type)}/releases`, (request) => searchSubject(request, type))
    }
    for (const segment of projectSegments(taxonomy)) releases(`/${segment}/:slug/versions`, projectSubject)
    projectsAndReleases('/user/:name', userSubject)
    projectsAndReleases('/organization/:name', organizationSubject)
    projectsAndReleases('/collection/:id', collectionSubject)
    feed('/feed/:secret', async (request) => {
      const follows = await releasesOf({ ...request, viewer: null }, await followsSubject(request))
      return { ...follows, isSecret: true }
    })
  }
}

/** Returns the identity of the instance, which never changes. */
function getInstance(db: Db): Promise<{ id: string; created: Date }> {
  return db.selectFrom('instance').select(['id', 'created']).executeTakeFirstOrThrow()
}
