// Views of the account settings.
import type { AccountRow } from '#features/people/users/queries.ts'
import { timeAgo } from '#platform/html/format.ts'
import { buttonForm, fileField, form, hiddenField, passwordField, textArea, textField } from '#platform/html/forms.ts'
import { html, type Markup } from '#platform/html/html.ts'
import { badge, face, note } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms.ts'
import { PATHS } from '#web/kit/paths.ts'
import { codeField, newPasswordField } from '../sign-in/sign-in-views.ts'
import type { QrCode } from './qr-code.ts'

type Refused = { refusal?: FormRefusal | undefined }

/** Shows the avatar of a user or the icon of an application, with the forms that change it. */
export function pictureSection(
  page: PageContext,
  of: { action: string; url: string | null; name: string; isSquare: boolean; limit: 'at-most' | 'smaller' } & Refused,
): Markup {
  const { t } = page.language
  const field = fileField(page, {
    name: 'picture',
    label: t('picture.new'),
    hint: t(`picture.hint.${of.limit}`),
    accept: '.png,.jpg,.jpeg,.gif,.webp,.svg',
    errors: errorsOf(of),
  })
  const upload = form(page, {
    action: of.action,
    className: 'stack grow',
    hasFile: true,
    content: html`${field}<div><button>${t('picture.set')}</button></div>`,
  })
  return html`<section class="section">
<h2>${t('picture')}</h2>
<div class="row">${face({ name: of.name, url: of.url, isLarge: true, isSquare: of.isSquare })}
${upload}</div>
${of.url !== null && of.url !== '' && buttonForm(page, { action: `${of.action}/remove`, text: t('picture.remove'), isTight: true })}
</section>`
}

export function profileView(
  page: PageContext,
  of: { account: AccountRow; username: string; bio: string } & Refused,
): Markup {
  const { t } = page.language
  const errors = errorsOf(of)
  const action = pathTo(page, PATHS.profile)
  const content = html`${textField(page, { name: 'username', label: t('field.username'), value: of.username, maxLength: 39, autocomplete: 'username', isName: true, errors })}
${textArea(page, { name: 'bio', label: t('profile.bio'), hint: t('profile.bio.hint'), value: of.bio, maxLength: 160, isOptional: true, errors })}
<div><button class="main">${t('save')}</button></div>`
  const { avatar_url: url, username: name } = of.account
  return html`${pictureSection(page, { ...of, action: `${action}/picture`, url, name, isSquare: false, limit: 'smaller' })}
<section class="section"><h2>${t('profile.about')}</h2>
${form(page, { action, content })}
</section>`
}

/** Asks for the password again, for the page that `next` names. */
function confirmForm(page: PageContext, of: { account: AccountRow; next: 'security' | 'data' } & Refused): Markup {
  const { t } = page.language
  const { account } = of
  const autocomplete = 'current-password'
  const label = account.password_hash === null ? t('confirm.token') : t('field.password')
  const content = html`<input type="text" name="username" value="${account.username}" autocomplete="username" hidden readonly>
${hiddenField('next', of.next)}
${passwordField(page, { name: 'password', label, autocomplete, errors: errorsOf(of) })}
${account.totp_secret !== null && codeField(page, t('security.code'), of)}
<div><button class="main">${t('confirm.send')}</button></div>`
  return html`<p class="soft">${t('confirm.text')}</p>
${form(page, { action: `${pathTo(page, PATHS.security)}/confirm`, content })}`
}

export function securityView(
  page: PageContext,
  of: { account: AccountRow; email: string; isConfirmed: boolean } & Refused,
): Markup {
  const { t } = page.language
  if (!of.isConfirmed) {
    return html`<section class="section"><h2>${t('confirm')}</h2>
${confirmForm(page, { ...of, next: 'security' })}
</section>`
  }
  const errors = errorsOf(of)
  const path = pathTo(page, PATHS.security)
  const email = html`${textField(page, { type: 'email', name: 'email', label: t('security.address'), value: of.email, maxLength: 254, autocomplete: 'email', errors })}
<div><button>${t('security.change-address')}</button></div>`
  // Password managers need the username.
  const password = html`<input type="text" name="username" value="${of.account.username}" autocomplete="username" hidden readonly>
${newPasswordField(page, 'new_password', t('field.new-password'), of)}
<div><button>${t('security.change-password')}</button></div>`
  const disable = html`${codeField(page, t('security.code'), of)}<div><button class="danger">${t('security.turn-off')}</button></div>`
  return html`<section class="section"><h2>${t('field.email')}</h2>
${form(page, { action: `${path}/email`, content: email })}
</section>
<section class="section"><h2>${t('field.password')}</h2>
<p class="soft">${t('security.password-text')}</p>
${form(page, { action: `${path}/password`, content: password })}
</section>
<section class="section"><h2>${t('two-factor')}</h2>
${
  of.account.totp_secret === null
    ? html`<p class="soft">${t('two-factor.text')}</p>
${buttonForm(page, { action: `${path}/two-factor/start`, text: t('two-factor.turn-on') })}`
    : html`<p>${badge('good', t('two-factor.on'))}</p>
${form(page, { action: `${path}/two-factor/disable`, content: disable })}`
}
</section>`
}

