// The thread of a reviewed project: messages, private notes and changes of the status.
import type { MessageRow } from '#features/catalogue/threads/queries.ts'
import { timeAgo } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import { isMessageKey } from '#platform/html/languages.ts'
import { icon, type PageContext } from '#platform/html/page-context.ts'
import { status } from '#platform/html/work/status.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { Review } from './load-review.ts'
import { section } from './section.ts'

/** Maximum number of entries, newest last. */
const SHOWN = 100

export async function threadPart({ page, texts }: OwnRequest, { messages, names }: Review): Promise<Markup> {
  const { t } = page.language
  const shown = messages.slice(-SHOWN)
  const items = await Promise.all(
    shown.map(async (message) => {
      const text = message.body.type === 'text' ? await texts.render(message.body.body, page) : undefined
      return messageItem(page, message, { text, name: names.get(message.author_id ?? '') })
    }),
  )
  const omitted = messages.length - shown.length
  const content = html`${omitted > 0 && html`<p class="soft">${t('moderate.thread.omitted', { count: omitted })}</p>`}
${items.length > 0 ? html`<ol class="thread">${items}</ol>` : html`<p class="soft">${t('moderate.thread.none')}</p>`}`
  return section({ id: 'thread', title: t('moderate.thread'), content })
}

function messageItem(
  page: PageContext,
  message: MessageRow,
  { text, name }: { text: Part; name: string | undefined },
): Markup {
  const { language, now } = page
  const { t } = language
  const time = timeAgo(language, message.created, now)
  const who = name === undefined ? t('moderate.thread.nobody') : html`<bdi>${name}</bdi>`
  if (message.body.type !== 'text')
    return html`<li class="event">${icon(page, 'history')}<span>${eventText(page, message)} · ${who} · ${time}</span></li>
`
  const isPrivate = message.body.private
  const initial = (name ?? '?').slice(0, 1)
  return html`<li${attributes({ class: isPrivate && 'private' })}><span class="face" aria-hidden="true">${initial}</span><div><p class="by"><b>${who}</b>${message.hide_identity && !isPrivate && html` (${t('moderate.thread.as-moderator')})`} · ${time}${isPrivate && html` · ${status(page, { kind: 'wait', icon: 'lock', label: t('moderate.thread.private') })}`}</p><div class="said">${text}</div></div></li>
`
}

function eventText({ language: { t } }: PageContext, { body }: MessageRow): Part {
  if (body.type !== 'status_change') return t('moderate.thread.deleted')
  const name = (value: string): string => {
    const key = `work.project.${value}`
    return isMessageKey(key) ? t(key) : value
  }
  return t('moderate.thread.changed', { before: name(body.old_status), now: name(body.new_status) })
}
