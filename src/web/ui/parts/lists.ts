// Small parts of pages: navigation, avatars, badges, empty lists.

import { wholeNumber } from '../format.ts'
import { attributes, html, type Markup, type Part } from '../html.ts'
import type { IconName } from '../icons.ts'
import { icon, type PageContext } from '../page-context.ts'

const SEGMENTER = new Intl.Segmenter()

/** Renders the avatar of a user or the icon of a resource, or the first letter of its name. */
export function face(of: {
  name: string
  url: string | null | undefined
  /** Original image, for screens with a high pixel density. */
  rawUrl?: string | null | undefined
  isSquare?: boolean
  isLarge?: boolean
}): Markup {
  const classes = ['face', of.isSquare === true && 'square', of.isLarge === true && 'large'].filter(Boolean).join(' ')
  const side = of.isLarge === true ? 80 : 36
  if (of.url) {
    const srcset = of.rawUrl && of.rawUrl !== of.url ? `${of.url} 1x, ${of.rawUrl} 2x` : null
    return html`<img class="${classes}" src="${of.url}"${attributes({ srcset })} alt="" width="${side}" height="${side}">`
  }
  const [first] = SEGMENTER.segment(of.name.trim())
  return html`<span class="${classes}" aria-hidden="true">${first?.segment.toUpperCase()}</span>`
}

export type BadgeKind = 'good' | 'warn' | 'bad'

/** Renders a short label next to a name. */
export function badge(kind: BadgeKind, text: string): Markup {
  return html`<span class="${kind === 'warn' ? 'badge' : `badge ${kind}`}">${text}</span>`
}

export type Tab = {
  href: string
  label: string
  icon: IconName
  count?: number
  isCurrent: boolean
  /** Query keys that the link omits when the script changes the query of the page. */
  without?: readonly string[]
}

/** Renders the tabs above a sheet. */
export function tabs(page: PageContext, label: string, items: readonly Tab[]): Markup {
  return html`<nav class="tabs" aria-label="${label}"><ul>
${items.map(
  (
    tab,
  ) => html`<li><a${attributes({ href: tab.href, 'aria-current': tab.isCurrent && 'page', 'data-without': tab.without?.join(' ') })}>${icon(page, tab.icon)}${tab.label}${tab.count !== undefined && html` <span class="n">${wholeNumber(page.language, tab.count)}</span>`}</a></li>
`,
)}</ul></nav>`
}

/** Renders the breadcrumbs of a page, without the page itself. */
export function breadcrumbs(page: PageContext, items: readonly { href: string; label: string }[]): Markup {
  return html`<nav class="crumbs" aria-label="${page.language.t('list.breadcrumbs')}"><ol>${items.map(({ href, label }) => html`<li><a href="${href}">${label}</a></li>`)}</ol></nav>`
}

/** Renders links to alternative views of the same content. */
export function segments(label: string, items: readonly { href: string; label: string; isCurrent: boolean }[]): Markup {
  return html`<nav class="segments" aria-label="${label}">${items.map((item) => html`<a${attributes({ href: item.href, 'aria-current': item.isCurrent && 'true' })}>${item.label}</a>`)}</nav>`
}

/** Renders links to the pages of a list: first, last, adjacent and next. Renders nothing for a single page. */
export function pager(page: PageContext, of: { current: number; last: number; href: (page: number) => string }): Part {
  const { language } = page
  if (of.last <= 1) return null
  const shown = pagesAround(of.current, of.last)
  const links = shown.map((number, index) => {
    const isAfterGap = index > 0 && number - (shown[index - 1] ?? 0) > 1
    const text = wholeNumber(language, number)
    return [
      isAfterGap && html`<span aria-hidden="true">…</span>`,
      number === of.current
        ? html`<span aria-current="page">${text}</span>`
        : html`<a${attributes({ href: of.href(number), rel: relationOf(number, of.current) })}>${text}</a>`,
    ]
  })
  return html`<nav class="pages" aria-label="${language.t('list.pages')}">${of.current > 1 && html`<a href="${of.href(of.current - 1)}">${language.t('list.previous')}</a>`}${links}${of.current < of.last && html`<a href="${of.href(of.current + 1)}">${language.t('list.next')}</a>`}</nav>`
}

function relationOf(number: number, current: number): string | undefined {
  if (number === current - 1) return 'prev'
  return number === current + 1 ? 'next' : undefined
}

/** Returns the page numbers of a pager, ascending: two on each side of the current page, the first and the last. */
function pagesAround(current: number, last: number): number[] {
  const numbers = [1, last, ...[-2, -1, 0, 1, 2].map((step) => current + step)]
  return [...new Set(numbers.filter((number) => number >= 1 && number <= last))].sort((a, b) => a - b)
}

/** Renders the placeholder of an empty list, with an optional action. */
export function emptyState(
  page: PageContext,
  of: { icon: IconName; title: string; text?: Part; action?: Markup },
): Markup {
  return html`<div class="empty">${icon(page, of.icon)}<p class="strong">${of.title}</p>${of.text !== undefined && html`<p class="soft">${of.text}</p>`}${of.action}</div>`
}

export type NoteKind = 'good' | 'warn' | 'bad'

/** Renders a notice. Screen readers announce a notice with the role `status`. */
export function note(page: PageContext, kind: NoteKind, content: Part, { role }: { role?: 'status' } = {}): Markup {
  const name = kind === 'good' ? 'check' : 'warning'
  return html`<div${attributes({ class: `note ${kind}`, role })}>${icon(page, name)}<div>${content}</div></div>`
}

/** Renders a narrow sheet for a page that consists of one form or message. */
export function slip(content: Part): Markup {
  return html`<div class="sheet slip">
${content}
</div>`
}

/** Renders the line that announces what the script has loaded, and the notice that it could not. */
export function liveStatus(page: PageContext): Markup {
  const { language } = page
  const failed = html`<p>${language.t('list.failed')} <button type="button" class="tight">${language.t('list.retry')}</button></p>`
  return html`<p class="vh" id="said" role="status"></p>
<div class="note bad" id="failed" role="alert" hidden>${icon(page, 'warning')}<div>${failed}</div></div>`
}
