// The page of a list: projects of one type, or the results of a search.

import type { FastifyReply } from 'fastify'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { feedLinks, type ProjectType } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { type FoundList, queryList } from './list-query.ts'
import { isPlain, listUrl, PER_PAGE, readListRequest } from './list-request.ts'
import { listTitle, listView } from './list-view.ts'
import { loadRowDetails } from './row-details.ts'
import { type ProjectRow, rowOfHit } from './rows.ts'

export async function showList(request: PageRequest, type: ProjectType | undefined): Promise<FastifyReply> {
  const list = readListRequest(request, type)
  const { results, parse } = await queryList(request.deps, list, callerOf(request.req))
  return request.showResults(results, async () => {
    const found = parse()
    const rows = await loadRowDetails(request, found.hits.map(rowOfHit), { weeks: list.view === 'rows' })
    return listPage(request, found, rows)
  })
}

/** Renders the page, with status 404 after the last page of the list. */
function listPage(request: PageRequest, found: FoundList, rows: readonly ProjectRow[]): ShownPage {
  const { page } = request
  const { list, total } = found
  const lastPage = Math.max(1, Math.ceil(total / PER_PAGE))
  const isBeyond = list.page > lastPage
  const title = listTitle(page.language, list, total)
  return {
    status: isBeyond ? 404 : 200,
    title,
    description: page.language.t('site.list.description', { name: page.site.name }),
    canonical: listUrl({ ...list, all: [], ignoresSetup: false }, { page: list.page }),
    isUnlisted: !isPlain(list) || isBeyond,
    className: 'page browse',
    openGraph: { type: 'website' },
    feeds: feedLinks(listUrl(list), page.language.t('site.feed.list')),
    ...(list.page > 1 && !isBeyond ? { previous: listUrl(list, { page: list.page - 1 }) } : {}),
    ...(list.page < lastPage ? { next: listUrl(list, { page: list.page + 1 }) } : {}),
    body: listView(request, { ...found, rows, title, lastPage }),
  }
}
