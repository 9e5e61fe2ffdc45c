// The frame of the pages for publishers, moderators and operators: the subject above the sheet, the rail of sections, and
// the parts of a sheet.
import { wholeNumber } from '../format.ts'
import { attributes, html, type Markup, type Part } from '../html.ts'
import type { IconName } from '../icons.ts'
import { icon, type PageContext, pathTo } from '../page-context.ts'
import { breadcrumbs } from './lists.ts'

/** The subject of a page: a project, an organization, the queue. */
export type Subject = {
  name: string
  /** Icon of the subject, from `tile`. */
  tile?: Part
  /** Status and facts below the name. */
  facts?: readonly Part[]
  /** Links and buttons at the end of the line, at most two or three. */
  tools?: Part
  /** Pages above this page, with paths of the instance. */
  crumbs?: readonly { path: string; label: string }[]
  /** Class of the subject's hue. */
  hue?: string | undefined
}

/** Renders the heading of the page above the sheet. */
export function subjectHead(page: PageContext, { name, tile, facts = [], tools, crumbs = [] }: Subject): Part {
  const shown = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false)
  return [
    crumbs.length > 0 &&
      breadcrumbs(
        page,
        crumbs.map(({ path, label }) => ({ href: pathTo(page, path), label })),
      ),
    html`
<div class="about">
${tile}<div><h1 dir="auto">${name}</h1>${shown.length > 0 && html`<p class="sub">${shown.map((fact) => html`<span>${fact}</span>`)}</p>`}</div>
${
  tools !== undefined &&
  html`<div class="tools">${tools}</div>
`
}</div>
`,
  ]
}

export type RailItem = {
  path: string
  label: string
  icon: IconName
  count?: number
  /** `hot`: something waits for the user. `bad`: something failed. */
  mark?: 'hot' | 'bad'
  isDanger?: boolean
}

export type RailGroup = { title?: string; items: readonly (RailItem | false | undefined)[] }

/** Sections of a subject. `current` is the path of the open section. */
export type Rail = { label: string; current: string; groups: readonly RailGroup[] }

/** Renders the rail next to the sheet. Narrow windows collapse it to a button with the name of the open section. */
export function rail(page: PageContext, { label, current, groups }: Rail): Markup {
  const shown = groups.map(({ title, items }) => ({ title, items: items.filter((item) => !!item) }))
  const open = shown.flatMap(({ items }) => items).find(({ path }) => path === current)
  return html`<nav class="rail" aria-label="${label}"><details><summary>${icon(page, open?.icon ?? 'list')}${open?.label ?? label}${icon(page, 'down')}</summary>
${shown.map(
  ({ title, items }) =>
    items.length > 0 &&
    html`${
      title !== undefined &&
      html`<h2>${title}</h2>
`
    }<ul>
${items.map((item) => railItem(page, item, current))}</ul>
`,
)}</details></nav>`
}

function railItem(page: PageContext, item: RailItem, current: string): Markup {
  const link = attributes({
    href: pathTo(page, item.path),
    class: item.isDanger === true && 'danger',
    'aria-current': item.path === current && 'page',
  })
  const count =
    item.count !== undefined &&
    html` <span class="${['n', item.mark].filter(Boolean).join(' ')}">${wholeNumber(page.language, item.count)}</span>`
  return html`<li><a${link}>${icon(page, item.icon)}${item.label}${count}</a></li>
`
}

/** Renders the sheet, next to the rail if there is one. */
export function workSheet(page: PageContext, { sections, body }: { sections?: Rail | undefined; body: Part }): Markup {
  if (sections === undefined)
    return html`<div class="sheet">
${body}
</div>`
  return html`<div class="work">
${rail(page, sections)}
<div class="sheet">
${body}
</div></div>`
}

/** Renders the heading of a sheet or of a section in it. */
export function sheetHead(of: { title: string; text?: Part; action?: Part; id?: string; isRuled?: boolean }): Markup {
  return html`<div class="${of.isRuled === true ? 'sheet-head ruled' : 'sheet-head'}"><div><h2${attributes({ id: of.id })}>${of.title}</h2>${of.text !== undefined && html`<p>${of.text}</p>`}</div>${of.action}</div>`
}

/** Renders a part of a sheet with its heading. `id` must be unique on the page. */
export function sheetPart(of: { id: string; title?: string; text?: Part; action?: Part; content: Part }): Markup {
  const { id, title, text, action, content } = of
  if (title === undefined)
    return html`<div class="part" id="${id}">
${content}
</div>`
  return html`<section class="part" id="${id}" aria-labelledby="${id}-h"><header><h3 id="${id}-h">${title}</h3>${action}${text !== undefined && html`<p>${text}</p>`}</header>
${content}
</section>`
}
