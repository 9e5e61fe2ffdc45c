// The changes of a project: fields side by side, and the description by word with unchanged paragraphs collapsed.
import { dayText } from '#platform/html/format.ts'
import { attributes, html, type Markup } from '#platform/html/html.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import { changedFields } from '#web/kit/work/changes.ts'
import type { Changes, Review } from './load-review.ts'
import { section } from './section.ts'

export function changesPart(page: PageContext, { changes }: Review, description: Markup): Markup {
  const { t } = page.language
  const before = t(changes.since?.reason === 'approval' ? 'work.diff.approved' : 'work.diff.before')
  const content = html`${changedFields(page, changes, before) ?? html`<p>${t('moderate.changes.none')}</p>`}
<details${attributes({ class: 'more', open: changes.review === 'first' })}><summary>${t('moderate.description.full')}</summary>${description}</details>`
  return section({ id: 'changes', title: changesTitle(page, changes), content })
}

function changesTitle(page: PageContext, { since, review }: Changes): string {
  const { t } = page.language
  if (since === null) return t(review === 'first' ? 'moderate.changes.new' : 'moderate.changes.unknown')
  return t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
}
