// The security settings: email address, password, and the confirmation by password.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { changeEmail, resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { changePassword } from '#features/people/accounts/credentials/change-password.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { EmailField, NewPasswordField } from '#features/people/accounts/requests.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, textField } from '#web/ui/parts/fields.ts'
import { badge, note } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { providersOf } from '../sign-in/sign-in.ts'
import { codeField, endTokensField, newPasswordField } from '../sign-in/sign-in-views.ts'
import { BACKUP_CODES, backupCodesPart } from './backup-codes.ts'
import { PASSKEYS, passkeysSection, showRefusedPasskey } from './passkeys.ts'
import { PROVIDERS, providersSection } from './providers.ts'
import { confirm, confirmForm, hasConfirmed } from './settings-views.ts'
import { showRefusedSetUp, TWO_FACTOR } from './two-factor.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ new_password: NewPasswordField })
const LABELS = {
  email: 'The email address',
  password: 'The password',
  new_password: 'The new password',
  code: 'The code',
  payout_handle: 'The payout address',
  name: 'The name',
  passkey: 'The passkey',
}

export function securityPages(pages: Pages): void {
  formPage<boolean>(pages, {
    path: PATHS.security,
    name: 'showSecurity',
    shows: 'Email address, password, passkeys, two-factor sign-in, backup codes',
    api: 'changeEmail resendVerification changePassword startTwoFactor enableTwoFactor disableTwoFactor countBackupCodes renewBackupCodes listPasskeys startPasskey addPasskey renamePasskey deletePasskey confirmWithPasskey listSignInProviders unlinkSignInProvider',
    load: hasConfirmed,
    show: async (request, isKnown, form) =>
      (await showRefusedSetUp(request, form)) ??
      (await showRefusedPasskey(request, form)) ??
      showSecurity(request, isKnown, form),
    commands: { confirm, email, link, password, payout, ...TWO_FACTOR, ...BACKUP_CODES, ...PASSKEYS, ...PROVIDERS },
    labels: LABELS,
  })
}

async function email({ deps, accounts, viewer, field }: OwnRequest): Promise<Outcome> {
  await changeEmail(accounts, { viewer, ...checkValues(Email, { email: field('email') }), proof: {} })
  return { done: deps.config.accounts.requireVerifiedEmail ? 'email-sent' : 'email' }
}

async function link({ accounts, viewer }: OwnRequest): Promise<Outcome> {
  await resendVerification(accounts, viewer.id)
  return { done: 'link-sent' }
}

async function password({ accounts, viewer, field }: OwnRequest): Promise<Outcome> {
  const { new_password: newPassword } = checkValues(Passwords, { new_password: field('new_password') })
  await changePassword(accounts, { viewer, newPassword, endTokens: field('end_tokens') === 'yes', proof: {} })
  return { done: 'password' }
}

async function payout({ deps, accounts, viewer, field }: OwnRequest): Promise<Outcome> {
  const patch = checkValues(UserPatch, { payout_handle: field('payout_handle').trim() || null })
  const commands = { ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }
  await updateUser(commands, viewer, { name: viewer.id, patch })
  return { done: 'payout-address' }
}

/** Shows the settings for email, password and two-factor sign-in, or asks for the password first. */
async function showSecurity(request: OwnRequest, isKnown: boolean, form: FormState): Promise<FastifyReply> {
  const { page, account, deps, t } = request
  const isRequired = account.role !== 'developer' && (await getSettings(deps)).require_staff_two_factor
  const { refusal } = form
  const body = isKnown
    ? securityView(request, form, {
        isRequired,
        passkeys: await passkeysSection(request),
        providers: await providersSection(request),
        codes: await backupCodesPart(request),
      })
    : html`<section class="section"><h2>${t('confirm')}</h2>
${confirmForm(page, { account, refusal, path: PATHS.security, providers: providersOf(request.accounts) })}
</section>`
  return showSettings(request, { title: t('settings.security'), body, refusal })
}

function securityView(
  { page, viewer, account, deps, t }: OwnRequest,
  state: FormState,
  { isRequired, passkeys, providers, codes }: { isRequired: boolean; passkeys: Part; providers: Part; codes: Part },
): Markup {
  const { errors } = state
  const action = pathTo(page, PATHS.security)
  const send = (content: Part) => form(page, { action, content })
  const keepsTokens = state.text('do') === 'password' && state.text('end_tokens') !== 'yes'
  const shown = state.text('email') || (account.email ?? '')
  const handle = state.text('payout_handle') || (account.payout_handle ?? '')
  const email = html`${textField(page, { type: 'email', name: 'email', label: t('security.address'), value: shown, maxLength: 254, autocomplete: 'email', errors })}
<div><button name="do" value="email">${t('security.change-address')}</button></div>`
  // Password managers need the username.
  const password = html`<input type="text" name="username" value="${account.username}" autocomplete="username" hidden readonly>
${newPasswordField(page, 'new_password', t('field.new-password'), state)}
${endTokensField(page, { keepsTokens })}
<div><button name="do" value="password">${t('security.change-password')}</button></div>`
  const payout = html`${textField(page, { name: 'payout_handle', label: t('security.payout.field'), hint: t('security.payout.hint'), value: handle, maxLength: 160, autocomplete: 'off', isName: true, isOptional: true, errors })}
<div><button name="do" value="payout">${t('security.payout.send')}</button></div>`
  const disable = html`${codeField(page, t('security.code'), state)}<div><button class="danger" name="do" value="disable">${t('security.turn-off')}</button></div>`
  const { email: address, email_verified: isVerified } = account
  // Without verification, an address counts as verified although nobody has checked it.
  const verified = !deps.config.accounts.requireVerifiedEmail
    ? null
    : isVerified
      ? badge('good', t('security.verified'))
      : badge('warn', t('security.not-verified'))
  return html`<section class="section"><h2>${t('field.email')}</h2>
${address !== null && html`<p><bdi>${address}</bdi> ${verified}</p>`}
${send(email)}
</section>
<section class="section"><h2>${t('field.password')}</h2>
<p class="soft">${t('security.password-text')}</p>
${send(password)}
</section>
${passkeys}
${providers}
<section class="section"><h2>${t('two-factor')}</h2>
${viewer.withheldRole !== undefined && note(page, 'warn', html`<p>${t('refusal.two-factor')}</p>`)}
${
  account.totp_secret === null
    ? html`<p class="soft">${t(account.passkey_count > 0 ? 'two-factor.passkeys' : 'two-factor.text')}</p>
${send(html`<div><button name="do" value="start">${t(account.passkey_count > 0 ? 'two-factor.add-app' : 'two-factor.turn-on')}</button></div>`)}`
    : html`<p>${badge('good', t('two-factor.on'))}</p>
${isRequired && html`<p>${t('two-factor.needed')}</p>`}
${send(disable)}`
}
${codes}
</section>
<section class="section" id="payout"><h2>${t('security.payout')}</h2>
${send(payout)}
</section>`
}
