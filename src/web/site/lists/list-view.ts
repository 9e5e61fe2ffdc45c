// A list of projects as its page shows it: types, setup, filters, hits.
import { wholeNumber } from '#platform/html/format.ts'
import { hiddenField } from '#platform/html/forms.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { Language } from '#platform/html/languages.ts'
import { emptyState, note, pager, tabs } from '#platform/html/lists.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import { SORTS } from '#ports/search-index/search-index.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { isSet } from '#web/kit/setup.ts'
import { feedPath, listPath } from '#web/kit/site-paths.ts'
import { TYPE_ICONS, tagName, typesName } from '../names.ts'
import { setupForm } from '../setup-view.ts'
import type { Choice, FoundList } from './list.ts'
import {
  FACETS,
  type Facet,
  hasChoices,
  type ListRequest,
  listAddress,
  usualView,
  VALUES_MAX,
  withoutChoice,
} from './list-request.ts'
import { setupName } from './list-title.ts'
import { hitGrid, hitList, type ProjectRow } from './rows.ts'

type Shown = Omit<FoundList, 'hits'> & { rows: readonly ProjectRow[]; title: string; last: number }

export function listView(site: SiteRequest, shown: Shown): Markup {
  const { page, deps } = site
  const { request, rows, counts, last } = shown
  const { language } = page
  const types = [...counts.types].map(([type, count]) => ({
    href: pathTo(
      page,
      listAddress({ ...request, chosen: { ...request.chosen, c: [] } }, { type, all: [], view: usualView(type) }),
    ),
    label: typesName(language, type),
    icon: TYPE_ICONS[type],
    count,
    isCurrent: type === request.type,
  }))
  const list = request.view === 'grid' ? hitGrid : hitList
  return html`${typeTabs(tabs(page, language.t('site.types'), types))}
<section class="facets" aria-label="${language.t('site.filters')}">
${setupForm(site)}
${filters(site, shown)}
</section>
<section class="sheet" aria-labelledby="found">
${head(site, shown)}
${request.isCut && html`<div class="list-note">${note(page, 'warn', html`<p>${language.t('site.list.cut', { count: VALUES_MAX })}</p>`)}</div>`}
${rows.length > 0 ? list({ page, taxonomy: deps.taxonomy }, rows) : nothing(site, shown)}
${request.page <= last && pager(page, { current: request.page, last, href: (number) => pathTo(page, listAddress(request, { page: number })) })}
</section>`
}

/** The tabs stand in the second column. */
function typeTabs(markup: Markup): Markup {
  return html`<div class="types">${markup}</div>`
}

function head(site: SiteRequest, { request, title }: Shown): Markup {
  const { page } = site
  const { language } = page
  const other = request.view === 'grid' ? 'rows' : 'grid'
  const options = SORTS.map(
    (sort) =>
      html`<option${attributes({ value: sort, selected: sort === request.sort })}>${language.t(`site.sort.${sort}`)}</option>`,
  )
  return html`<div class="results-head">
<h1 id="found">${title}</h1>
<form class="tools" action="${pathTo(page, listPath(request.type))}" data-send>${kept(request, ['sort'])}<label class="vh" for="sort">${language.t('site.sort')}</label><select id="sort" name="sort">${options}</select><button>${language.t('site.sort.apply')}</button><a class="button" href="${pathTo(page, listAddress(request, { view: other, page: request.page }))}" title="${language.t(`site.view.${other}`)}">${icon(page, other === 'grid' ? 'grid' : 'list')}<span class="vh">${language.t(`site.view.${other}`)}</span></a><a class="button" href="${pathTo(page, feedPath(listAddress(request)))}" title="${language.t('site.feed.list')}">${icon(page, 'rss')}<span class="vh">${language.t('site.feed.list')}</span></a></form>
${picked(site, request)}
</div>`
}

/** The rest of the address, for a form that sets one part of it. */
function kept(request: ListRequest, without: readonly string[]): Part {
  const query = new URL(listAddress(request), 'http://local').searchParams
  return [...query].filter(([name]) => !without.includes(name)).map(([name, value]) => hiddenField(name, value))
}

