// The page of a list: projects of one type, or the results of a search; with types, setup, filters, rows.
import type { FastifyReply } from 'fastify'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { isSet, NO_SETUP, setupFor } from '#web/kit/cookies.ts'
import { feedLinks, feedPath, listPath, type ProjectType } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { Language } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState, liveStatus, note, pager, tabs } from '#web/ui/parts/lists.ts'
import { setupName, TYPE_ICONS, typesName } from '../names.ts'
import { setupForm } from '../setup-form.ts'
import { choiceName, chosenText, filterCounts, filters, hiddenFields, valuesKey } from './list-filters.ts'
import { type FoundList, queryList } from './list-query.ts'
import {
  FACETS,
  hasChoices,
  isPlain,
  type ListRequest,
  listUrl,
  NOTHING_CHOSEN,
  PER_PAGE,
  readListRequest,
  sortsOf,
  VALUES_MAX,
  withoutChoice,
  withType,
} from './list-request.ts'
import { convertOriginalQuery } from './original-query.ts'
import { loadRowDetails, visibleRows } from './row-details.ts'
import { hitGrid, hitList, type ProjectRow, rowOfHit } from './rows.ts'

/** Value of the query key `part` that requests the list without the rest of the page. */
const LIST_PART = 'list'

type ShownList = FoundList & { rows: readonly ProjectRow[]; title: string; lastPage: number }

export async function showList(request: PageRequest, type: ProjectType | undefined): Promise<FastifyReply> {
  const own = convertOriginalQuery(new URL(request.page.address, 'http://local').searchParams, request.deps.taxonomy)
  if (own !== undefined) {
    const converted = { setup: NO_SETUP, query: (name: string) => own.get(name) ?? '', queries: own.getAll.bind(own) }
    const moved = readListRequest(converted, type)
    return request.reply.redirect(pathTo(request.page, listUrl(moved, { page: moved.page })), 301)
  }
  const list = readListRequest(request, type)
  const found = await queryList(request.deps, list, callerOf(request.req))
  const hits = await visibleRows(request, found.hits.map(rowOfHit))
  const rows = await loadRowDetails(request, hits, { weeks: list.view === 'rows' })
  return request.show(listPage(request, found, rows))
}

/** Renders the page, with status 404 after the last page of the list. */
function listPage(request: PageRequest, found: FoundList, rows: readonly ProjectRow[]): ShownPage {
  const { page } = request
  const { list, total } = found
  const lastPage = Math.max(1, Math.ceil(total / PER_PAGE))
  const isBeyond = list.page > lastPage
  const setup = list.type === undefined ? list.setup : setupFor(request.deps.taxonomy, list.setup, [list.type])
  const title = listTitle(page.language, { ...list, setup }, total)
  const shown = { ...found, rows, title, lastPage }
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
    ...(request.query('part') === LIST_PART ? { part: results(request, shown) } : {}),
    body: listView(request, shown),
  }
}

function listView(request: PageRequest, shown: ShownList): Markup {
  const { page, language } = request
  const { list } = shown
  const tab = (type: ProjectType | undefined, count: number) => ({
    href: pathTo(page, listUrl(withType(list, type), { all: [] })),
    label: type === undefined ? language.t('site.types.all') : typesName(language, type),
    icon: type === undefined ? ('grid' as const) : TYPE_ICONS[type],
    count,
    isCurrent: type === list.type,
    without: type === undefined ? ['all', 'view', 'page'] : ['all', 'view', 'page', 'c'],
  })
  const types = [tab(undefined, shown.everything), ...[...shown.types].map(([type, count]) => tab(type, count))]
  return html`<div class="types">${tabs(page, language.t('site.types'), types)}</div>
<section class="facets" aria-label="${language.t('site.filters')}">
${setupForm(request)}
${filters(page, shown)}
</section>
<div class="found">
${liveStatus(page)}
${results(request, shown)}
</div>`
}

/** Renders the part of the page that the script replaces when a visitor changes the list. */
function results({ page, deps, query }: PageRequest, shown: ShownList): Markup {
  const { language } = page
  const { list, rows, lastPage, title } = shown
  const { gameVersion, loader } = list.setup
  const isPart = query('part') === LIST_PART
  const data = {
    'data-part': LIST_PART,
    'data-show': language.t('site.show-found', { count: shown.total }),
    ...(isPart && {
      'data-url': pathTo(page, listUrl(list, { page: list.page })),
      'data-title': `${title} · ${page.site.name}`,
      'data-chosen': chosenText(language, list),
      'data-setup': list.ignoresSetup ? null : `${gameVersion}|${loader}`,
      'data-sort': list.sort,
      'data-values': valuesKey(shown),
      'data-counts': filterCounts(shown),
      'data-types': [shown.everything, ...shown.types.values()].join(' '),
    }),
  }
  const drawRows = list.view === 'grid' ? hitGrid : hitList
  return html`<section class="sheet" id="live" aria-labelledby="found"${attributes(data)}>
${head(page, shown, { hasTools: !isPart })}
${list.isCut && html`<div class="list-note">${note(page, 'warn', html`<p>${language.t('site.list.cut', { count: VALUES_MAX })}</p>`)}</div>`}
${shown.corrected !== undefined && correctionNote(page, list, shown.corrected)}
${rows.length > 0 ? drawRows({ page, taxonomy: deps.taxonomy }, rows) : emptyList(page, shown)}
${list.page <= lastPage && pager(page, { current: list.page, last: lastPage, href: (number) => pathTo(page, listUrl(list, { page: number })) })}
</section>`
}

