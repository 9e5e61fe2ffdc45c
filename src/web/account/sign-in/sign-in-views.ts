// Views of sign-in, sign-up and password reset.

import type { SecondFactors } from '#features/people/accounts/sign-in/sign-in.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { PATHS, returnPath } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, type FormErrors, form, hiddenField, passwordField, textField } from '#web/ui/parts/fields.ts'
import { note, slip } from '#web/ui/parts/lists.ts'
import { passkeyButton } from '#web/ui/parts/passkey.ts'
import { messages } from '../account-layout.ts'
import { type CaptchaState, captchaField } from './captcha.ts'
import { providerButtons } from './provider-buttons.ts'

type Common = { notice?: string | undefined; refusal?: FormRefusal | undefined; captcha: CaptchaState }

function link(page: PageContext, path: string, text: string, returnTo = ''): Markup {
  const query = returnTo === '' ? '' : `?return=${encodeURIComponent(returnTo)}`
  return html`<a href="${pathTo(page, `${path}${query}`)}">${text}</a>`
}

function warning(page: PageContext, text: string): Markup {
  return note(page, 'warn', html`<p>${text}</p>`)
}

export function signInView(
  page: PageContext,
  of: Common & {
    name: string
    returnTo: string
    isOpen: boolean
    hasPasskeys: boolean
    providers: readonly { id: string; name: string }[]
    /** Whether the user can undo the pending deletion of the account. */
    canUndo?: boolean
  },
): Markup {
  const { t } = page.language
  const errors = errorsOf(of)
  const hasFocus = of.refusal === undefined && of.name === ''
  const fields = html`${hiddenField('return', of.returnTo)}
${textField(page, { name: 'username', label: t('field.name-or-email'), value: of.name, maxLength: 254, autocomplete: of.hasPasskeys ? 'username webauthn' : 'username', isName: true, hasFocus, errors })}
${passwordField(page, { name: 'password', label: t('field.password'), autocomplete: 'current-password', errors })}
${of.canUndo && checkbox({ name: 'undo_deletion', value: 'yes', isChecked: true, label: t('sign-in.undo-deletion') })}
${captchaField(page, of.captcha)}
<button class="main">${t('sign-in')}</button>
${of.hasPasskeys && passkeyButton(page, { label: t('passkey.sign-in'), hasAutofill: true, isWide: true })}`
  return slip(html`<h1>${t('sign-in')}</h1>
${messages(page, of)}
${of.captcha.isBarred ? warning(page, t('sign-in.barred')) : form(page, { action: pathTo(page, PATHS.signIn), content: fields })}
${providerButtons(page, { providers: of.providers, purpose: 'sign-in', returnTo: of.returnTo, canUndo: of.canUndo })}
<p class="soft">${link(page, PATHS.forgotPassword, t('sign-in.forgotten'))}</p>
${of.isOpen && html`<p class="soft">${t('sign-in.no-account')} ${link(page, PATHS.signUp, t('sign-up'), of.returnTo)}</p>`}`)
}

export function signInCodeView(
  page: PageContext,
  of: { flow: string; returnTo: string; factors: SecondFactors; refusal?: FormRefusal | undefined },
): Markup {
  const { t } = page.language
  const { hasApp, hasPasskey } = of.factors
  const content = html`${hiddenField('return', of.returnTo)}
${hiddenField('flow', of.flow)}
${codeField(page, hasApp ? t('field.code') : t('field.backup-code'), of, of.refusal === undefined)}
<button class="main">${t('sign-in')}</button>
${hasPasskey && passkeyButton(page, { label: t('passkey.sign-in'), isWide: true })}`
  return slip(html`<h1>${t('second-factor')}</h1>
<p class="soft">${t(hasApp ? 'second-factor.text' : 'second-factor.passkey')}</p>
${messages(page, of)}
${form(page, { action: pathTo(page, PATHS.signInCode), content })}
<p class="soft">${link(page, PATHS.signIn, t('second-factor.again'))}</p>`)
}

/** A field for a code of 6 digits or a backup code. */
export function codeField(
  page: PageContext,
  label: string,
  of: { refusal?: FormRefusal | undefined },
  hasFocus = false,
): Markup {
  return textField(page, {
    name: 'code',
    label,
    maxLength: 32,
    autocomplete: 'one-time-code',
    isCode: true,
    hasFocus,
    errors: errorsOf(of),
  })
}

export function newPasswordField(
  page: PageContext,
  name: string,
  label: string,
  of: { refusal?: FormRefusal | undefined },
): Markup {
  const hint = page.language.t('field.password.hint')
  return passwordField(page, {
    name,
    label,
    autocomplete: 'new-password',
    hint,
    ratedBy: pathTo(page, PATHS.passwordStrength),
    errors: errorsOf(of),
  })
}

