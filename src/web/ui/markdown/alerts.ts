// Alerts as on code hosts: a quote that begins with `[!NOTE]`, `[!TIP]`, `[!IMPORTANT]`, `[!WARNING]` or `[!CAUTION]`.
import type { MarkdownIt as Parser } from 'markdown-it'
import { escapeText } from '#lib/text/xml.ts'
import type { IconName } from '../icons.ts'

export const ALERTS = ['note', 'tip', 'important', 'warning', 'caution'] as const
export type Alert = (typeof ALERTS)[number]

const MARK = /^\[!(note|tip|important|warning|caution)\]\s*$/i
/** Classes with the colour of the box: blue, green, violet, amber and red. */
const CLASS_OF: Readonly<Record<Alert, string>> = {
  note: 'note h255',
  tip: 'note',
  important: 'note h300',
  warning: 'note warn',
  caution: 'note bad',
}
const ICON_OF: Readonly<Record<Alert, IconName>> = {
  note: 'info',
  tip: 'bulb',
  important: 'important',
  warning: 'warning',
  caution: 'stop',
}

/** Removes the first line of an alert and marks its quote with a class, which `alertBoxes` turns into a labelled box. */
export function alerts(parser: Parser): void {
  parser.core.ruler.after('inline', 'alerts', ({ tokens }) => {
    for (const [index, quote] of tokens.entries()) {
      const inline = tokens[index + 2]
      if (quote.type !== 'blockquote_open' || inline?.type !== 'inline') continue
      const [first, end] = inline.children ?? []
      const kind = first?.type === 'text' ? MARK.exec(first.content)?.[1]?.toLowerCase() : undefined
      if (kind === undefined || (end !== undefined && end.type !== 'softbreak' && end.type !== 'hardbreak')) continue
      inline.children?.splice(0, 2)
      quote.attrJoin('class', `alert-${kind}`)
    }
  })
}

/** Turns the marked quotes of sanitized markup into boxes with their icon and label. `icons`: URL of the sprite. */
export function alertBoxes(markup: string, labels: Readonly<Record<Alert, string>>, icons: string): string {
  if (!markup.includes('class="alert-')) return markup
  const open: boolean[] = []
  return markup.replace(/<(\/?)blockquote([^<>]*)>/g, (tag, slash: string, attributes: string) => {
    if (slash === '/') return open.pop() === true ? '</div></div>' : tag
    const kind = ALERTS.find((each) => attributes.includes(`class="alert-${each}"`))
    open.push(kind !== undefined)
    if (kind === undefined) return tag
    const label = escapeText(labels[kind])
    return `<div class="${CLASS_OF[kind]}" role="note" aria-label="${label}"><svg class="i" aria-hidden="true"><use href="${escapeText(icons)}#${ICON_OF[kind]}"/></svg><div><p><strong>${label}</strong></p>`
  })
}
