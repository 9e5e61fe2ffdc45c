// The conversation with moderators as a list of messages and decisions.
import { listMessages } from '#features/catalogue/threads/queries.ts'
import { type ThreadMessageView, toMessageViews } from '#features/catalogue/threads/views.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { exactTime } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import { isMessageKey } from '#platform/html/languages.ts'
import { face } from '#platform/html/lists.ts'
import { icon, type PageContext } from '#platform/html/page-context.ts'
import { status } from '#platform/html/work/status.ts'
import type { OwnRequest } from '../pages.ts'

/** Returns the messages of a thread that the viewer can read. Runs at most two statements. */
export async function renderThread(request: OwnRequest, threadId: string): Promise<Part> {
  const { deps, viewer, texts, page } = request
  const views = toMessageViews(await listMessages(deps.db, viewer, [threadId]), viewer)
  if (views.length === 0) return html`<p class="soft">${page.language.t('reports.thread.empty')}</p>`
  const ids = [...new Set(views.flatMap(({ author_id }) => author_id ?? []))]
  const users = (await listCachedUsers(deps, ids)).map(({ bytes }) => JSON.parse(bytes.toString()) as UserView)
  const byId = new Map(users.map((user) => [user.id, user]))
  const items: Markup[] = []
  for (const view of views) {
    const text = view.body.type === 'text' ? await texts.render(view.body.body, page) : undefined
    items.push(messageItem(page, view, { author: byId.get(view.author_id ?? ''), text }))
  }
  return html`<ol class="thread">
${items}</ol>`
}

function messageItem(
  page: PageContext,
  { id, body, created, hide_identity }: ThreadMessageView,
  { author, text }: { author: UserView | undefined; text: Markup | undefined },
): Markup {
  const { t } = page.language
  const at = exactTime(page.language, new Date(created))
  if (body.type !== 'text' && body.type !== 'deleted') {
    const event = eventOf(page, body)
    return html`<li class="event" id="message-${id}">${icon(page, event.icon)}<span>${event.text} · ${at}</span></li>
`
  }
  const moderator = t('reports.thread.moderator')
  const name = author?.username ?? (hide_identity ? moderator : t('reports.thread.deleted-user'))
  const mark = body.private && status(page, { kind: 'wait', icon: 'lock', label: t('reports.thread.private') })
  const role = hide_identity && author !== undefined && html` (${moderator})`
  const said = body.type === 'deleted' ? html`<p class="soft">${t('reports.thread.deleted')}</p>` : text
  const more = attributes({ class: body.private && 'private', id: `message-${id}` })
  return html`<li${more}>${face({ name, url: author?.avatar_url })}<div><p class="by"><b><bdi>${name}</bdi></b>${role} · ${at} ${mark}</p><div class="said">${said}</div></div></li>
`
}

type EventBody = Exclude<ThreadMessageView['body'], { type: 'text' } | { type: 'deleted' }>

function eventOf({ language: { t } }: PageContext, body: EventBody) {
  if (body.type === 'status_change') {
    const nameOf = (value: string): string => {
      const key = `work.project.${value}`
      return isMessageKey(key) ? t(key) : value
    }
    const values = { from: nameOf(body.old_status), to: nameOf(body.new_status) }
    return { icon: 'gavel', text: t('reports.thread.status', values) } as const
  }
  return body.type === 'thread_closure'
    ? ({ icon: 'check', text: t('reports.thread.closed') } as const)
    : ({ icon: 'undo', text: t('reports.thread.reopened') } as const)
}
