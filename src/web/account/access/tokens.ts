// Personal access tokens.

import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { checkAccessToken, createOwnAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import {
  type AccessTokenRow,
  listAccessTokens,
  listTokenResources,
  type TokenResource,
} from '#features/people/accounts/access-tokens/queries.ts'
import { NewToken } from '#features/people/accounts/access-tokens/requests.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { parseId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { sentFields } from '#web/kit/forms/confirm.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, type FormError, form, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
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

export function tokenPages(pages: Pages): void {
  formPage<TokenResource[]>(pages, {
    path: PATHS.tokens,
    name: 'showTokens',
    api: 'listAccessTokens createAccessToken deleteAccessToken',
    load: ({ deps, viewer }) => listTokenResources(deps.db, viewer.id),
    show: (request, known, form) =>
      // Only the second request needs the confirmation of the owner.
      form.text('reviewed') === 'yes' && form.refusal !== undefined && isProofRefused(form.refusal)
        ? reviewToken(request, known, form)
        : showTokens(request, known, form),
    commands: { make: makeToken, revoke: revokeToken },
    labels: LABELS,
  })
}

async function revokeToken({ deps, viewer, field }: OwnRequest): Promise<Outcome> {
  const token = { id: parseId(field('id'), 'id') }
  await deleteAccessToken(deps, { accountId: viewer.id, token, actor: actorOf(viewer) })
  return { done: 'token-revoked' }
}

async function showTokens(request: OwnRequest, known: TokenResource[], state: FormState): Promise<FastifyReply> {
  const { deps, viewer, page, t } = request
  const tokens = await listAccessTokens(deps.db, viewer.id)
  const action = pathTo(page, PATHS.tokens)
  const chosenDays = state.text('days', '90')
  const errors = state.errors.map(atField)
  const choices = LIFETIMES.map((days) => ({
    value: String(days),
    label: t('tokens.days', { days }),
    isChosen: String(days) === chosenDays,
  }))
  const content = html`${textField(page, { name: 'name', label: t('field.name'), hint: t('tokens.name.hint'), value: state.text('name'), ...limitsOf(NewToken.properties.name), autocomplete: 'off', errors })}
${selectField(page, { name: 'days', label: t('tokens.lifetime'), choices })}
${scopeChoice(page, { chosen: state.list('scope'), name: 'scopes', legend: t('tokens.may'), errors })}
${limitChoice(page, { ...typedLimits(state), known, errors })}
<div><button class="main">${t('tokens.review')}</button></div>`
  const body = html`<section class="section"><h2>${t('tokens.yours')}</h2>
${tokens.length === 0 ? html`<p class="soft">${t('tokens.empty')}</p>` : html`<ul class="items">${tokens.map((token) => tokenItem(page, token))}</ul>`}
</section>
<section class="section"><h2>${t('tokens.new')}</h2>
${form(page, { action, content })}
</section>`
  return showSettings(request, { title: t('settings.tokens'), body, refusal: state.refusal && atField(state.refusal) })
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
${buttonForm(page, { action: pathTo(page, PATHS.tokens), text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: token.name }), fields: { do: 'revoke', id: token.id } })}
</li>`
}

/** Returns the token that the form describes. */
const tokenOf = ({ deps }: OwnRequest, form: FormState) => ({
  name: form.text('name'),
  scopes: scopesOf(form.list('scope')),
  expires: new Date(deps.now() + Number(form.text('days') || Number.NaN) * DAY_MS),
  limits: readLimits(typedLimits(form)),
})

const typedLimits = (form: FormState): TypedLimits => ({
  resources: form.list('resource'),
  networks: form.text('networks'),
})

/** The first request shows what the token can do; the second, from that page, creates it. */
async function makeToken(request: OwnRequest, known: TokenResource[], form: FormState): Promise<Outcome> {
  const { deps, accounts, viewer, page, field } = request
  const token = tokenOf(request, form)
  if (form.text('reviewed') !== 'yes') {
    await checkAccessToken(deps, { ...token, accountId: viewer.id })
    return reviewToken(request, known, form)
  }
  const created = await createOwnAccessToken(accounts, viewer, { ...token, proof: proofOf(field) })
  // A response to the form, not a redirect, because no page with a URL can show the token.
  const body = secretView(page, { what: 'token', name: created.row.name, secret: created.token, next: PATHS.tokens })
  return showSettings(request, { title: page.language.t('secret.token.title'), body })
}

/** The form has one field for networks, and one for projects and organizations. */
function atField<Error extends FormError>(error: Error): Error {
  if (error.field?.startsWith('limits') !== true) return error
  return { ...error, field: error.field.startsWith('limits.addresses') ? 'networks' : 'limits' }
}

async function reviewToken(request: OwnRequest, known: TokenResource[], state: FormState): Promise<FastifyReply> {
  const { deps, viewer, page, account, t } = request
  const { refusal } = state
  const token = tokenOf(request, state)
  const needsProof = !(await isConfirmed(deps.db, viewer, deps.now()))
  const content = html`${sentFields(request)}${refusal === undefined && hiddenField('reviewed', 'yes')}
${tokenSentences(page, { ...token, known })}
${needsProof && proofFields(page, { account, refusal })}
<div><button class="main">${t('tokens.make')}</button></div>
<p><a href="${pathTo(page, PATHS.tokens)}">${t('work.cancel')}</a></p>`
  const body = html`<section class="section"><h2><bdi>${token.name}</bdi></h2>
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