/** Explains that the hits match another text, with a link to the results for the text as typed. */
function correctionNote(page: PageContext, list: ListRequest, corrected: string): Markup {
  const link = (text: string, changes: Partial<ListRequest>) =>
    html`<a href="${pathTo(page, listUrl(list, { ...changes, text }))}"><bdi>${text}</bdi></a>`
  return html`<div class="list-note"><p role="note">${page.language.rich('site.list.corrected', {
    corrected: link(corrected, {}),
    typed: link(list.text.trim(), { isExact: true }),
  })}</p></div>`
}

/** Returns the title of a list: `1,204 mods for 1.21.4 on Fabric`. */
export function listTitle(language: Language, { type, text, setup }: ListRequest, total: number): string {
  const what = language.t(`site.count.${type ?? 'project'}`, { count: total })
  const named = text.trim() === '' ? what : language.t('site.list.matching', { what, text: text.trim() })
  return isSet(setup) ? language.t('site.list.for', { what: named, setup: setupName(language, setup) }) : named
}

/** Renders the title, the order and the chosen values. The script keeps the tools of the page. */
function head(page: PageContext, { list, title }: ShownList, { hasTools }: { hasTools: boolean }): Markup {
  return html`<div class="results-head">
<h1 id="found">${title}</h1>
${hasTools && tools(page, list)}${chosenValues(page, list)}
</div>`
}

function tools(page: PageContext, list: ListRequest): Markup {
  const { language } = page
  const other = list.view === 'grid' ? 'rows' : 'grid'
  const options = sortsOf(list).map(
    (sort) =>
      html`<option${attributes({ value: sort, selected: sort === list.sort })}>${language.t(`site.sort.${sort}`)}</option>`,
  )
  const link = (of: { href: string; icon: IconName; label: string; keeps?: string; without?: string }) =>
    html`<a${attributes({ class: 'button', href: pathTo(page, of.href), title: of.label, 'data-keep': of.keeps, 'data-without': of.without })}>${icon(page, of.icon)}<span class="vh">${of.label}</span></a>`
  return html`<form class="tools" action="${pathTo(page, listPath(list.type))}" autocomplete="off" data-send>${hiddenFields(list, ['sort'])}<label class="vh" for="sort">${language.t('site.sort')}</label><select id="sort" name="sort">${options}</select><button>${language.t('site.sort.apply')}</button>${link(
    {
      href: listUrl(list, { view: other, page: list.page }),
      icon: other === 'grid' ? 'grid' : 'list',
      label: language.t(`site.view.${other}`),
      keeps: 'view',
      without: '',
    },
  )}${link({ href: feedPath(listUrl(list)), icon: 'rss', label: language.t('site.feed.list'), without: 'page' })}</form>
`
}

function chosenValues(page: PageContext, list: ListRequest): Part {
  const { language } = page
  const remove = html`<span class="vh">${language.t('site.remove')} </span>`
  const chip = (href: string, name: string, isOut: boolean) =>
    html`<a${attributes({ class: isOut && 'no', href: pathTo(page, href) })}>${remove}${name} ${icon(page, 'x')}</a>`
  const choices = FACETS.flatMap((facet) =>
    list.chosen[facet].map((value) =>
      chip(listUrl(withoutChoice(list, facet, value)), choiceName(language, facet, value), value.startsWith('-')),
    ),
  )
  const name = language.t('site.for', { setup: setupName(language, list.setup) })
  const setup = isSet(list.setup) && chip(listUrl(list, { ignoresSetup: true }), name, false)
  const needs = language.t('site.needs', { id: list.dependency })
  const dependency = list.dependency !== '' && chip(listUrl(list, { dependency: '' }), needs, false)
  const all = [setup, dependency, ...choices].filter((each) => each !== false)
  if (all.length === 0) return null
  const bare = listUrl(list, { chosen: NOTHING_CHOSEN, dependency: '' })
  return html`<p class="picked">${all}${hasChoices(list) && html`<a class="clear" href="${pathTo(page, bare)}">${language.t('site.clear')}</a>`}</p>`
}

/** Explains an empty list: which choice to remove, and which types have hits. */
function emptyList(page: PageContext, { list, total, types, removals, lastPage }: ShownList): Markup {
  const { language } = page
  if (total > 0) {
    const text = language.t('site.list.beyond', { count: lastPage })
    const action = html`<p><a class="button" href="${pathTo(page, listUrl(list))}">${language.t('site.list.first')}</a></p>`
    return emptyState(page, { icon: 'search', title: language.t('site.list.no-page'), text, action })
  }
  const drops = removals.map(({ list: other, facet, value, count }) => {
    const name =
      facet === 'setup'
        ? language.t('site.for', { setup: setupName(language, list.setup) })
        : choiceName(language, facet, value)
    return html`<li><a href="${pathTo(page, listUrl(other))}">${language.t('site.list.drop', { name, count })}</a></li>`
  })
  const others = [...types]
    .filter(([type, count]) => count > 0 && type !== list.type)
    .map(
      ([type, count]) =>
        html`<li><a href="${pathTo(page, listUrl(withType(list, type)))}">${language.t(`site.count.${type}`, { count })}</a></li>`,
    )
  const isEmpty = list.text === '' && !hasChoices(list) && !isSet(list.setup)
  const help = [...drops, ...others]
  return emptyState(page, {
    icon: 'search',
    title: language.t('site.list.nothing'),
    text: language.t(isEmpty ? 'site.list.empty' : 'site.list.nothing-help'),
    ...(help.length === 0 ? {} : { action: html`<ul class="help">${help}</ul>` }),
  })
}
