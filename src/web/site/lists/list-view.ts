// The page of a list: projects of one type, or the results of a search; with types, setup, filters, rows.
import type { FastifyReply } from 'fastify'
import { wholeNumber } from '#platform/html/format.ts'
import { hiddenField } from '#platform/html/forms.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { Language } from '#platform/html/languages.ts'
import { emptyState, note, pager, tabs } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { isSet, NO_SETUP, setupFor } from '#web/kit/cookies.ts'
import { feedLinks, feedPath, listPath, type ProjectType } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { setupName, TYPE_ICONS, tagName, typesName } from '../names.ts'
import { setupForm } from '../setup-form.ts'
import { type Choice, type FoundList, queryList } from './list-query.ts'
import {
  FACETS,
  type Facet,
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
import { loadRowDetails } from './row-details.ts'
import { hitGrid, hitList, type ProjectRow, rowOfHit } from './rows.ts'

type ShownList = FoundList & { rows: readonly ProjectRow[]; title: string; lastPage: number }

export async function showList(request: PageRequest, type: ProjectType | undefined): Promise<FastifyReply> {
  const own = convertOriginalQuery(new URL(request.page.address, 'http://local').searchParams, request.deps.taxonomy)
  if (own !== undefined) {
    const converted = { setup: NO_SETUP, query: (name: string) => own.get(name) ?? '', queries: own.getAll.bind(own) }
    const moved = readListRequest(converted, type)
    return request.reply.redirect(pathTo(request.page, listUrl(moved, { page: moved.page })), 301)
  }
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
  const setup = list.type === undefined ? list.setup : setupFor(request.deps.taxonomy, list.setup, [list.type])
  const title = listTitle(page.language, { ...list, setup }, total)
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

function listView(request: PageRequest, shown: ShownList): Markup {
  const { page, deps } = request
  const { list, rows, lastPage } = shown
  const { language } = page
  const tab = (type: ProjectType | undefined, count: number) => ({
    href: pathTo(page, listUrl(withType(list, type), { all: [] })),
    label: type === undefined ? language.t('site.types.all') : typesName(language, type),
    icon: type === undefined ? ('grid' as const) : TYPE_ICONS[type],
    count,
    isCurrent: type === list.type,
  })
  const types = [tab(undefined, shown.everything), ...[...shown.types].map(([type, count]) => tab(type, count))]
  const drawRows = list.view === 'grid' ? hitGrid : hitList
  return html`<div class="types">${tabs(page, language.t('site.types'), types)}</div>
<section class="facets" aria-label="${language.t('site.filters')}">
${setupForm(request)}
${filters(page, shown)}
</section>
<section class="sheet" aria-labelledby="found">
${head(page, shown)}
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
  const what =
    type === undefined
      ? language.t('site.count.project', { count: total })
      : language.t(`site.count.${type}`, { count: total })
  const named = text.trim() === '' ? what : language.t('site.list.matching', { what, text: text.trim() })
  return isSet(setup) ? language.t('site.list.for', { what: named, setup: setupName(language, setup) }) : named
}

function head(page: PageContext, { list, title }: ShownList): Markup {
  const { language } = page
  const other = list.view === 'grid' ? 'rows' : 'grid'
  const options = sortsOf(list).map(
    (sort) =>
      html`<option${attributes({ value: sort, selected: sort === list.sort })}>${language.t(`site.sort.${sort}`)}</option>`,
  )
  return html`<div class="results-head">
<h1 id="found">${title}</h1>
<form class="tools" action="${pathTo(page, listPath(list.type))}" data-send>${hiddenFields(list, ['sort'])}<label class="vh" for="sort">${language.t('site.sort')}</label><select id="sort" name="sort">${options}</select><button>${language.t('site.sort.apply')}</button><a class="button" href="${pathTo(page, listUrl(list, { view: other, page: list.page }))}" title="${language.t(`site.view.${other}`)}">${icon(page, other === 'grid' ? 'grid' : 'list')}<span class="vh">${language.t(`site.view.${other}`)}</span></a><a class="button" href="${pathTo(page, feedPath(listUrl(list)))}" title="${language.t('site.feed.list')}">${icon(page, 'rss')}<span class="vh">${language.t('site.feed.list')}</span></a></form>
${chosenValues(page, list)}
</div>`
}

/** Adds the query of a list to a form, except the keys that the form sets. */
function hiddenFields(list: ListRequest, without: readonly string[]): Part {
  const query = new URL(listUrl(list), 'http://local').searchParams
  return [...query].filter(([name]) => !without.includes(name)).map(([name, value]) => hiddenField(name, value))
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

function choiceName(language: Language, facet: Facet, value: string): string {
  const name = valueName(language, facet, value.replace(/^-/, ''))
  return value.startsWith('-') ? language.t('site.without', { name }) : name
}

function valueName(language: Language, facet: Facet, value: string): string {
  switch (facet) {
    case 'e':
      return language.t(`site.environment.${value as 'client' | 'server' | 'client-only' | 'server-only'}`)
    case 'o':
      return language.t(`site.licence.${value as 'open' | 'closed'}`)
    case 'u':
      return language.t(`site.within.${value as 'week' | 'month' | 'year'}`)
    case 'v':
      return value
    default:
      return tagName(value)
  }
}

/** Number of values that a filter shows first. */
const VALUES_SHOWN = 8
const OPEN: ReadonlySet<Facet> = new Set(['c', 'l', 'v', 'e', 'o'])

function filters(page: PageContext, { list, facets }: ShownList): Markup {
  const { language } = page
  const number = FACETS.reduce((sum, facet) => sum + list.chosen[facet].length, 0)
  const groups = FACETS.map((facet) => filterGroup(page, list, { facet, choices: facets.get(facet) ?? [] }))
  return html`<details id="filters"><summary>${icon(page, 'sliders')}${language.t('site.filters')}${number > 0 && html` <span class="n">${language.t('site.chosen', { count: number })}</span>`}</summary>
<form action="${pathTo(page, listPath(list.type))}" data-send>${hiddenFields(list, [...FACETS])}
${groups}
<button class="main">${language.t('site.show-results')}</button>
</form></details>`
}

function filterGroup(
  page: PageContext,
  list: ListRequest,
  { facet, choices }: { facet: Facet; choices: readonly Choice[] },
): Part {
  const { language } = page
  const chosen = new Set(list.chosen[facet].map((value) => value.replace(/^-/, '')))
  const useful = choices.filter(({ value, count }) => count > 0 || chosen.has(value))
  if (useful.length === 0) return null
  const isComplete = list.all.includes(facet) || useful.length <= VALUES_SHOWN + 2
  const shown = isComplete ? useful : useful.filter(({ value }, index) => index < VALUES_SHOWN || chosen.has(value))
  const hasMore = !isComplete || (facet === 'v' && !list.all.includes('v'))
  const more = listUrl(list, { all: [...new Set([...list.all, facet])], page: list.page })
  return html`<details${attributes({ class: 'facet', open: OPEN.has(facet) || chosen.size > 0 || list.all.includes(facet) })}><summary>${language.t(`site.facet.${facet}`)}${icon(page, 'down')}</summary><ul>${shown.map((choice) => filterValue(language, list, { facet, ...choice }))}</ul>${hasMore && html`<a class="more" href="${pathTo(page, more)}">${language.t('site.all-values')}<span class="vh"> ${language.t(`site.facet.${facet}`)}</span></a>`}</details>
`
}

function filterValue(
  language: Language,
  list: ListRequest,
  { facet, value, count }: { facet: Facet; value: string; count: number },
): Markup {
  const name = valueName(language, facet, value)
  const isIn = list.chosen[facet].includes(value)
  const isOut = list.chosen[facet].includes(`-${value}`)
  const without = language.t('site.without', { name })
  return html`<li><label><input${attributes({ class: 'in', type: 'checkbox', name: facet, value, checked: isIn })}>${name}<span class="n">${wholeNumber(language, count)}</span></label><label class="not" title="${without}"><span class="vh">${without}</span><input${attributes({ class: 'out', type: 'checkbox', name: facet, value: `-${value}`, checked: isOut })}></label></li>
`
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