/** Offers to end everything else that acts for the account. Selected unless the user has deselected it. */
export function endTokensField(
  page: PageContext,
  { keepsTokens = false }: { keepsTokens?: boolean | undefined },
): Markup {
  const { t } = page.language
  const [label, hint] = [t('field.end-tokens'), t('field.end-tokens.hint')]
  return checkbox({ name: 'end_tokens', value: 'yes', isChecked: !keepsTokens, label, hint })
}

export function signedInView(page: PageContext, next: string): Markup {
  const { t } = page.language
  return slip(html`<h1>${t('signed-in')}</h1>
<p><a class="button main" href="${pathTo(page, next)}">${t('go-on')}</a></p>`)
}

export function signUpView(
  page: PageContext,
  of: Common & {
    username: string
    email: string
    /** Key of an emailed link; empty without it. */
    emailKey: string
    /** Undefined if sign-up needs no invitation. */
    invitation: string | undefined
    returnTo: string
    isOpen: boolean
    /** Whether a moderator approves new accounts. */
    isApproved: boolean
    /** Number of the newest version of the Terms. Undefined: the instance has no Terms. */
    terms: number | undefined
    /** Whether the site has a privacy policy. */
    hasPrivacy: boolean
    /** Version that the user agreed to. */
    agreed: number | undefined
    /** Sign-in at a provider that replaces the password. */
    provider?: { flow: string; text: string } | undefined
    providers: readonly { id: string; name: string }[]
  },
): Markup {
  const { t } = page.language
  return slip(html`<h1>${t('sign-up')}</h1>
${of.isOpen ? signUpForm(page, of) : warning(page, t('sign-up.closed'))}
<p class="soft">${t('sign-up.has-account')} ${link(page, PATHS.signIn, t('sign-in'), of.returnTo)}</p>`)
}

function signUpForm(page: PageContext, of: Parameters<typeof signUpView>[1]): Part {
  const { t } = page.language
  if (of.captcha.isBarred) return [messages(page, of), warning(page, t('sign-up.barred'))]
  const errors = errorsOf(of)
  const content = html`${hiddenField('return', of.returnTo)}
${
  of.provider !== undefined &&
  html`${hiddenField('provider_flow', of.provider.flow)}
<p>${of.provider.text}</p>`
}
${of.emailKey !== '' && hiddenField('email_key', of.emailKey)}
${of.invitation !== undefined && textField(page, { name: 'invitation', label: t('sign-up.invitation'), hint: t('sign-up.invitation.hint'), value: of.invitation, maxLength: 256, isCode: true, errors })}
${accountFields(page, of)}
<div class="trap" aria-hidden="true"><label>${t('sign-up.trap')} <input type="text" name="account_consent" tabindex="-1" autocomplete="off"></label></div>
${captchaField(page, of.captcha)}
${of.terms !== undefined && termsField(page, { ...of, terms: of.terms, errors })}
${of.isApproved && html`<p class="soft">${t('sign-up.approval')}</p>`}
<button class="main">${t('sign-up')}</button>`
  const others = of.provider === undefined ? of.providers : []
  return [
    messages(page, of),
    form(page, { action: pathTo(page, PATHS.signUp), content }),
    providerButtons(page, { providers: others, purpose: 'sign-in', returnTo: of.returnTo }),
  ]
}

/**
 * The check box for the Terms. The links open a new window, so that the form keeps its values. The box of a new version is
 * not selected.
 */
export function termsField(
  page: PageContext,
  of: { terms: number; hasPrivacy: boolean; agreed?: number | undefined; errors: FormErrors },
): Markup {
  const { rich } = page.language
  const open = (path: string) => (text: Part) => html`<a href="${pathTo(page, path)}" target="_blank">${text}</a>`
  const links = { terms: open('/terms'), privacy: open('/privacy') }
  const value = String(of.terms)
  return checkbox({
    name: 'terms_version',
    value,
    isChecked: of.agreed === of.terms,
    label: rich(of.hasPrivacy ? 'terms.agree-privacy' : 'terms.agree', links),
    required: { page, errors: of.errors },
  })
}

function accountFields(
  page: PageContext,
  of: { username: string; email: string; provider?: object | undefined; refusal?: FormRefusal | undefined },
) {
  const { t } = page.language
  const errors = errorsOf(of)
  return html`${textField(page, { name: 'username', label: t('field.username'), hint: t('field.username.hint'), value: of.username, maxLength: 39, autocomplete: 'username', isName: true, errors })}
${textField(page, { type: 'email', name: 'email', label: t('field.email'), hint: t('field.email.hint'), value: of.email, maxLength: 254, autocomplete: 'email', errors })}
${of.provider === undefined && newPasswordField(page, 'password', t('field.password'), of)}`
}

