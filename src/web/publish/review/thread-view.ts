// The conversation between the members of a project and the moderators, with changes of the status.
import { getReadableThread, listMessages } from '#features/catalogue/threads/queries.ts'
import { type ThreadMessageView, toMessageViews } from '#features/catalogue/threads/views.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { timeAgo } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { isMessageKey } from '#platform/html/languages.ts'
import { face } from '#platform/html/lists.ts'
import { icon, type PageContext } from '#platform/html/page-context.ts'
import type { OwnRequest } from '#web/kit/pages.ts'

/** Number of the latest messages that the page shows. */
const SHOWN_MAX = 100

/** Renders the messages of a thread that the viewer can read, oldest first. */
export async function threadView({ deps, viewer, page, texts }: OwnRequest, threadId: string): Promise<Part> {
  await getReadableThread(deps.db, viewer, threadId)
  const rows = await listMessages(deps.db, viewer, [threadId])
  const messages = toMessageViews(rows, viewer).slice(-SHOWN_MAX)
  if (messages.length === 0) return html`<p class="soft">${page.language.t('publish.thread.empty')}</p>`
  const authorIds = [...new Set(messages.flatMap(({ author_id }) => author_id ?? []))]
  const users = (await listCachedUsers(deps, authorIds)).map(({ bytes }) => JSON.parse(bytes.toString()) as UserView)
  const byId = new Map(users.map((user) => [user.id, user]))
  const items = await Promise.all(
    messages.map(async (message) => {
      const { body } = message
      if (body.type !== 'text') return eventRow(page, message)
      return messageRow(page, message, {
        author: byId.get(message.author_id ?? ''),
        text: await texts.render(body.body, page),
      })
    }),
  )
  return html`<ol class="thread">${items}</ol>`
}

function messageRow(
  page: PageContext,
  { hide_identity, created }: ThreadMessageView,
  { author, text }: { author: UserView | undefined; text: Markup },
): Markup {
  const { t } = page.language
  const name = hide_identity ? t('publish.thread.moderator') : (author?.username ?? t('publish.thread.deleted-user'))
  const shown = face({ name, url: hide_identity ? null : author?.avatar_url })
  return html`<li>${shown}<div><p class="by"><b><bdi>${name}</bdi></b> · ${timeAgo(page.language, new Date(created), page.now)}</p><div class="said">${text}</div></div></li>
`
}

function eventRow(page: PageContext, { body, created }: ThreadMessageView): Markup {
  const { t } = page.language
  const key = body.type === 'status_change' ? `work.project.${body.new_status}` : ''
  const text =
    body.type === 'status_change'
      ? t('publish.thread.status', { status: isMessageKey(key) ? t(key) : body.new_status })
      : t(body.type === 'deleted' ? 'publish.thread.deleted' : 'publish.thread.event')
  return html`<li class="event">${icon(page, 'history')}<span>${text} · ${timeAgo(page.language, new Date(created), page.now)}</span></li>
`
}
