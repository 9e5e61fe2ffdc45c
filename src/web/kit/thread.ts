// A conversation with moderators as a list of messages and decisions.

import { listMessages, type MessageRow } from '#features/catalogue/threads/queries.ts'
import { type ThreadMessageView, toMessageViews } from '#features/catalogue/threads/views.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { exactTime } from '#web/ui/format.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { face } from '#web/ui/parts/lists.ts'
import { status, statusName } from '#web/ui/parts/status.ts'
import type { OwnRequest } from './pages.ts'

export type Thread = {
  messages: readonly MessageRow[]
  /** The authors whom the viewer can see, by ID. */
  authors: ReadonlyMap<string, UserView>
}

/** Maximum number of messages on a page: the latest. */
const SHOWN_MAX = 100

/** Returns the messages of a thread that the viewer can read. Runs at most two statements. */
export async function loadThread({ deps, viewer }: OwnRequest, threadId: string | null): Promise<Thread> {
  const messages = threadId === null ? [] : await listMessages(deps.db, viewer, [threadId])
  const ids = [...new Set(toMessageViews(messages, viewer).flatMap(({ author_id }) => author_id ?? []))]
  const users = (await listCachedUsers(deps, ids)).map(viewOf)
  return { messages, authors: new Map(users.map((user) => [user.id, user])) }
}

/** Renders the latest messages, newest last. */
export async function threadList({ viewer, texts, page }: OwnRequest, { messages, authors }: Thread): Promise<Markup> {
  const { t } = page.language
  const views = toMessageViews(messages, viewer)
  if (views.length === 0) return html`<p class="soft">${t('work.thread.empty')}</p>`
  const shown = views.slice(-SHOWN_MAX)
  const items = await Promise.all(
    shown.map(async (view) => {
      const text = view.body.type === 'text' ? await texts.render(view.body.body, page) : undefined
      return messageItem(page, view, { author: authors.get(view.author_id ?? ''), text })
    }),
  )
  const omitted = views.length - shown.length
  return html`${omitted > 0 && html`<p class="soft">${t('work.thread.omitted', { count: omitted })}</p>`}<ol class="thread">
${items}</ol>`
}

/** Returns the name of the author of a message, as the viewer sees it. */
export function authorName({ language: { t } }: PageContext, hidesIdentity: boolean, author?: UserView): string {
  return author?.username ?? t(hidesIdentity ? 'work.thread.moderator' : 'work.thread.deleted-user')
}

function messageItem(
  page: PageContext,
  { id, body, appeal, created, hide_identity }: ThreadMessageView,
  { author, text }: { author: UserView | undefined; text: Markup | undefined },
): Markup {
  const { t } = page.language
  const at = exactTime(page.language, new Date(created))
  if (body.type !== 'text' && body.type !== 'deleted') {
    const event = eventOf(page, body)
    const answer = appeal === 'accepted' && html` · ${t('work.thread.appeal-accepted')}`
    const by = author !== undefined && html` · <bdi>${author.username}</bdi>`
    return html`<li class="event" id="message-${id}">${icon(page, event.icon)}<span>${event.text}${answer}${by} · ${at}</span></li>
`
  }
  const name = authorName(page, hide_identity, author)
  const mark = body.private
    ? status(page, { kind: 'wait', icon: 'lock', label: t('work.thread.private') })
    : appeal !== undefined && appealMark(page, appeal)
  const role = hide_identity && author !== undefined && !body.private && html` (${t('work.thread.moderator')})`
  const said = body.type === 'deleted' ? html`<p class="soft">${t('work.thread.deleted')}</p>` : text
  const more = attributes({ class: body.private && 'private', id: `message-${id}` })
  return html`<li${more}>${face({ name, url: author?.avatar_url })}<div><p class="by"><b><bdi>${name}</bdi></b>${role} · ${at} ${mark}</p><div class="said">${said}</div></div></li>
`
}

function appealMark(page: PageContext, appeal: NonNullable<ThreadMessageView['appeal']>): Markup {
  const { t } = page.language
  if (appeal === 'made') return status(page, { kind: 'wait', icon: 'gavel', label: t('work.thread.appeal') })
  return status(page, { icon: 'gavel', label: t('work.thread.appeal-rejected') })
}

type EventBody = Exclude<ThreadMessageView['body'], { type: 'text' } | { type: 'deleted' }>

function eventOf(page: PageContext, body: EventBody) {
  const { t } = page.language
  if (body.type === 'status_change') {
    const values = {
      from: statusName(page, 'project', body.old_status),
      to: statusName(page, 'project', body.new_status),
    }
    return { icon: 'gavel', text: t('work.thread.status', values) } as const
  }
  return body.type === 'thread_closure'
    ? ({ icon: 'check', text: t('work.thread.closed') } as const)
    : ({ icon: 'undo', text: t('work.thread.reopened') } as const)
}
