// Lists the sessions of a user, and ends them.
import { deleteSession, signOutElsewhere } from '#features/people/accounts/sessions/delete-session.ts'
import { listSessions } from '#features/people/accounts/sessions/queries.ts'
import { parseId } from '#lib/ids.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { sessionsView } from './settings-views.ts'

export function sessionPages(pages: Pages): void {
  pages.own('GET', PATHS.sessions, 'showSessions', async (request) => {
    const { deps, viewer, page } = request
    const sessions = await listSessions(deps.db, { accountId: viewer.id, now: deps.now() })
    const body = sessionsView(page, { sessions, currentId: viewer.token.id })
    return showSettings(request, { title: page.language.t('settings.sessions'), body })
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
