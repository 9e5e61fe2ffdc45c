// Views of tokens, applications, authorizations and consent.
import { timeAgo } from '#platform/html/format.ts'
import {
  buttonForm,
  checkbox,
  fieldset,
  form,
  hiddenField,
  selectField,
  textArea,
  textField,
} from '#platform/html/forms.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { badge, face, note, slip } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms.ts'
import { PATHS } from '#web/kit/paths.ts'
import { pictureSection } from '../settings/settings-views.ts'
import type { ScopeGroupView } from './scope-groups.ts'

type Refused = { refusal?: FormRefusal | undefined }
type Groups = readonly ScopeGroupView[]

/** Shows scopes with the descriptions of the API, which are English. */
function scopeChoice(
  page: PageContext,
  of: { name: string; legend: string; groups: Groups; chosen: readonly string[] } & Refused,
): Markup {
  const { t } = page.language
  const groups = of.groups.map(
    ({ group, scopes }) => html`<fieldset>
<legend class="group-head" lang="en">${group} <button type="button" class="plain" data-tick-all="${t('scopes.none')}" hidden>${t('scopes.all')}</button></legend>
${scopes.map(({ name, explanation }) => checkbox({ name: 'scope', value: name, isChecked: of.chosen.includes(name), label: html`<span lang="en">${explanation}</span>`, hint: name }))}
</fieldset>`,
  )
  return fieldset(page, {
    name: of.name,
    legend: of.legend,
    errors: errorsOf(of),
    className: 'stack',
    content: html`<div class="groups">${groups}</div>`,
  })
}

function allowed(page: PageContext, groups: Groups): Part {
  return groups.map(
    ({ scopes }) =>
      html`<ul class="marked" lang="en">${scopes.map(({ explanation }) => html`<li>${icon(page, 'check')}<span>${explanation}</span></li>`)}</ul>`,
  )
}

type TokenShown = { id: string; name: string; scopes: number; expires: Date; last_used: Date | null }
type TokensShown = {
  tokens: readonly TokenShown[]
  groups: Groups
  lifetimes: readonly number[]
  name: string
  chosen: readonly string[]
  days: string
} & Refused

export function tokensView(page: PageContext, of: TokensShown): Markup {
  const { t } = page.language
  const action = pathTo(page, PATHS.tokens)
  const errors = errorsOf(of)
  const choices = of.lifetimes.map((days) => ({
    value: String(days),
    label: t('tokens.days', { days }),
    isChosen: String(days) === of.days,
  }))
  const content = html`${textField(page, { name: 'name', label: t('field.name'), hint: t('tokens.name.hint'), value: of.name, minLength: 3, maxLength: 255, autocomplete: 'off', errors })}
${selectField(page, { name: 'days', label: t('tokens.lifetime'), choices })}
${scopeChoice(page, { ...of, name: 'scopes', legend: t('tokens.may') })}
<div><button class="main">${t('tokens.make')}</button></div>`
  return html`<section class="section"><h2>${t('tokens.yours')}</h2>
${of.tokens.length === 0 ? html`<p class="soft">${t('tokens.empty')}</p>` : html`<ul class="items">${of.tokens.map((token) => tokenItem(page, token, of.groups))}</ul>`}
</section>
<section class="section"><h2>${t('tokens.new')}</h2>
${form(page, { action, content })}
</section>`
}

function tokenItem(page: PageContext, token: TokenShown, groups: Groups): Markup {
  const { language, now } = page
  const { t, rich } = language
  const names = groups
    .flatMap(({ scopes }) => scopes)
    .filter(({ value }) => Math.floor(token.scopes / value) % 2 === 1)
    .map(({ name }) => name)
  const used =
    token.last_used === null ? t('never-used') : rich('last-used', { at: timeAgo(language, token.last_used, now) })
  return html`<li class="row"><div class="grow">
<h3>${token.name} ${token.expires.getTime() <= now && badge('warn', t('tokens.expired'))}</h3>
<p class="hint">${rich('tokens.expires', { at: timeAgo(language, token.expires, now) })} ${used}</p>
<details><summary>${t('tokens.permissions', { count: names.length })}</summary><span class="mono">${names.length === 0 ? t('tokens.none') : names.join(', ')}</span></details>
</div>
${buttonForm(page, { action: `${pathTo(page, PATHS.tokens)}/revoke`, text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: token.name }), fields: { id: token.id } })}
</li>`
}

