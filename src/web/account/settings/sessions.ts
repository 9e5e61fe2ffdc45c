// Where one is signed in, and ending that.
import { deleteSession, signOutElsewhere } from '#features/people/accounts/sessions/delete-session.ts'
import { listSessions } from '#features/people/accounts/sessions/queries.ts'
import { parseId } from '#lib/ids.ts'
import type { PageDeps, Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { sessionsView } from './settings-views.ts'

export function sessionPages(pages: Pages, { deps, cookie }: PageDeps): void {
  pages.own('GET', PATHS.sessions, 'showSessions', async ({ viewer, page, showSettings }) => {
    const sessions = await listSessions(deps.db, { accountId: viewer.id, now: deps.now() })
    const body = sessionsView(page, { sessions, currentId: viewer.token.id })
    return showSettings({ title: page.language.t('settings.sessions'), body })
  })
  pages.own('POST', `${PATHS.sessions}/end`, 'endSession', async ({ viewer, reply, field, redirect }) => {
    const id = parseId(field('id'), 'id')
    await deleteSession(deps, viewer, { id })
    if (id !== viewer.token.id) return redirect(PATHS.sessions, 'session-ended')
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'signed-out')
  })
  pages.own('POST', `${PATHS.sessions}/end-others`, 'endOtherSessions', async ({ viewer, redirect }) => {
    await signOutElsewhere(deps, viewer)
    return redirect(PATHS.sessions, 'sessions-ended')
  })
}
