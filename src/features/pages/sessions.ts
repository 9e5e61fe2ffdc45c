// Where one is signed in, and ending that.
import { transaction } from '#cache/transaction.ts'
import { deleteOtherSessions, deleteSession, listSessions } from '#features/accounts/sessions/queries.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { PageDeps, Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'

export function sessionPages(pages: Pages, { deps, cookie }: PageDeps): void {
  pages.own('GET', PATHS.sessions, 'showSessions', async ({ viewer, show }) => {
    const sessions = await listSessions(deps.db, { accountId: viewer.id, now: deps.now() })
    return show('sessions', { title: 'Sessions', sessions, currentId: viewer.token.id })
  })
  pages.own('POST', `${PATHS.sessions}/end`, 'endSession', async ({ viewer, reply, field, lead }) => {
    const id = parseId(field('id'), 'id')
    const of = { accountId: viewer.id, session: { id } }
    const found = await transaction(deps, (tx, changed) => deleteSession(tx, changed, of))
    if (!found) throw notFound('session')
    if (id !== viewer.token.id) return lead(PATHS.sessions, 'session-ended')
    cookie.clear(reply)
    return lead(PATHS.signIn, 'signed-out')
  })
  pages.own('POST', `${PATHS.sessions}/end-others`, 'endOtherSessions', async ({ viewer, lead }) => {
    const of = { accountId: viewer.id, exceptId: viewer.token.id }
    await transaction(deps, (tx, changed) => deleteOtherSessions(tx, changed, of))
    return lead(PATHS.sessions, 'sessions-ended')
  })
}