type SetUp = { flow: string; uri: string; secret: string }

export function twoFactorView(page: PageContext, of: { setUp: SetUp; qrCode: QrCode } & Refused): Markup {
  const { t, rich } = page.language
  const { setUp, qrCode } = of
  const { side } = qrCode
  const path = pathTo(page, PATHS.security)
  const content = html`${hiddenField('flow', setUp.flow)}
${codeField(page, t('two-factor.code'), of)}
<div class="row"><button class="main">${t('two-factor.turn-on')}</button><a href="${path}">${t('two-factor.leave-off')}</a></div>`
  const link = (chunks: Parameters<typeof html>[1]) => html`<a href="${setUp.uri}">${chunks}</a>`
  return html`<section class="section">
<p>${t('two-factor.scan')}</p>
<div class="set-up">
<svg class="qr" role="img" aria-label="${t('two-factor.picture')}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${qrCode.path}"/></svg>
<div class="stack">
<p>${rich('two-factor.by-hand', { link })}</p>
<div class="field">
<span class="strong" id="key-label">${t('two-factor.key')}</span>
<div class="with-button">
<output class="mono key" aria-labelledby="key-label" id="key" data-text="${setUp.secret}">${setUp.secret.match(/.{1,4}/g)?.join(' ')}</output>
<button type="button" data-copy="key" data-done="${t('copied')}" hidden>${t('copy')}</button>
</div>
<p class="hint">${t('two-factor.key.hint')}</p>
</div>
</div>
</div>
${form(page, { action: `${path}/two-factor/enable`, content })}
</section>`
}

export function backupCodesView(page: PageContext, codes: readonly string[]): Markup {
  const { t } = page.language
  return html`<section class="section">
${note(page, 'good', html`<p>${t('backup-codes.on')}</p>`, { role: 'status' })}
<p>${t('backup-codes.text')}</p>
<ul class="codes mono">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p><a class="button main" href="${pathTo(page, PATHS.security)}">${t('backup-codes.kept')}</a></p>
</section>`
}

export type SessionShown = {
  id: string
  platform: string | null
  os: string | null
  ip: string
  created: Date
  last_login: Date
}

export function sessionsView(page: PageContext, of: { sessions: readonly SessionShown[]; currentId: string }): Markup {
  const { t, rich } = page.language
  const path = pathTo(page, PATHS.sessions)
  const items = of.sessions.map((session) => {
    const { platform, os } = session
    const name = platform && os ? t('sessions.program', { platform, os }) : platform || os || t('sessions.unknown')
    const facts = rich('sessions.facts', {
      address: session.ip,
      created: timeAgo(page.language, session.created, page.now),
      used: timeAgo(page.language, session.last_login, page.now),
    })
    return html`<li class="row">
<div class="grow"><h2>${name} ${session.id === of.currentId && badge('good', t('sessions.this'))}</h2>
<p class="hint">${facts}</p></div>
${buttonForm(page, { action: `${path}/end`, text: t('layout.sign-out'), isTight: true, label: t('sessions.end', { name }), fields: { id: session.id } })}
</li>`
  })
  return html`<section class="section"><ul class="items">${items}</ul>
${of.sessions.length > 1 && buttonForm(page, { action: `${path}/end-others`, text: t('sessions.end-others'), kind: 'danger' })}
</section>`
}

export function accountDataView(
  page: PageContext,
  of: { account: AccountRow; isConfirmed: boolean; deletionDays: number } & Refused,
): Markup {
  const { t } = page.language
  const path = pathTo(page, PATHS.data)
  const label = t('data.confirm', { username: of.account.username })
  const content = html`${textField(page, { name: 'username', label, maxLength: 39, autocomplete: 'off', isName: true, errors: errorsOf(of) })}
<div><button class="danger">${t('data.delete-button')}</button></div>`
  return html`<section class="section"><h2>${t('data.copy')}</h2>
<p class="soft">${t('data.copy.text')}</p>
${buttonForm(page, { action: `${path}/export`, text: html`${icon(page, 'download')}${t('data.download')}` })}
</section>
<section class="section"><h2>${t('data.delete')}</h2>
<p>${t('data.delete.text')} ${of.deletionDays === 0 ? t('data.delete.final') : t('data.delete.undo', { days: of.deletionDays })}</p>
${of.isConfirmed ? form(page, { action: `${path}/delete`, content }) : confirmForm(page, { ...of, next: 'data' })}
</section>`
}
