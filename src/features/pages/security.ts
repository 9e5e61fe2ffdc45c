// E-mail address and password.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeEmail, resendVerification } from '#features/accounts/credentials/change-email.ts'
import { changePassword } from '#features/accounts/credentials/change-password.ts'
import { EmailField, NewPasswordField, PasswordField } from '#features/accounts/requests.ts'
import { checkValues } from './forms.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from './page-request.ts'
import { PATHS } from './paths.ts'
import { securityView } from './settings-views.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ old_password: Type.Optional(PasswordField), new_password: NewPasswordField })
const LABELS = { email: 'The e-mail address', old_password: 'The present password', new_password: 'The new password' }

export function securityPages(pages: Pages, { deps, accounts }: PageDeps): void {
  pages.own('GET', PATHS.security, 'showSecurity', async (request) => showSecurity(request))
  pages.own('POST', `${PATHS.security}/email`, 'sendEmail', async (request) => {
    const { viewer, field, redirect } = request
    const email = field('email')
    const { refusal } = await attempt(async () => {
      checkValues(Email, { email })
      await changeEmail(accounts, { accountId: viewer.id, email })
    }, LABELS)
    if (refusal !== undefined) return showSecurity(request, { email, refusal })
    return redirect(PATHS.security, deps.config.accounts.requireVerifiedEmail ? 'email-sent' : 'email')
  })
  pages.own('POST', `${PATHS.security}/email/link`, 'sendVerificationLink', async (request) => {
    const { refusal } = await attempt(() => resendVerification(accounts, request.viewer.id))
    return refusal === undefined ? request.redirect(PATHS.security, 'link-sent') : showSecurity(request, { refusal })
  })
  pages.own('POST', `${PATHS.security}/password`, 'sendPassword', async (request) => {
    const { viewer, account, field, redirect } = request
    const { refusal } = await attempt(async () => {
      const old = account.password_hash === null ? {} : { old_password: field('old_password') }
      const values = checkValues(Passwords, { ...old, new_password: field('new_password') })
      await changePassword(accounts, { viewer, oldPassword: values.old_password, newPassword: values.new_password })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.security, 'password') : showSecurity(request, { refusal })
  })
}

/** The page with what it says of e-mail, password and second factor. */
export function showSecurity(
  { page, account, showSettings }: AccountPageRequest,
  { email, refusal }: { email?: string; refusal?: FormRefusal } = {},
): FastifyReply {
  const body = securityView(page, { account, refusal, email: email ?? account.email ?? '' })
  return showSettings({ title: page.language.t('settings.security'), body, refusal })
}
