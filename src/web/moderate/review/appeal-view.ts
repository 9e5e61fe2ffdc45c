// The open appeal of a reviewed project: its text, and the decision that it is about.
import type { OwnRequest } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { statusName } from '#web/ui/parts/status.ts'
import type { Review } from './load-review.ts'
import { section } from './section.ts'

export async function appealPart({ page, texts }: OwnRequest, { entry, view, thread }: Review): Promise<Part> {
  const appeal = entry?.appeal ?? null
  if (appeal === null) return null
  const { language, now } = page
  const { t, rich } = language
  const message = thread.messages.findLast(({ body }) => body.type === 'text' && body.appeal === 'made')
  const text = message?.body.type === 'text' ? message.body.body : appeal.text
  const about = rich('moderate.appeal.by', {
    moderator: html`<bdi>${appeal.decided_by?.username ?? t('moderate.appeal.unknown')}</bdi>`,
    status: statusName(page, 'project', view.status),
    time: timeAgo(language, new Date(appeal.created), now),
  })
  const reason = view.moderator_message
  const shown = reason === null ? null : (reason.body ?? reason.message)
  const content = html`${shown !== null && html`<p>${t('moderate.appeal.reason')}</p><div class="said note">${await texts.render(shown, page)}</div>`}<p>${about}</p><div class="said note">${await texts.render(text, page)}</div>`
  return section({ id: 'appeal', title: t('moderate.appeal'), content })
}
