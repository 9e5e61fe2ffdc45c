// The changes of a project: fields side by side, and the description by word with unchanged paragraphs collapsed.
import { dayText } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import type { Changes, Review } from './load-review.ts'
import { section } from './section.ts'

type TextChange = Changes['texts'][number]
type TextPart = TextChange['parts'][number]

const FIELDS: Readonly<Record<string, MessageKey>> = {
  name: 'moderate.field.name',
  slug: 'moderate.field.slug',
  summary: 'moderate.field.summary',
  license: 'moderate.field.license',
  license_url: 'moderate.field.license_url',
  categories: 'moderate.field.categories',
  additional_categories: 'moderate.field.additional_categories',
}

/** Minimum number of unchanged paragraphs that are collapsed. */
const COLLAPSED_MIN = 2

/** Returns the number of changed fields. */
export function countChanges({ texts, lists, links, icon }: Changes): number {
  const changedLists = lists.filter(({ added, removed }) => added.length + removed.length > 0)
  const changedLinks = links.filter(({ before, after }) => before !== after)
  const texted = texts.filter(({ changed }) => changed)
  return texted.length + changedLists.length + changedLinks.length + Number(icon.before !== icon.after)
}

export function changesPart(page: PageContext, review: Review, description: Markup): Markup {
  const { t } = page.language
  const { changes } = review
  const rows = [
    ...changes.texts.filter(({ field, changed }) => changed && field !== 'description').map(textRow),
    ...changes.lists.filter(({ added, removed }) => added.length + removed.length > 0).map(listRow),
  ]
  const text = changes.texts.find(({ field }) => field === 'description')
  const content = [
    rows.length > 0 &&
      html`<table class="was"><caption class="vh">${t('moderate.changes.fields')}</caption><thead><tr><th scope="col">${t('moderate.changes.field')}</th><th scope="col">${beforeText(page, changes)}</th><th scope="col">${t('moderate.changes.now')}</th></tr></thead><tbody>
${rows.map(
  ({
    field,
    before,
    after,
  }) => html`<tr><th scope="row">${fieldName(page, field)}</th>${cell(page, before)}${cell(page, after)}</tr>
`,
)}</tbody></table>`,
    text?.changed === true &&
      html`<h3>${t('moderate.field.description')}</h3>
${diff(page, text.parts)}`,
    rows.length === 0 && text?.changed !== true && html`<p>${t('moderate.changes.none')}</p>`,
    html`<details${attributes({ class: 'more', open: review.changes.review === 'first' })}><summary>${t('moderate.description.full')}</summary>${description}</details>`,
  ]
  return section({ id: 'changes', title: changesTitle(page, changes), content })
}

function changesTitle(page: PageContext, { since, review }: Changes): string {
  const { t } = page.language
  if (since === null) return t(review === 'first' ? 'moderate.changes.new' : 'moderate.changes.unknown')
  return t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
}

function beforeText({ language: { t } }: PageContext, { since }: Changes): string {
  return t(since?.reason === 'approval' ? 'moderate.changes.approved' : 'moderate.changes.before')
}

function fieldName({ language: { t } }: PageContext, field: string): string {
  const key = FIELDS[field]
  return key === undefined ? field : t(key)
}

type FieldRow = { field: string; before: Part[]; after: Part[] }

function textRow({ field, parts }: TextChange): FieldRow {
  const side = (hidden: 'added' | 'removed') => parts.filter(({ change }) => change !== hidden).map(marked)
  return { field, before: side('added'), after: side('removed') }
}

function listRow({ field, same, added, removed }: Changes['lists'][number]): FieldRow {
  const plain = same.map((text): TextPart => ({ change: 'same', text }))
  const join = (parts: readonly TextPart[]) => parts.flatMap((part, index) => [index > 0 && ', ', marked(part)])
  return {
    field,
    before: join([...plain, ...removed.map((text): TextPart => ({ change: 'removed', text }))]),
    after: join([...plain, ...added.map((text): TextPart => ({ change: 'added', text }))]),
  }
}

function cell({ language: { t } }: PageContext, parts: Part[]): Markup {
  return parts.length === 0
    ? html`<td class="soft">${t('moderate.changes.empty')}</td>`
    : html`<td dir="auto">${parts}</td>`
}

function marked({ change, text }: TextPart): Part {
  if (change === 'added') return html`<ins>${text}</ins>`
  return change === 'removed' ? html`<del>${text}</del>` : text
}

type Paragraph = { parts: Part[]; isChanged: boolean; last?: TextPart['change'] }

/** Renders a text by paragraph. Unchanged paragraphs between changes are collapsed. */
function diff(page: PageContext, parts: readonly TextPart[]): Markup {
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
      ? html`<details><summary>${page.language.t('moderate.changes.unchanged', { count: group.length })}</summary>${paragraphs}</details>`
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
