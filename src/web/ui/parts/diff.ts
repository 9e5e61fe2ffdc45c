// Changes: texts are shown by word, fields side by side. `#lib/text/text-diff.ts` compares the texts.
import type { Change, TextPart } from '#lib/text/text-diff.ts'
import { html, type Markup, type Part } from '../html.ts'
import type { PageContext } from '../page-context.ts'

/** Renders a part of a comparison: an addition is underlined, a removal is struck through. */
export function marked({ change, text }: TextPart): Part {
  if (change === 'added') return html`<ins>${text}</ins>`
  return change === 'removed' ? html`<del>${text}</del>` : text
}

/** Minimum number of unchanged paragraphs that are collapsed. */
const COLLAPSED_MIN = 2

type Paragraph = { parts: Part[]; isChanged: boolean; last?: Change }

/** Renders a text by paragraph. Unchanged paragraphs between changes are collapsed. */
export function textDiff(page: PageContext, parts: readonly TextPart[]): Markup {
  const groups: Paragraph[][] = []
  for (const paragraph of paragraphsOf(parts)) {
    const last = groups.at(-1)
    if (!paragraph.isChanged && last?.[0]?.isChanged === false) last.push(paragraph)
    else groups.push([paragraph])
  }
  return html`<div class="diff">${groups.map((group) => {
    const paragraphs = group.map((paragraph) => html`<p dir="auto">${paragraph.parts}</p>`)
    const isCollapsed = group[0]?.isChanged === false && group.length >= COLLAPSED_MIN
    return isCollapsed
      ? html`<details><summary>${page.language.t('work.unchanged', { count: group.length })}</summary>${paragraphs}</details>`
      : paragraphs
  })}</div>`
}

/** Splits the parts at line breaks. Omits empty lines. */
function paragraphsOf(parts: readonly TextPart[]): Paragraph[] {
  const paragraphs: Paragraph[] = []
  let current: Paragraph = { parts: [], isChanged: false }
  const end = (): void => {
    if (current.parts.length > 0) paragraphs.push(current)
    current = { parts: [], isChanged: false }
  }
  for (const { change, text } of parts) {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) end()
      if (line.trim() === '') continue
      if (current.last === 'removed' && change === 'added') current.parts.push(' ')
      current.parts.push(marked({ change, text: line }))
      current.last = change
      if (change !== 'same') current.isChanged = true
    }
  }
  end()
  return paragraphs
}

/** Values of a field before and after. Empty lists are values that do not exist. */
export type FieldRow = { label: string; before: readonly Part[]; after: readonly Part[] }

/** Renders fields with their values before and after. */
export function fieldDiff(page: PageContext, of: { before: string; after: string; rows: readonly FieldRow[] }): Markup {
  const { t } = page.language
  const head = [t('work.field'), of.before, of.after].map((label) => html`<th scope="col">${label}</th>`)
  const cell = (parts: readonly Part[]): Markup =>
    parts.length === 0 ? html`<td class="soft">${t('work.diff.none')}</td>` : html`<td dir="auto">${parts}</td>`
  return html`<div class="list-box"><table class="was"><caption class="vh">${t('work.diff.fields')}</caption><thead><tr>${head}</tr></thead>
<tbody>${of.rows.map(
    ({ label, before, after }) => html`<tr><th scope="row">${label}</th>${cell(before)}${cell(after)}</tr>
`,
  )}</tbody></table></div>`
}
