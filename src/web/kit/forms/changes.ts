// The changes of a project, a version or a user between two states: texts by word, lists, links, icon, images and versions.
import type { Static } from 'typebox'
import type { ProjectChangesView } from '#features/community/moderation/changes-views.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { messageOr } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { type FieldRow, fieldDiff, marked, textDiff } from '#web/ui/parts/diff.ts'

type Changes = Pick<Static<typeof ProjectChangesView>, 'texts' | 'lists' | 'links' | 'icon' | 'gallery' | 'versions'>
type TextChange = Changes['texts'][number]
type ListChange = Changes['lists'][number]

/** Texts of several paragraphs. The others are in the table of fields. */
const LONG_FIELDS: readonly string[] = ['description', 'bio']

export const fieldName = ({ language }: PageContext, field: string): string =>
  messageOr(language, `work.field.${field}`, field)

const isChanged = ({ added, removed }: { added: readonly unknown[]; removed: readonly unknown[] }): boolean =>
  added.length + removed.length > 0

/** Returns the number of changed fields. */
export function countChanges({ texts, lists, links, icon }: Changes): number {
  const changedLinks = links.filter(({ before, after }) => before !== after)
  const changedTexts = texts.filter(({ changed }) => changed)
  return changedTexts.length + lists.filter(isChanged).length + changedLinks.length + Number(icon.before !== icon.after)
}

/** Renders the changed fields in a table, and the changed long texts below it; null if none has changed. */
export function changedFields(page: PageContext, { texts, lists }: Changes, before: string): Part {
  const changed = texts.filter((text) => text.changed)
  const long = changed.filter(({ field }) => LONG_FIELDS.includes(field))
  const rows = [
    ...changed.filter((text) => !long.includes(text)).map((text) => textRow(page, text)),
    ...lists.filter(isChanged).map((list) => listRow(page, list)),
  ]
  if (rows.length + long.length === 0) return null
  const after = page.language.t('work.diff.now')
  return html`${rows.length > 0 && fieldDiff(page, { before, after, rows })}${long.map(
    ({ field, parts }) => html`<p class="strong">${fieldName(page, field)}</p>
${textDiff(page, parts)}`,
  )}`
}

function textRow(page: PageContext, { field, parts }: TextChange): FieldRow {
  const without = (hidden: 'added' | 'removed') => parts.filter(({ change }) => change !== hidden).map(marked)
  return { label: fieldName(page, field), before: without('added'), after: without('removed') }
}

function listRow(page: PageContext, { field, same, added, removed }: ListChange): FieldRow {
  const joined = (change: 'added' | 'removed', texts: readonly string[]): Part[] => {
    const parts = [
      ...same.map((text) => ({ change: 'same' as const, text })),
      ...texts.map((text) => ({ change, text })),
    ]
    return parts.flatMap((part, index) => [index > 0 && ', ', marked(part)])
  }
  return { label: fieldName(page, field), before: joined('removed', removed), after: joined('added', added) }
}

/** Renders what was added, removed and changed: links, icon, images and versions; null if nothing was. */
export function changedSets(page: PageContext, { links, icon, gallery, versions }: Changes): Part {
  const { t } = page.language
  const item = (field: string, of: { added: readonly string[]; removed: readonly string[]; changed?: number }) => {
    const { changed = 0 } = of
    if (!isChanged(of) && changed === 0) return []
    const marks = [
      of.added.map((text) => html`${marked({ change: 'added', text })} `),
      of.removed.map((text) => html`${marked({ change: 'removed', text })} `),
      changed > 0 && html`<span class="soft">${t('work.diff.changed', { count: changed })}</span>`,
    ]
    return [html`<li dir="auto"><b>${fieldName(page, field)}</b> ${marks}</li>`]
  }
  const otherLinks = links.filter(({ before, after }) => before !== after)
  const imageName = ({ name, id }: Changes['gallery']['added'][number]): string => name ?? id
  const items: Markup[] = [
    ...item('links', {
      added: otherLinks.flatMap(({ after }) => after ?? []),
      removed: otherLinks.flatMap(({ before }) => before ?? []),
    }),
    ...(icon.before === icon.after ? [] : [html`<li>${t('work.diff.icon')}</li>`]),
    ...item('gallery', {
      added: gallery.added.map(imageName),
      removed: gallery.removed.map(imageName),
      changed: gallery.changed.length,
    }),
    ...item('versions', {
      added: versions.added.map(({ number }) => number),
      removed: versions.removed.map(({ number }) => number),
      changed: versions.changed.length,
    }),
  ]
  return items.length === 0 ? null : html`<ul>${items}</ul>`
}
