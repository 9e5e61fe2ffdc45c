// The security settings: email address, password, and the confirmation by password.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeEmail, resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { changePassword } from '#features/people/accounts/credentials/change-password.ts'
import { confirmOwner, createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { CodeField, EmailField, NewPasswordField, PasswordField } from '#features/people/accounts/requests.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { attempt, checkValues, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, textField } from '#web/ui/parts/fields.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { codeField, endTokensField, newPasswordField } from '../sign-in/sign-in-views.ts'
import { showData } from './account-data.ts'
import { confirmForm } from './settings-views.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ new_password: NewPasswordField })
const Proof = Type.Object({ password: PasswordField, code: Type.Optional(CodeField) })
const LABELS = {
  email: 'The email address',
  password: 'The password',
  new_password: 'The new password',
  code: 'The code',
  payout_handle: 'The payout address',
}

export function securityPages(pages: Pages): void {
  pages.own('GET', PATHS.security, 'showSecurity', async (request) => showSecurity(request), {
    shows: 'Email address, password, two-factor sign-in',
    api: 'changeEmail resendVerification changePassword startTwoFactor enableTwoFactor disableTwoFactor',
  })
  pages.own('POST', `${PATHS.security}/confirm`, 'sendConfirmation', sendConfirmation)
  pages.own('POST', `${PATHS.security}/email`, 'sendEmail', async (request) => {
    const { deps, accounts, viewer, field, redirect } = request
    const email = field('email')
    const { refusal } = await attempt(async () => {
      checkValues(Email, { email })
      await changeEmail(accounts, { viewer, email, proof: {} })
    }, LABELS)
    if (refusal !== undefined) return showSecurity(request, { email, refusal })
    return redirect(PATHS.security, deps.config.accounts.requireVerifiedEmail ? 'email-sent' : 'email')
  })
  pages.own('POST', `${PATHS.security}/email/link`, 'sendVerificationLink', async (request) => {
    const { refusal } = await attempt(() => resendVerification(request.accounts, request.viewer.id))
    return refusal === undefined ? request.redirect(PATHS.security, 'link-sent') : showSecurity(request, { refusal })
  })
  pages.own('POST', `${PATHS.security}/password`, 'sendPassword', async (request) => {
    const { accounts, viewer, field, redirect } = request
    const endTokens = field('end_tokens') === 'yes'
    const { refusal } = await attempt(async () => {
      const { new_password: newPassword } = checkValues(Passwords, { new_password: field('new_password') })
      await changePassword(accounts, { viewer, newPassword, endTokens, proof: {} })
    }, LABELS)
    return refusal === undefined
      ? redirect(PATHS.security, 'password')
      : showSecurity(request, { keepsTokens: !endTokens, refusal })
  })
  pages.own('POST', `${PATHS.security}/payout`, 'sendPayoutAddress', async (request) => {
    const { deps, accounts, viewer, field, redirect } = request
    const handle = field('payout_handle').trim()
    const { refusal } = await attempt(async () => {
      const patch = checkValues(UserPatch, { payout_handle: handle === '' ? null : handle })
      await updateUser({ ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }, viewer, {
        name: viewer.id,
        patch,
      })
    }, LABELS)
    return refusal === undefined
      ? redirect(PATHS.security, 'payout-address')
      : showSecurity(request, { payoutHandle: handle, refusal })
  })
}

/** Shows the settings for email, password and two-factor sign-in, or asks for the password first. */
export async function showSecurity(
  request: OwnRequest,
  shown: { email?: string; payoutHandle?: string; keepsTokens?: boolean; refusal?: FormRefusal } = {},
): Promise<FastifyReply> {
  const { deps, page, viewer, account, t } = request
  const { email, payoutHandle, keepsTokens = false, refusal } = shown
  const body = (await isConfirmed(deps.db, viewer, deps.now()))
    ? securityView(page, {
        account,
        email: email ?? account.email ?? '',
        payoutHandle: payoutHandle ?? account.payout_handle ?? '',
        keepsTokens,
        verifiesEmail: deps.config.accounts.requireVerifiedEmail,
        refusal,
      })
    : html`<section class="section"><h2>${t('confirm')}</h2>
${confirmForm(page, { account, refusal, next: 'security' })}
</section>`
  return showSettings(request, { title: t('settings.security'), body, refusal })
}

function securityView(
  page: PageContext,
  of: {
    account: AccountRow
    email: string
    payoutHandle: string
    keepsTokens: boolean
    verifiesEmail: boolean
    refusal: FormRefusal | undefined
  },
): Markup {
  const { t } = page.language
  const errors = errorsOf(of)
  const path = pathTo(page, PATHS.security)
  const email = html`${textField(page, { type: 'email', name: 'email', label: t('security.address'), value: of.email, maxLength: 254, autocomplete: 'email', errors })}
<div><button>${t('security.change-address')}</button></div>`
  // Password managers need the username.
  const password = html`<input type="text" name="username" value="${of.account.username}" autocomplete="username" hidden readonly>
${newPasswordField(page, 'new_password', t('field.new-password'), of)}
${endTokensField(page, of)}
<div><button>${t('security.change-password')}</button></div>`
  const payout = html`${textField(page, { name: 'payout_handle', label: t('security.payout.field'), hint: t('security.payout.hint'), value: of.payoutHandle, maxLength: 160, autocomplete: 'off', isName: true, isOptional: true, errors })}
<div><button>${t('security.payout.send')}</button></div>`
  const disable = html`${codeField(page, t('security.code'), of)}<div><button class="danger">${t('security.turn-off')}</button></div>`
  const { email: address, email_verified: isVerified } = of.account
  // Without verification, an address counts as verified although nobody has checked it.
  const state = !of.verifiesEmail
    ? null
    : isVerified
      ? badge('good', t('security.verified'))
      : badge('warn', t('security.not-verified'))
  return html`<section class="section"><h2>${t('field.email')}</h2>
${address !== null && html`<p><bdi>${address}</bdi> ${state}</p>`}
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
${form(page, { action: `${path}/two-factor/start`, content: html`<div><button>${t('two-factor.turn-on')}</button></div>` })}`
    : html`<p>${badge('good', t('two-factor.on'))}</p>
${form(page, { action: `${path}/two-factor/disable`, content: disable })}`
}
</section>
<section class="section" id="payout"><h2>${t('security.payout')}</h2>
${form(page, { action: `${path}/payout`, content: payout })}
</section>`
}

/** Checks the password, which users must enter again before they change who owns the account. */
async function sendConfirmation(request: OwnRequest): Promise<FastifyReply> {
  const { accounts, viewer, field, redirect } = request
  const isForData = field('next') === 'data'
  const { refusal } = await attempt(async () => {
    const code = field('code')
    const proof = checkValues(Proof, { password: field('password'), ...(code === '' ? {} : { code }) })
    await confirmOwner(accounts, viewer, proof)
  }, LABELS)
  if (refusal === undefined) return redirect(isForData ? PATHS.data : PATHS.security)
  return isForData ? showData(request, refusal) : showSecurity(request, { refusal })
}