export function firstAdminView(
  page: PageContext,
  of: { flow: string; username: string; email: string; refusal?: FormRefusal | undefined },
): Markup {
  const { t } = page.language
  const content = html`${hiddenField('flow', of.flow)}
${accountFields(page, of)}
<button class="main">${t('first-admin.send')}</button>`
  return slip(html`<h1>${t('first-admin')}</h1>
<p class="soft">${t('first-admin.text')}</p>
${messages(page, of)}
${form(page, { action: pathTo(page, PATHS.firstAdmin), content })}`)
}

export function forgottenPasswordView(page: PageContext, of: Common & { isSent: boolean }): Markup {
  const { t } = page.language
  return slip(html`<h1>${t('forgotten')}</h1>
${of.isSent ? note(page, 'good', html`<p>${t(mailKey(page, 'forgotten.sent'))}</p>`, { role: 'status' }) : forgottenForm(page, of)}
<p class="soft">${link(page, PATHS.signIn, t('forgotten.back'))}</p>`)
}

function forgottenForm(page: PageContext, of: Common): Part {
  const { t } = page.language
  if (of.captcha.isBarred) return [messages(page, of), warning(page, t('forgotten.barred'))]
  const content = html`${textField(page, { name: 'username', label: t('field.name-or-email'), maxLength: 254, autocomplete: 'username', isName: true, errors: errorsOf(of) })}
${captchaField(page, of.captcha)}
<button class="main">${t(mailKey(page, 'forgotten.send'))}</button>`
  return [
    html`<p class="soft">${t(mailKey(page, 'forgotten.text'))}</p>`,
    messages(page, of),
    form(page, { action: pathTo(page, PATHS.forgotPassword), content }),
  ]
}

export function resetPasswordView(
  page: PageContext,
  of: { flow: string; isTemporary?: boolean; keepsTokens?: boolean; refusal?: FormRefusal | undefined },
): Markup {
  const { t } = page.language
  const content = html`${hiddenField('flow', of.flow)}
${newPasswordField(page, 'new_password', t('field.new-password'), of)}
${endTokensField(page, of)}
<button class="main">${t('reset.send')}</button>`
  return slip(html`<h1>${t('field.new-password')}</h1>
<p class="soft">${of.isTemporary && t('reset.temporary')} ${t('reset.text')}</p>
${messages(page, of)}
${form(page, { action: pathTo(page, PATHS.resetPassword), content })}`)
}

/** Tells a user whose sign-up continues by email to open the link. */
export function sentKeyView(page: PageContext, email: string): Markup {
  const { t, rich } = page.language
  return slip(html`<h1>${t(mailKey(page, 'check-mail'))}</h1>
<p>${rich(mailKey(page, 'sign-up.sent-key'), { email: html`<strong>${email}</strong>` })}</p>`)
}

/** Tells a new user to open the emailed link, which can be sent again. */
export function checkMailView(
  page: PageContext,
  of: { email: string; returnTo: string; notice?: string | undefined; refusal?: FormRefusal | undefined },
): Markup {
  const { t, rich } = page.language
  const again = html`${hiddenField('return', of.returnTo)}<button>${t(mailKey(page, 'unverified.again'))}</button>`
  const change = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}">${text}</a>`
  return slip(html`<h1>${t(mailKey(page, 'check-mail'))}</h1>
${messages(page, of)}
<p>${rich(mailKey(page, 'check-mail.text'), { email: html`<strong>${of.email}</strong>` })}</p>
<p class="soft">${rich(mailKey(page, 'check-mail.hint'), { link: change })}</p>
<div class="row"><a class="button main" href="${pathTo(page, returnPath(of.returnTo))}">${t('go-on')}</a>${form(page, { action: pathTo(page, PATHS.checkMail), content: again })}</div>`)
}

const LINK_TEXTS = {
  verify: { text: 'verify.text', send: 'verify.send' },
  'undo-email': { text: 'undo-email.text', send: 'undo-email.send' },
} as const

/** Asks for a click before an emailed link takes effect. */
export function linkView(
  page: PageContext,
  of: { what: keyof typeof LINK_TEXTS; action: string; flow: string; refusal?: FormRefusal | undefined },
): Markup {
  const { t } = page.language
  const content = html`${hiddenField('flow', of.flow)}<button class="main">${t(LINK_TEXTS[of.what].send)}</button>`
  return slip(html`<h1>${t(of.what)}</h1>
${messages(page, of)}
<p class="soft">${t(LINK_TEXTS[of.what].text)}</p>
${form(page, { action: pathTo(page, of.action), content })}`)
}
