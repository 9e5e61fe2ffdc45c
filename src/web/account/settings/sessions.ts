// The devices on which a user is signed in: their list, and the forms that end sessions.
import { deleteSession, signOutElsewhere } from '#features/people/accounts/sessions/delete-session.ts'
import { listSessions } from '#features/people/accounts/sessions/queries.ts'
import { deviceKind } from '#features/people/accounts/sessions/user-agent.ts'
import type { SessionRow } from '#features/people/accounts/sessions/views.ts'
import { parseId } from '#lib/ids.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { countryName, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { badge } from '#web/ui/parts/lists.ts'

const PATH = `${PATHS.data}/devices`

export function sessionPages(pages: Pages): void {
  pages.own('POST', `${PATH}/end`, 'endSession', async (request) => {
    const { deps, cookie, viewer, reply, field, redirect } = request
    const id = parseId(field('id'), 'id')
    await deleteSession(deps, viewer, { id })
    if (id !== viewer.token.id) return redirect(PATHS.data, 'session-ended')
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'signed-out')
  })
  pages.own('POST', `${PATH}/end-others`, 'endOtherSessions', async ({ deps, viewer, redirect }) => {
    await signOutElsewhere(deps, viewer)
    return redirect(PATHS.data, 'sessions-ended')
  })
}

/** Renders the list of devices, this device first. */
export async function devicesSection({ deps, viewer, page, t, rich }: OwnRequest): Promise<Markup> {
  const sessions = await listSessions(deps.db, { accountId: viewer.id, now: deps.now() })
  const isThis = ({ id }: SessionRow): boolean => id === viewer.token.id
  const items = [...sessions]
    .sort((a, b) => Number(isThis(b)) - Number(isThis(a)))
    .map((session) => deviceItem(page, session, isThis(session)))
  const security = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}">${text}</a>`
  return html`<section class="section" id="devices"><h2>${t('data.devices')}</h2>
<p class="soft">${rich('data.devices.text', { link: security })}</p>
<ul class="items">${items}</ul>
${sessions.length > 1 && html`<div>${buttonForm(page, { action: pathTo(page, `${PATH}/end-others`), text: t('sessions.end-others'), kind: 'danger' })}</div>`}
</section>`
}

function deviceItem(page: PageContext, session: SessionRow, isThis: boolean): Markup {
  const { t, rich } = page.language
  const { name, kind } = deviceOf(page, session)
  const facts = rich('sessions.facts', {
    address: placeOf(page, session, session.ip),
    created: timeAgo(page.language, session.created, page.now),
    used: timeAgo(page.language, session.last_login, page.now),
  })
  const end = buttonForm(page, {
    action: pathTo(page, `${PATH}/end`),
    text: t('layout.sign-out'),
    isTight: true,
    label: t('sessions.end', { name }),
    fields: { id: session.id },
  })
  return html`<li class="row">
<div class="grow"><h3>${name} ${isThis && badge('good', t('sessions.this'))}</h3>
<p class="hint">${kind !== undefined && `${kind} · `}${facts}</p></div>
${end}
</li>`
}

/** Returns the program and the kind of the device of a session; the kind is undefined if it is unknown. */
export function deviceOf({ language: { t } }: PageContext, { platform, os, user_agent }: SessionRow) {
  const name = platform && os ? t('sessions.program', { platform, os }) : platform || os || t('sessions.unknown')
  const kind = deviceKind(user_agent)
  return { name, kind: kind && t(`sessions.kind.${kind}`) }
}

/** Returns the place of a sign-in with its address. */
export function placeOf({ language }: PageContext, { city, country }: SessionRow, address: string): string {
  const place = [city, country === null ? null : countryName(language, country)].filter(Boolean).join(', ')
  return place === '' ? address : `${place} (${address})`
}
