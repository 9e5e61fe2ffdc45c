// Lists the sessions of a user, and ends them.
import { deleteSession, signOutElsewhere } from '#features/people/accounts/sessions/delete-session.ts'
import { listSessions } from '#features/people/accounts/sessions/queries.ts'
import { parseId } from '#lib/ids.ts'
import { timeAgo } from '#platform/html/format.ts'
import { buttonForm } from '#platform/html/forms.ts'
import { html } from '#platform/html/html.ts'
import { badge } from '#platform/html/lists.ts'
import { pathTo } from '#platform/html/page-context.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'

export function sessionPages(pages: Pages): void {
  pages.own('GET', PATHS.sessions, 'showSessions', async (request) => {
    const { deps, viewer, page } = request
    const sessions = await listSessions(deps.db, { accountId: viewer.id, now: deps.now() })
    const { t, rich } = page.language
    const path = pathTo(page, PATHS.sessions)
    const items = sessions.map((session) => {
      const { platform, os } = session
      const name = platform && os ? t('sessions.program', { platform, os }) : platform || os || t('sessions.unknown')
      const facts = rich('sessions.facts', {
        address: session.ip,
        created: timeAgo(page.language, session.created, page.now),
        used: timeAgo(page.language, session.last_login, page.now),
      })
      return html`<li class="row">
<div class="grow"><h2>${name} ${session.id === viewer.token.id && badge('good', t('sessions.this'))}</h2>
<p class="hint">${facts}</p></div>
${buttonForm(page, { action: `${path}/end`, text: t('layout.sign-out'), isTight: true, label: t('sessions.end', { name }), fields: { id: session.id } })}
</li>`
    })
    const body = html`<section class="section"><ul class="items">${items}</ul>
${sessions.length > 1 && buttonForm(page, { action: `${path}/end-others`, text: t('sessions.end-others'), kind: 'danger' })}
</section>`
    return showSettings(request, { title: t('settings.sessions'), body })
  })
  pages.own('POST', `${PATHS.sessions}/end`, 'endSession', async (request) => {
    const { deps, cookie, viewer, reply, field, redirect } = request
    const id = parseId(field('id'), 'id')
    await deleteSession(deps, viewer, { id })
    if (id !== viewer.token.id) return redirect(PATHS.sessions, 'session-ended')
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'signed-out')
  })
  pages.own('POST', `${PATHS.sessions}/end-others`, 'endOtherSessions', async ({ deps, viewer, redirect }) => {
    await signOutElsewhere(deps, viewer)
    return redirect(PATHS.sessions, 'sessions-ended')
  })
}