/** Shows a secret, once. */
export function secretView(
  page: PageContext,
  of: { what: 'token' | 'client-secret'; name: string; secret: string; clientId?: string; next: string },
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

type ApplicationShown = { id: string; name: string; icon_url: string | null; created: Date }

export function applicationsView(page: PageContext, applications: readonly ApplicationShown[]): Markup {
  const { t, rich } = page.language
  const path = pathTo(page, PATHS.applications)
  const items = applications.map(
    ({ id, name, icon_url: url, created }) => html`<li class="row">${face({ name, url, isSquare: true })}
<div class="grow"><h2><a href="${path}/${id}">${name}</a></h2>
<p class="hint">${rich('applications.facts', { id: html`<code>${id}</code>`, at: timeAgo(page.language, created, page.now) })}</p></div></li>`,
  )
  return html`<section class="section">
<p class="soft">${t('applications.text')}</p>
${items.length > 0 && html`<ul class="items">${items}</ul>`}
<p><a class="button main" href="${path}/new">${icon(page, 'plus')}${t('applications.new')}</a></p>
</section>`
}

type ApplicationForm = {
  application: ApplicationShown | undefined
  groups: Groups
  name: string
  description: string
  url: string
  uris: string
  chosen: readonly string[]
  isPublic: boolean
} & Refused

export function applicationView(page: PageContext, of: ApplicationForm): Markup {
  const { t } = page.language
  const { application } = of
  const action = `${pathTo(page, PATHS.applications)}/${application?.id ?? 'new'}`
  const errors = errorsOf(of)
  const publicClient = checkbox({
    name: 'public_client',
    value: 'yes',
    isChecked: of.isPublic,
    label: t('application.public'),
    hint: t('application.public.hint'),
  })
  const content = html`${textField(page, { name: 'name', label: t('field.name'), value: of.name, minLength: 3, maxLength: 255, autocomplete: 'off', errors })}
${textField(page, { name: 'description', label: t('application.description'), value: of.description, maxLength: 255, isOptional: true, errors })}
${textField(page, { type: 'url', name: 'url', label: t('application.website'), value: of.url, maxLength: 255, placeholder: 'https://', isOptional: true, errors })}
${textArea(page, { name: 'redirect_uris', label: t('application.redirects'), hint: t('application.redirects.hint'), value: of.uris, isCode: true, isOptional: true, errors })}
${scopeChoice(page, { ...of, name: 'max_scopes', legend: t('application.scopes') })}
${application === undefined && publicClient}
<div><button class="main">${application === undefined ? t('application.make') : t('save')}</button></div>`
  return html`<section class="section">
${application !== undefined && html`<p>${t('client-id')} <code>${application.id}</code></p>`}
${form(page, { action, content })}
</section>
${application !== undefined && applicationActions(page, of, application, action)}`
}

function applicationActions(
  page: PageContext,
  of: ApplicationForm,
  { name, icon_url: url }: ApplicationShown,
  action: string,
): Part {
  const { t } = page.language
  return [
    pictureSection(page, { ...of, action: `${action}/picture`, url, name, isSquare: true, limit: 'at-most' }),
    !of.isPublic &&
      html`<section class="section"><h2>${t('secret.client-secret')}</h2>
<p class="soft">${t('application.secret.text')}</p>
${buttonForm(page, { action: `${action}/secret`, text: t('application.secret.new') })}
</section>`,
    html`<section class="section"><h2>${t('application.delete')}</h2>
<p class="soft">${t('application.delete.text')}</p>
${buttonForm(page, { action: `${action}/delete`, text: t('application.delete.button'), kind: 'danger' })}
</section>`,
  ]
}

type AuthorizationShown = {
  app_id: string
  name: string
  icon_url: string | null
  created: Date
  last_used: Date | null
  groups: Groups
}

export function authorizationsView(page: PageContext, authorizations: readonly AuthorizationShown[]): Markup {
  const { t } = page.language
  if (authorizations.length === 0)
    return html`<section class="section"><p class="soft">${t('authorizations.empty')}</p></section>`
  return html`<section class="section"><p class="soft">${t('authorizations.text')}</p>
<ul class="items">${authorizations.map((one) => authorizationItem(page, one))}</ul>
</section>`
}

function authorizationItem(page: PageContext, one: AuthorizationShown): Markup {
  const { language, now } = page
  const { t, rich } = language
  const used =
    one.last_used === null ? t('not-used-lately') : rich('last-used', { at: timeAgo(language, one.last_used, now) })
  return html`<li class="row">${face({ name: one.name, url: one.icon_url, isSquare: true })}
<div class="grow"><h2><bdi>${one.name}</bdi></h2>
<p class="hint">${rich('authorizations.allowed', { at: timeAgo(language, one.created, now) })} ${used}</p>
<details><summary>${t('authorizations.may')}</summary>${one.groups.length === 0 && html`<p>${t('authorizations.public-only')}</p>`}${allowed(page, one.groups)}</details></div>
${buttonForm(page, { action: `${pathTo(page, PATHS.authorizations)}/revoke`, text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: one.name }), fields: { client_id: one.app_id } })}
</li>`
}

type ConsentShown = {
  application: { name: string; icon_url: string | null; url: string | null; description: string | null }
  username: string
  maker: string
  flow: string
  groups: Groups
  target: string
  returnTo: string
}

export function consentView(page: PageContext, of: ConsentShown): Markup {
  const { t, rich } = page.language
  const { application } = of
  const host = application.url === null || application.url === '' ? undefined : new URL(application.url).host
  const name = html`<bdi>${application.name}</bdi>`
  const decide = html`${hiddenField('flow', of.flow)}
<div class="row"><button class="main" name="decision" value="accept">${t('consent.allow')}</button>
<button name="decision" value="reject">${t('consent.refuse')}</button></div>`
  const other = html`${hiddenField('return', of.returnTo)}
<p class="hint">${t('consent.not-you', { name: of.username })} <button class="plain">${t('consent.somebody-else')}</button></p>`
  const never = (['consent.never.password', 'consent.never.tokens', 'consent.never.delete'] as const).map(
    (key) => html`<li>${icon(page, 'x')}<span>${t(key)}</span></li>`,
  )
  return slip(html`<div class="stack center">${face({ name: application.name, url: application.icon_url, isLarge: true, isSquare: true })}
<h1>${rich('consent.title', { name })}</h1>
<p class="soft">${rich('consent.by', { maker: html`<strong><bdi>${of.maker}</bdi></strong>${host !== undefined && html`, <a href="${application.url}" rel="noopener noreferrer nofollow" target="_blank">${host}</a>`}` })}</p>
${application.description !== null && application.description !== '' && html`<p>${rich('consent.says', { text: html`<q><bdi>${application.description}</bdi></q>` })}</p>`}</div>
<section class="stack"><h2>${t('consent.asks', { name: of.username })}</h2>
${of.groups.length === 0 && html`<p>${t('consent.asks.nothing')}</p>`}${allowed(page, of.groups)}</section>
<section class="stack"><h2>${t('consent.never')}</h2><ul class="marked no">${never}</ul></section>
<p class="soft">${rich('consent.after', { target: html`<strong>${of.target}</strong>` })}</p>
${form(page, { action: pathTo(page, PATHS.authorize), content: decide })}
${form(page, { action: pathTo(page, PATHS.signOut), content: other })}`)
}
