// E-mail address and password.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeEmail, resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { changePassword } from '#features/people/accounts/credentials/change-password.ts'
import { EmailField, NewPasswordField } from '#features/people/accounts/requests.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { checkValues } from '#web/kit/forms.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { securityView } from './settings-views.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ new_password: NewPasswordField })
const LABELS = { email: 'The e-mail address', password: 'The password', new_password: 'The new password' }

export function securityPages(pages: Pages, given: PageDeps): void {
  const { deps, accounts } = given
  pages.own('GET', PATHS.security, 'showSecurity', async (request) => showSecurity(request, given))
  pages.own('POST', `${PATHS.security}/email`, 'sendEmail', async (request) => {
    const { viewer, field, redirect } = request
    const email = field('email')
    const { refusal } = await attempt(async () => {
      checkValues(Email, { email })
      await changeEmail(accounts, { viewer, email, proof: {} })
    }, LABELS)
    if (refusal !== undefined) return showSecurity(request, given, { email, refusal })
    return redirect(PATHS.security, deps.config.accounts.requireVerifiedEmail ? 'email-sent' : 'email')
  })
  pages.own('POST', `${PATHS.security}/email/link`, 'sendVerificationLink', async (request) => {
    const { refusal } = await attempt(() => resendVerification(accounts, request.viewer.id))
    return refusal === undefined
      ? request.redirect(PATHS.security, 'link-sent')
      : showSecurity(request, given, { refusal })
  })
  pages.own('POST', `${PATHS.security}/password`, 'sendPassword', async (request) => {
    const { viewer, field, redirect } = request
    const { refusal } = await attempt(async () => {
      const { new_password: newPassword } = checkValues(Passwords, { new_password: field('new_password') })
      await changePassword(accounts, { viewer, newPassword, proof: {} })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.security, 'password') : showSecurity(request, given, { refusal })
  })
}

/** The page with what it says of e-mail, password and second factor; first it asks for the password again. */
export async function showSecurity(
  { page, viewer, account, showSettings }: AccountPageRequest,
  { deps }: PageDeps,
  { email, refusal }: { email?: string; refusal?: FormRefusal } = {},
): Promise<FastifyReply> {
  const isKnown = await isConfirmed(deps.db, viewer, deps.now())
  const body = securityView(page, {
    isConfirmed: isKnown,
    account,
    refusal,
    email: email ?? account.email ?? '',
  })
  return showSettings({ title: page.language.t('settings.security'), body, refusal })
}
