// The changes of a project: fields side by side, and the description by word with unchanged paragraphs collapsed.

import { changedFields, changedSets } from '#web/kit/forms/changes.ts'
import { dayText } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import type { Changes, Review } from './load-review.ts'
import { section } from './section.ts'

export function changesPart(page: PageContext, { changes }: Review, description: Markup): Markup {
  const { t } = page.language
  const before = t(changes.since?.reason === 'approval' ? 'work.diff.approved' : 'work.diff.before')
  const content = html`${recentPart(page, changes)}${changedFields(page, changes, before) ?? html`<p>${t('moderate.changes.none')}</p>`}
<details${attributes({ class: 'more', open: changes.review === 'first' })}><summary>${t('moderate.description.full')}</summary>${description}</details>`
  return section({ id: 'changes', title: changesTitle(page, changes), content })
}

/** Renders what has changed in a first review since the moderators last wrote, or since the submission. */
function recentPart(page: PageContext, { since, recent }: Changes): Part {
  if (since === null || recent === null) return null
  const { t } = page.language
  const changed = [changedFields(page, recent, t('work.diff.before')), changedSets(page, recent)]
  if (changed.every((part) => part === null)) return null
  const title = t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
  return html`<div class="note warn" data-finding>${icon(page, 'pencil')}<div><h3>${title}</h3>
${changed}</div></div>
`
}

function changesTitle(page: PageContext, { since, review }: Changes): string {
  const { t } = page.language
  if (since === null || review === 'first')
    return t(review === 'first' ? 'moderate.changes.new' : 'moderate.changes.unknown')
  return t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
}
