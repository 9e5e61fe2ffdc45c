// The page of an advisory.
import type { FastifyReply } from 'fastify'
import { getVisibleAdvisory } from '#features/catalogue/versions/advisories/get-visible-advisory.ts'
import { advisoryPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { advisoryDetails, advisoryFacts, advisoryHashes, advisoryStatusNote } from './advisory-view.ts'

/** Shows an advisory to everyone, and one that is not published to its author, members of the project and moderators. */
export async function showAdvisory(request: PageRequest): Promise<FastifyReply> {
  const { deps, viewer, page, param, show, t } = request
  const row = await getVisibleAdvisory(deps, viewer, param('id'))
  const time = (at: Date | null): Part => at !== null && exactTime(page.language, at)
  const facts: [string, Part][] = [
    ...(await advisoryFacts(request, row)),
    [t('site.published'), time(row.published)],
    [t('site.advisory.withdrawn'), time(row.retracted)],
    [t('site.advisory.modified'), time(row.modified)],
  ]
  const pairs = facts.flatMap(([name, value]) =>
    value === false || value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`],
  )
  const body = html`<div class="sheet split">
<div class="body parts">
<header><p class="soft">${t('site.advisory')}</p><h1 dir="auto">${row.summary}</h1></header>
${advisoryStatusNote(page, row)}
<section><h2>${t('site.tab.description')}</h2>${await advisoryDetails(request, row)}</section>
<section><h2>${t('site.advisory.files')}</h2><p>${t('site.advisory.advice')}</p>${advisoryHashes(page, row)}</section>
</div>
<aside aria-label="${t('site.details')}"><section class="panel"><h2>${t('site.details')}</h2><dl class="pairs">${pairs}</dl>
<p class="lone"><a class="lone" href="${pathTo(page, `/v3${advisoryPath(row.id)}`)}">${icon(page, 'code')}${t('site.advisory.document')}</a></p></section></aside>
</div>`
  const isPublic = row.status === 'published'
  return show({
    title: row.summary,
    description: row.summary,
    canonical: advisoryPath(row.id),
    isUnlisted: !isPublic,
    openGraph: { type: 'article' },
    className: 'page',
    body,
  })
}
