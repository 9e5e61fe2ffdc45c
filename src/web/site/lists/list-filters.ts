// The filters of a list. The page contains every value that its type has, and hides those without hits. The script shows and
// hides them by the counts of a changed list, so that it loads numbers only.
import { createHash } from 'node:crypto'
import { listPath } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import { tagName } from '../names.ts'
import type { Choice, FoundList } from './list-query.ts'
import { FACETS, type Facet, type ListRequest, listUrl } from './list-request.ts'

/** Number of values that a filter shows first. */
const VALUES_SHOWN = 8
const OPEN: ReadonlySet<Facet> = new Set(['c', 'l', 'v', 'e', 'o'])

export function choiceName(language: Language, facet: Facet, value: string): string {
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
      return language.t(`site.within.${value as 'release' | 'week' | 'month' | 'year'}`)
    case 'v':
      return value
    default:
      return tagName(language, value)
  }
}

/** Adds the query of a list to a form, except the keys that the form sets. */
export function hiddenFields(list: ListRequest, without: readonly string[]): Part {
  const query = new URL(listUrl(list), 'http://local').searchParams
  return [...query].filter(([name]) => !without.includes(name)).map(([name, value]) => hiddenField(name, value))
}

type Filters = Pick<FoundList, 'list' | 'facets'>

export function filters(page: PageContext, { list, facets }: Filters): Markup {
  const { language } = page
  const chosen = chosenText(language, list)
  const groups = FACETS.map((facet) => filterGroup(page, list, { facet, choices: facets.get(facet) ?? [] }))
  return html`<details id="filters" data-close="${language.t('site.close')}"><summary>${icon(page, 'sliders')}<span>${language.t('site.filters')}</span> <span class="n">${chosen}</span></summary>
<form id="choices" action="${pathTo(page, listPath(list.type))}" autocomplete="off" data-values="${valuesKey({ facets })}" data-send>${hiddenFields(list, [...FACETS])}
${groups}
<button class="main">${language.t('site.show-results')}</button>
</form></details>`
}

/** Returns the number of chosen values in words, empty without one. */
export function chosenText(language: Language, list: ListRequest): string {
  const count = FACETS.reduce((sum, facet) => sum + list.chosen[facet].length, 0)
  return count === 0 ? '' : language.t('site.chosen', { count })
}

/**
 * Returns the counts for the script, in the order of the page: `c 12 5 - 3+ l 7`. A value that is not shown has `-`, and a
 * filter with more values ends with `+`. They are valid for a page with the same `valuesKey`.
 */
export function filterCounts({ list, facets }: Filters): string {
  const shown = FACETS.flatMap((facet) => {
    const choices = facets.get(facet) ?? []
    const { choices: shown, hasMore } = shownChoices(list, facet, choices)
    const counts = choices.map((choice) => (shown.includes(choice) ? choice.count : '-'))
    return choices.length === 0 ? [] : `${facet} ${counts.join(' ')}${hasMore ? '+' : ''}`
  })
  return shown.join(' ')
}

/** Identifies the values on the page. */
export function valuesKey({ facets }: Pick<Filters, 'facets'>): string {
  const values = FACETS.map((facet) => facets.get(facet)?.map(({ value }) => value))
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 8)
}

/** Chooses the values that a filter shows: the first ones with hits, and the chosen ones. */
function shownChoices(
  list: ListRequest,
  facet: Facet,
  choices: readonly Choice[],
): { choices: readonly Choice[]; hasMore: boolean } {
  const chosen = new Set(list.chosen[facet].map((value) => value.replace(/^-/, '')))
  const useful = choices.filter(({ value, count }) => count > 0 || chosen.has(value))
  const isAll = list.all.includes(facet)
  const isComplete = isAll || useful.length <= VALUES_SHOWN + 2
  return {
    choices: isComplete ? useful : useful.filter(({ value }, index) => index < VALUES_SHOWN || chosen.has(value)),
    hasMore: useful.length > 0 && (!isComplete || (facet === 'v' && !isAll)),
  }
}

function filterGroup(
  page: PageContext,
  list: ListRequest,
  { facet, choices }: { facet: Facet; choices: readonly Choice[] },
): Part {
  const { language } = page
  if (choices.length === 0) return null
  const { choices: shown, hasMore } = shownChoices(list, facet, choices)
  const isOpen = OPEN.has(facet) || list.chosen[facet].length > 0 || list.all.includes(facet)
  const more = listUrl(list, { all: [...new Set([...list.all, facet])], page: list.page })
  const groups = [...Map.groupBy(choices, ({ snapshotOf }) => snapshotOf)].map(([snapshotOf, grouped]) => {
    const title =
      snapshotOf === ''
        ? language.t('site.snapshots.next')
        : language.t('site.snapshots', { release: snapshotOf ?? '' })
    const values = grouped.map((choice) =>
      filterValue(language, list, { facet, ...choice, isShown: shown.includes(choice) }),
    )
    return html`${snapshotOf !== undefined && html`<p class="soft small">${title}</p>`}<ul>${values}</ul>`
  })
  return html`<details${attributes({ class: 'facet', 'data-facet': facet, open: isOpen, hidden: shown.length === 0 })}><summary>${language.t(`site.facet.${facet}`)}${icon(page, 'down')}</summary>${groups}<a${attributes({ class: 'more', href: pathTo(page, more), hidden: !hasMore })}>${language.t('site.all-values')}<span class="vh"> ${language.t(`site.facet.${facet}`)}</span></a></details>
`
}

function filterValue(
  language: Language,
  list: ListRequest,
  { facet, value, count, isShown }: Choice & { facet: Facet; isShown: boolean },
): Markup {
  const name = valueName(language, facet, value)
  const isIn = list.chosen[facet].includes(value)
  const isOut = list.chosen[facet].includes(`-${value}`)
  const without = language.t('site.without', { name })
  return html`<li${attributes({ hidden: !isShown })}><label><input${attributes({ class: 'in', type: 'checkbox', name: facet, value, checked: isIn })}>${name}<span class="n">${wholeNumber(language, count)}</span></label><label class="not" title="${without}"><span class="vh">${without}</span><input${attributes({ class: 'out', type: 'checkbox', name: facet, value: `-${value}`, checked: isOut })}></label></li>
`
}
