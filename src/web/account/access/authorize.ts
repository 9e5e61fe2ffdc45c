// The consent page of OAuth: which application requests which permissions; and the applications that have them.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import type { Application } from '#features/people/oauth/applications/queries.ts'
import { listAuthorizations } from '#features/people/oauth/authorizations/queries.ts'
import { revokeAuthorization } from '#features/people/oauth/authorizations/revoke-authorization.ts'
import { answerAuthorization, getConsentRequest } from '#features/people/oauth/authorize/answer-authorization.ts'
import { startAuthorization } from '#features/people/oauth/authorize/start-authorization.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { formTargetOf } from '#web/kit/safety.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, form, hiddenField } from '#web/ui/parts/fields.ts'
import { face, slip } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { allowedScopes } from './scope-groups.ts'

type Consent = { flow: string; application: Application; scopes: number; redirectUri: string }

export function authorizePages(pages: Pages): void {
  pages.own('GET', PATHS.authorize, 'showConsent', askConsent, {
    whenReadOnly: 'refused',
    shows: 'Consent to an application',
    api: 'authorize acceptAuthorization rejectAuthorization',
  })
  pages.own('GET', PATHS.authorizations, 'showAuthorizations', showAuthorizations, {
    api: 'listAuthorizations revokeAuthorization',
  })
  pages.own('POST', `${PATHS.authorizations}/revoke`, 'endAuthorization', async ({ deps, viewer, field, redirect }) => {
    await revokeAuthorization(deps, viewer, parseId(field('client_id'), 'client_id'))
    return redirect(PATHS.authorizations, 'authorization-ended')
  })
  pages.own('POST', PATHS.authorize, 'sendConsent', async ({ deps, viewer, reply, field }) => {
    const decision = field('decision')
    if (decision !== 'accept' && decision !== 'reject')
      throw invalidInput('The decision must be accept or reject', 'decision')
    const flow = field('flow').slice(0, 128)
    const { redirect_uri: target } = await getConsentRequest(deps, { accountId: viewer.id, flow }).catch(explainMissing)
    const url = await answerAuthorization(deps, viewer, { flow, accept: decision === 'accept' }).catch(explainMissing)
    reply.formTarget = formTargetOf(target)
    return reply.redirect(url, 303)
  })
}

async function askConsent(request: OwnRequest): Promise<FastifyReply> {
  const { deps, req, viewer, reply } = request
  const query = req.query as Record<string, unknown>
  const authorization = await startAuthorization(deps, { accountId: viewer.id, query })
  return authorization.next === 'redirect'
    ? reply.redirect(authorization.url, 303)
    : showConsent(request, authorization)
}

async function showConsent(
  { deps, req, reply, page, account, show }: OwnRequest,
  { flow, application, scopes, redirectUri }: Consent,
): Promise<FastifyReply> {
  reply.formTarget = formTargetOf(redirectUri)
  const { username: maker } = await getAccount(deps.db, application.account_id)
  const { protocol, host } = new URL(redirectUri)
  const { t, rich } = page.language
  const isWeb = protocol === 'https:' || protocol === 'http:'
  // In the URL of an installed program, the maker of the program chooses the text in place of the host.
  const target = isWeb ? host : protocol
  const site = application.url === null || application.url === '' ? undefined : new URL(application.url).host
  const allowed = allowedScopes(page, scopes)
  const name = html`<bdi>${application.name}</bdi>`
  const decide = html`${hiddenField('flow', flow)}
<div class="row"><button class="main" name="decision" value="accept">${t('consent.allow')}</button>
<button name="decision" value="reject">${t('consent.refuse')}</button></div>`
  const other = html`${hiddenField('return', req.raw.url ?? '')}
<p class="hint">${t('consent.not-you', { name: account.username })} <button class="plain">${t('consent.somebody-else')}</button></p>`
  const never = (['consent.never.password', 'consent.never.tokens', 'consent.never.delete'] as const).map(
    (key) => html`<li>${icon(page, 'x')}<span>${t(key)}</span></li>`,
  )
  const body =
    slip(html`<div class="stack center">${face({ name: application.name, url: imageUrl(deps.config, application.icon_url), isLarge: true, isSquare: true })}
<h1>${rich('consent.title', { name })}</h1>
<p class="soft">${rich('consent.by', { maker: html`<strong><bdi>${maker}</bdi></strong>${site !== undefined && html`, <a href="${application.url}" rel="noopener noreferrer nofollow" target="_blank">${site}</a>`}` })}</p>
${application.description !== null && application.description !== '' && html`<p>${rich('consent.says', { text: html`<q><bdi>${application.description}</bdi></q>` })}</p>`}</div>
<section class="stack"><h2>${t('consent.asks', { name: account.username })}</h2>
${allowed.length === 0 && html`<p>${t('consent.asks.nothing')}</p>`}${allowed}</section>
<section class="stack"><h2>${t('consent.never')}</h2><ul class="marked no">${never}</ul></section>
<p class="soft">${rich('consent.after', { target: html`<strong>${target}</strong>` })}</p>
${form(page, { action: pathTo(page, PATHS.authorize), content: decide })}
${form(page, { action: pathTo(page, PATHS.signOut), content: other })}`)
  return show({ title: t('consent.page-title', { name: application.name }), body })
}

/** Replaces the error of a user who sent the form twice or too late. */
function explainMissing(error: unknown): never {
  if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
  const description =
    'This authorization request was already answered or has expired. Go back to the application and start again.'
  throw new ApiError('not_found', description, { cause: error })
}

async function showAuthorizations(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, page, t, rich } = request
  const items = (await listAuthorizations(deps.db, viewer.id)).map((one) => {
    const allowed = allowedScopes(page, one.scopes)
    const used =
      one.last_used === null
        ? t('not-used-lately')
        : rich('last-used', { at: timeAgo(page.language, one.last_used, page.now) })
    return html`<li class="row">${face({ name: one.name, url: imageUrl(deps.config, one.icon_url), isSquare: true })}
<div class="grow"><h2><bdi>${one.name}</bdi></h2>
<p class="hint">${rich('authorizations.allowed', { at: timeAgo(page.language, one.created, page.now) })} ${used}</p>
<details><summary>${t('authorizations.may')}</summary>${allowed.length === 0 && html`<p>${t('authorizations.public-only')}</p>`}${allowed}</details></div>
${buttonForm(page, { action: `${pathTo(page, PATHS.authorizations)}/revoke`, text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: one.name }), fields: { client_id: one.client_id } })}
</li>`
  })
  const body =
    items.length === 0
      ? html`<section class="section"><p class="soft">${t('authorizations.empty')}</p></section>`
      : html`<section class="section"><p class="soft">${t('authorizations.text')}</p>
<ul class="items">${items}</ul>
</section>`
  return showSettings(request, { title: t('settings.authorizations'), body })
}
