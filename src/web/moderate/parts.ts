// Parts of the pages for moderators: links to users and items, filters, pagers and numbers.

import { reviewPath, withQuery } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { pager } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { moderatedUser, ROWS } from './frame.ts'

export type Choice = { value: string; label: string }

type Filter = {
  name: string
  label: string
  value: string
  choices: readonly Choice[]
  /** Whether the first choice filters nothing. Default: true */
  hasAny?: boolean
}

/** A filter that the user types: a day, or a text without spaces. */
type TypedFilter = {
  name: string
  label: string
  value: string
  type?: 'date' | 'text'
  placeholder?: string
  isInvalid?: boolean
}

/** Renders filters as a form that loads the page again with the choices in its URL. */
export function filterForm(
  page: PageContext,
  of: {
    selects: readonly Filter[]
    search?: { name: string; label: string; value: string; isCode?: boolean }
    typed?: readonly TypedFilter[]
    hidden?: Readonly<Record<string, string | undefined>>
  },
): Markup {
  const { t } = page.language
  const { search, typed = [], hidden = {} } = of
  const fields = of.selects.map(({ name, label, value, choices, hasAny = true }) => {
    const all = hasAny ? [{ value: '', label: t('moderate.any') }, ...choices] : choices
    const options = all.map(
      (choice) =>
        html`<option${attributes({ value: choice.value, selected: choice.value === value })}>${choice.label}</option>`,
    )
    return html`<label>${label}<select name="${name}">${options}</select></label>
`
  })
  const direction = attributes({ dir: search?.isCode === true && 'ltr' })
  return html`<form class="filters" method="get" aria-label="${t('moderate.filters')}">
${Object.entries(hidden).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}${
  search !== undefined &&
  html`<label>${search.label}<input type="search" name="${search.name}" value="${search.value}" maxlength="256"${direction}></label>
`
}${typed.map(typedFilter)}${fields}<button class="tight">${icon(page, 'sliders')}${t('moderate.filter')}</button>
</form>`
}

function typedFilter({ name, label, value, type = 'text', placeholder, isInvalid = false }: TypedFilter): Markup {
  const input = {
    type,
    name,
    id: name,
    value,
    placeholder,
    maxlength: 256,
    'aria-invalid': isInvalid && 'true',
    dir: 'ltr',
  }
  return html`<label>${label}<input${attributes(input)}></label>
`
}

/** Renders the pager of a list with these query values. */
export function listPager(
  page: PageContext,
  of: { path: string; current: number; total: number; query: Readonly<Record<string, string>> },
): Part {
  const href = (number: number) =>
    pathTo(page, withQuery(of.path, { ...of.query, page: number === 1 ? undefined : String(number) }))
  return pager(page, { current: of.current, last: Math.max(1, Math.ceil(of.total / ROWS)), href })
}

/** Returns the offset of a page of a list. */
export const offsetOf = (page: number): number => (page - 1) * ROWS

export function userLink(page: PageContext, { id, username }: { id: string; username: string }): Markup {
  return html`<a href="${pathTo(page, moderatedUser(id))}"><bdi>${username}</bdi></a>`
}

type Item = {
  item_type: string
  item_id: string
  item: { name: string; status: string | null; project_id: string | null } | null
}

/** Renders the name of a reported item with a link to its page for moderators. */
export function itemLink(page: PageContext, { item_type, item_id, item }: Item): Markup {
  if (item === null) return html`<span class="soft">${page.language.t('reports.item.deleted', { id: item_id })}</span>`
  const path = item_type === 'user' ? moderatedUser(item_id) : reviewPath(item.project_id ?? item_id)
  return html`<a href="${pathTo(page, path)}"><bdi>${item.name}</bdi></a>`
}

/** Renders the status of a reported item; nothing for users. */
export function itemStatus(page: PageContext, { item_type, item }: Item): Part {
  if (item === null || item.status === null) return null
  return statusOf(page, item_type === 'version' ? 'version' : 'project', item.status)
}

/** Renders pairs of names and values. Pairs without a value are left out. */
export function pairs(rows: readonly (readonly [string, Part])[]): Markup {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  return html`<dl class="pairs wide">${shown.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`
}

export const timeOf = (page: PageContext, at: Date | string): Markup => exactTime(page.language, new Date(at))
