// Personal access tokens.

import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { checkAccessToken, createOwnAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import type { TokenLimits } from '#features/people/accounts/access-tokens/limits.ts'
import {
  type AccessTokenRow,
  listAccessTokens,
  listTokenResources,
} from '#features/people/accounts/access-tokens/queries.ts'
import { NewToken } from '#features/people/accounts/access-tokens/requests.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { parseId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { attempt, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, form, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { badge, note } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { isProofRefused, proofFields, proofOf } from '../settings/settings-views.ts'
import { scopeChoice, scopeGroups, scopesOf } from './scope-groups.ts'
import { limitChoice, limitsLine, readLimits, type TypedLimits, tokenSentences } from './token-limits.ts'

const LABELS = {
  name: 'The name',
  scopes: 'The choice',
  expires: 'The expiry',
  limits: 'The limit',
  password: 'The password',
  code: 'The code',
}
/** Lifetimes that the form offers, in days. */
const LIFETIMES = [7, 30, 90, 365]

type Typed = TypedLimits & { name: string; chosen: string[]; days: string; refusal?: FormRefusal }

const EMPTY: Typed = { name: '', chosen: [], days: '90', resources: [], networks: '' }

export function tokenPages(pages: Pages): void {
  pages.own('GET', PATHS.tokens, 'showTokens', (request) => showTokens(request, EMPTY), {
    api: 'listAccessTokens createAccessToken deleteAccessToken',
  })
  pages.own('POST', PATHS.tokens, 'makeToken', makeToken)
  pages.own('POST', `${PATHS.tokens}/revoke`, 'revokeAccessToken', async ({ deps, viewer, field, redirect }) => {
    const token = { id: parseId(field('id'), 'id') }
    await deleteAccessToken(deps, { accountId: viewer.id, token, actor: actorOf(viewer) })
    return redirect(PATHS.tokens, 'token-revoked')
  })
}

async function showTokens(request: OwnRequest, typed: Typed): Promise<FastifyReply> {
  const { deps, viewer, page, t } = request
  const tokens = await listAccessTokens(deps.db, viewer.id)
  const known = await listTokenResources(deps.db, viewer.id)
  const action = pathTo(page, PATHS.tokens)
  const errors = errorsOf(typed)
  const choices = LIFETIMES.map((days) => ({
    value: String(days),
    label: t('tokens.days', { days }),
    isChosen: String(days) === typed.days,
  }))
  const content = html`${textField(page, { name: 'name', label: t('field.name'), hint: t('tokens.name.hint'), value: typed.name, ...limitsOf(NewToken.properties.name), autocomplete: 'off', errors })}
${selectField(page, { name: 'days', label: t('tokens.lifetime'), choices })}
${scopeChoice(page, { ...typed, name: 'scopes', legend: t('tokens.may') })}
${limitChoice(page, { ...typed, known })}
<div><button class="main">${t('tokens.review')}</button></div>`
  const body = html`<section class="section"><h2>${t('tokens.yours')}</h2>
${tokens.length === 0 ? html`<p class="soft">${t('tokens.empty')}</p>` : html`<ul class="items">${tokens.map((token) => tokenItem(page, token))}</ul>`}
</section>
<section class="section"><h2>${t('tokens.new')}</h2>
${form(page, { action, content })}
</section>`
  return showSettings(request, { title: t('settings.tokens'), body, refusal: typed.refusal })
}

function tokenItem(page: PageContext, token: AccessTokenRow): Markup {
  const { language, now } = page
  const { t, rich } = language
  const names = scopeGroups(token.scopes).flatMap(({ scopes }) => scopes.map(({ name }) => name))
  const used =
    token.last_used === null ? t('never-used') : rich('last-used', { at: timeAgo(language, token.last_used, now) })
  return html`<li class="row"><div class="grow">
<h3>${token.name} ${token.expires.getTime() <= now && badge('warn', t('tokens.expired'))}</h3>
<p class="hint">${rich('tokens.expires', { at: timeAgo(language, token.expires, now) })} ${used}</p>
<details><summary>${t('tokens.permissions', { count: names.length })}</summary><span class="mono">${names.length === 0 ? t('tokens.none') : names.join(', ')}</span></details>
${limitsLine(page, token)}
</div>
${buttonForm(page, { action: `${pathTo(page, PATHS.tokens)}/revoke`, text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: token.name }), fields: { id: token.id } })}
</li>`
}

/** The first request shows what the token can do; the second, from that page, creates it. */
async function makeToken(request: OwnRequest): Promise<FastifyReply> {
  const { deps, accounts, viewer, page, field, fields } = request
  const [name, days, chosen] = [field('name'), field('days'), fields('scope')]
  const typed: Typed = { name, chosen, days, resources: fields('resource'), networks: field('networks') }
  const token = {
    name,
    scopes: scopesOf(chosen),
    expires: new Date(deps.now() + Number(days === '' ? Number.NaN : days) * DAY_MS),
    limits: readLimits(typed),
  }
  if (field('reviewed') !== 'yes') {
    const { refusal } = await attempt(() => checkAccessToken(deps, { ...token, accountId: viewer.id }), LABELS)
    return refusal === undefined
      ? reviewToken(request, typed, token)
      : showTokens(request, { ...typed, refusal: atField(refusal) })
  }
  const proof = proofOf(field)
  const make = () => createOwnAccessToken(accounts, viewer, { ...token, proof })
  const { value: created, refusal } = await attempt(make, LABELS)
  if (refusal !== undefined && isProofRefused(refusal)) return reviewToken(request, typed, { ...token, refusal })
  if (refusal !== undefined) return showTokens(request, { ...typed, refusal: atField(refusal) })
  // A response to the form, not a redirect, because no page with a URL can show the token.
  const body = secretView(page, { what: 'token', name: created.row.name, secret: created.token, next: PATHS.tokens })
  return showSettings(request, { title: page.language.t('secret.token.title'), body })
}

/** The form has one field for networks, and one for projects and organizations. */
function atField(refusal: FormRefusal): FormRefusal {
  if (refusal.field?.startsWith('limits') !== true) return refusal
  return { ...refusal, field: refusal.field.startsWith('limits.addresses') ? 'networks' : 'limits' }
}

async function reviewToken(
  request: OwnRequest,
  typed: Typed,
  of: { scopes: number; limits: TokenLimits | null; expires: Date; refusal?: FormRefusal },
): Promise<FastifyReply> {
  const { deps, viewer, page, account, t } = request
  const { scopes, limits, expires, refusal } = of
  const needsProof = !(await isConfirmed(deps.db, viewer, deps.now()))
  const known = await listTokenResources(deps.db, viewer.id)
  const values = [
    ['name', typed.name],
    ['days', typed.days],
    ['networks', typed.networks],
    ['reviewed', 'yes'],
    ...typed.chosen.map((name) => ['scope', name]),
    ...typed.resources.map((name) => ['resource', name]),
  ] as [string, string][]
  const content = html`${values.map(([name, value]) => hiddenField(name, value))}
${tokenSentences(page, { scopes, limits, known, expires })}
${needsProof && proofFields(page, { account, refusal })}
<div><button class="main">${t('tokens.make')}</button></div>
<p><a href="${pathTo(page, PATHS.tokens)}">${t('work.cancel')}</a></p>`
  const body = html`<section class="section"><h2><bdi>${typed.name}</bdi></h2>
${form(page, { action: pathTo(page, PATHS.tokens), content })}
</section>`
  return showSettings(request, { title: t('tokens.review.title'), body, refusal })
}

/** Shows a secret, once. */
export function secretView(
  page: PageContext,
  of: { what: 'token' | 'client-secret' | 'webhook'; name: string; secret: string; clientId?: string; next: string },
): Markup {
  const { t } = page.language
  return html`<section class="section"><h2>${of.name}</h2>
${note(page, 'warn', html`<p>${t(`secret.${of.what}.text`)}</p>`)}
${of.clientId !== undefined && html`<div class="field"><label for="client-id">${t('client-id')}</label><input type="text" class="mono" id="client-id" value="${of.clientId}" readonly></div>`}
<div class="field"><label for="secret">${t(`secret.${of.what}`)}</label>
<div class="with-button"><input type="text" class="mono" id="secret" value="${of.secret}" readonly autocomplete="off" spellcheck="false">
<button type="button" data-copy="secret" data-done="${t('copied')}" hidden>${t('copy')}</button></div></div>
<p><a class="button main" href="${pathTo(page, of.next)}">${t('secret.done')}</a></p>
</section>`
}