function picked({ page }: SiteRequest, request: ListRequest): Part {
  const { language } = page
  const remove = html`<span class="vh">${language.t('site.remove')} </span>`
  const chip = (href: string, name: string, isOut: boolean) =>
    html`<a${attributes({ class: isOut && 'no', href: pathTo(page, href) })}>${remove}${name} ${icon(page, 'x')}</a>`
  const choices = FACETS.flatMap((facet) =>
    request.chosen[facet].map((value) =>
      chip(
        listAddress(withoutChoice(request, facet, value)),
        choiceName(language, facet, value),
        value.startsWith('-'),
      ),
    ),
  )
  const setup = isSet(request.setup)
    ? [
        chip(
          listAddress(request, { isSetupWaived: true }),
          language.t('site.for', { setup: setupName(language, request.setup) }),
          false,
        ),
      ]
    : []
  const dependency =
    request.dependency === ''
      ? []
      : [chip(listAddress(request, { dependency: '' }), language.t('site.needs', { id: request.dependency }), false)]
  const all = [...setup, ...dependency, ...choices]
  if (all.length === 0) return null
  const bare = listAddress({ ...request, chosen: { c: [], l: [], v: [], e: [], o: [], u: [] }, dependency: '' })
  return html`<p class="picked">${all}${hasChoices(request) && html`<a class="clear" href="${pathTo(page, bare)}">${language.t('site.clear')}</a>`}</p>`
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

/** Values shown before "all". */
const SHORT = 8
const OPEN: ReadonlySet<Facet> = new Set(['c', 'e', 'o'])

function filters({ page }: SiteRequest, { request, counts }: Shown): Markup {
  const { language } = page
  const number = FACETS.reduce((sum, facet) => sum + request.chosen[facet].length, 0)
  const groups = FACETS.map((facet) => group(facet, counts.facets.get(facet) ?? []))
  return html`<details id="filters"><summary>${icon(page, 'sliders')}${language.t('site.filters')}${number > 0 && html` <span class="n">${language.t('site.chosen', { count: number })}</span>`}</summary>
<form action="${pathTo(page, listPath(request.type))}" data-send>${kept(request, [...FACETS])}
${groups}
<button class="main">${language.t('site.show-results')}</button>
</form></details>`

  function group(facet: Facet, choices: readonly Choice[]): Part {
    const chosen = new Set(request.chosen[facet].map((value) => value.replace(/^-/, '')))
    const useful = choices.filter(({ value, count }) => count > 0 || chosen.has(value))
    if (useful.length === 0) return null
    const isAll = request.all.includes(facet) || useful.length <= SHORT + 2
    const shown = isAll ? useful : useful.filter(({ value }, index) => index < SHORT || chosen.has(value))
    const hasMore = !isAll || (facet === 'v' && !request.all.includes('v'))
    const more = listAddress(request, { all: [...new Set([...request.all, facet])], page: request.page })
    return html`<details${attributes({ class: 'facet', open: OPEN.has(facet) || chosen.size > 0 || request.all.includes(facet) })}><summary>${language.t(`site.facet.${facet}`)}${icon(page, 'down')}</summary><ul>${shown.map((choice) => item(facet, choice))}</ul>${hasMore && html`<a class="more" href="${pathTo(page, more)}">${language.t('site.all-values')}<span class="vh"> ${language.t(`site.facet.${facet}`)}</span></a>`}</details>
`
  }

  function item(facet: Facet, { value, count }: Choice): Markup {
    const name = valueName(language, facet, value)
    const isIn = request.chosen[facet].includes(value)
    const isOut = request.chosen[facet].includes(`-${value}`)
    const without = language.t('site.without', { name })
    return html`<li><label><input${attributes({ class: 'in', type: 'checkbox', name: facet, value, checked: isIn })}>${name}<span class="n">${wholeNumber(language, count)}</span></label><label class="not" title="${without}"><span class="vh">${without}</span><input${attributes({ class: 'out', type: 'checkbox', name: facet, value: `-${value}`, checked: isOut })}></label></li>
`
  }
}

/** What to do where there is nothing: which choice keeps everything out, and where there are hits. */
function nothing({ page }: SiteRequest, { request, total, counts, last }: Shown): Markup {
  const { language } = page
  if (total > 0) {
    const text = language.t('site.list.beyond', { count: last })
    const action = html`<p><a class="button" href="${pathTo(page, listAddress(request))}">${language.t('site.list.first')}</a></p>`
    return emptyState(page, { icon: 'search', title: language.t('site.list.no-page'), text, action })
  }
  const drops = counts.drops.map(({ request: other, facet, value, count }) => {
    const name =
      facet === 'setup'
        ? language.t('site.for', { setup: setupName(language, request.setup) })
        : choiceName(language, facet, value)
    return html`<li><a href="${pathTo(page, listAddress(other))}">${language.t('site.list.drop', { name, count })}</a></li>`
  })
  const others = [...counts.types]
    .filter(([type, count]) => count > 0 && type !== request.type)
    .map(
      ([type, count]) =>
        html`<li><a href="${pathTo(page, listAddress({ ...request, chosen: { ...request.chosen, c: [] } }, { type, view: usualView(type) }))}">${language.t(`site.count.${type}`, { count })}</a></li>`,
    )
  const isEmpty = request.text === '' && !hasChoices(request) && !isSet(request.setup)
  const help = [...drops, ...others]
  return emptyState(page, {
    icon: 'search',
    title: language.t('site.list.nothing'),
    text: language.t(isEmpty ? 'site.list.empty' : 'site.list.nothing-help'),
    ...(help.length === 0 ? {} : { action: html`<ul class="help">${help}</ul>` }),
  })
}
