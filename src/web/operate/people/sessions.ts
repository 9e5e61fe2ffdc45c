// The sessions of an account for operators, and the page that ends one of them.
import { actorOf } from '#features/basics/audit/actor.ts'
import { endUserSession } from '#features/people/accounts/administration/end-user-session.ts'
import { listUserSessions } from '#features/people/accounts/administration/queries.ts'
import { networkOf } from '#lib/address-key.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { deviceOf, placeOf } from '#web/account/settings/sessions.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, decisionPage, type ManagedAccount } from './confirmed.ts'

export function sessionPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'sessions/:session',
    name: 'operateEndSession',
    shows: 'Ending one session of an account',
    api: 'endUserSession',
    title: ({ page }, { account }) => page.language.t('ops.end-session.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.end-session.button'),
    consequences: async (request, data) => {
      const { page, param, t } = request
      const session = (await sessionsOf(request, data)).find(({ id }) => id === param('session'))
      if (session === undefined) throw notFound('session')
      const { name } = deviceOf(page, session)
      const place = placeOf(page, session, networkOf(session.ip))
      return [t('ops.end-session.effect', { name, place }), t('ops.end-session.others')]
    },
    decide: async (request, { account }, form) => {
      const sessionId = parseId(request.param('session'), 'session')
      await confirmOperator(request, form)
      await endUserSession(request.deps, actorOf(request.viewer), { name: account.id, sessionId })
      return { done: 'user-session-ended', path: accountPath(account.id) }
    },
  })
}

const sessionsOf = ({ deps }: OwnRequest, { account }: ManagedAccount) =>
  listUserSessions(deps.db, { accountId: account.id, now: deps.now() })

/** Renders the sessions of an account with links that end them. */
export async function sessionsPart(request: OwnRequest, data: ManagedAccount): Promise<Part> {
  const { page, t } = request
  const sessions = await sessionsOf(request, data)
  if (sessions.length === 0) return null
  const title = t('ops.account.sessions')
  const table = listTable(page, {
    caption: title,
    isInner: true,
    columns: [
      { label: t('ops.sessions.device') },
      { label: t('ops.sessions.place'), room: 'mid' },
      { label: t('ops.sessions.created'), room: 'far' },
      { label: t('ops.sessions.used'), room: 'mid' },
      { label: t('ops.actions'), isAction: true },
    ],
    rows: sessions.map((session) => {
      const { name, kind } = deviceOf(page, session)
      const [place, used] = [
        placeOf(page, session, networkOf(session.ip)),
        timeAgo(page.language, session.last_login, page.now),
      ]
      const end = html`<a class="button tight" href="${pathTo(page, `${accountPath(data.account.id)}/sessions/${session.id}`)}" aria-label="${t('ops.sessions.end', { name })}">${t('ops.sessions.end-one')}</a>`
      return {
        cells: [
          nameCell({ name, details: kind, near: used, least: [place] }),
          place,
          timeAgo(page.language, session.created, page.now),
          used,
          end,
        ],
      }
    }),
  })
  return sheetPart({ id: 'sessions', title, text: t('ops.sessions.text'), content: table })
}
