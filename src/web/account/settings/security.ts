// The security settings: email address, password, and the confirmation by password.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeEmail, resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { changePassword } from '#features/people/accounts/credentials/change-password.ts'
import { confirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { CodeField, EmailField, NewPasswordField, PasswordField } from '#features/people/accounts/requests.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { showData } from './account-data.ts'
import { securityView } from './settings-views.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ new_password: NewPasswordField })
const Proof = Type.Object({ password: PasswordField, code: Type.Optional(CodeField) })
const LABELS = {
  email: 'The email address',
  password: 'The password',
  new_password: 'The new password',
  code: 'The code',
}

export function securityPages(pages: Pages): void {
  pages.own('GET', PATHS.security, 'showSecurity', async (request) => showSecurity(request))
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
    const { refusal } = await attempt(async () => {
      const { new_password: newPassword } = checkValues(Passwords, { new_password: field('new_password') })
      await changePassword(accounts, { viewer, newPassword, proof: {} })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.security, 'password') : showSecurity(request, { refusal })
  })
}

/** Shows the settings for email, password and two-factor sign-in, or asks for the password first. */
export async function showSecurity(
  request: OwnRequest,
  { email, refusal }: { email?: string; refusal?: FormRefusal } = {},
): Promise<FastifyReply> {
  const { deps, page, viewer, account } = request
  const body = securityView(page, {
    isConfirmed: await isConfirmed(deps.db, viewer, deps.now()),
    account,
    refusal,
    email: email ?? account.email ?? '',
  })
  return showSettings(request, { title: page.language.t('settings.security'), body, refusal })
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
