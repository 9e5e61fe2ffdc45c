// E-mail address and password.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeEmail, resendVerification } from '#features/accounts/credentials/change-email.ts'
import { changePassword } from '#features/accounts/credentials/change-password.ts'
import { EmailField, NewPasswordField, PasswordField } from '#features/accounts/fields.ts'
import { checkValues } from './forms.ts'
import { attempt, type FormFault, type OwnVisit, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'

const Email = Type.Object({ email: EmailField })
const Passwords = Type.Object({ old_password: Type.Optional(PasswordField), new_password: NewPasswordField })
const LABELS = { email: 'The e-mail address', old_password: 'The present password', new_password: 'The new password' }

export function securityPages(pages: Pages, { deps, accounts }: PageDeps): void {
  pages.own('GET', PATHS.security, 'showSecurity', async (visit) => showSecurity(visit))
  pages.own('POST', `${PATHS.security}/email`, 'sendEmail', async (visit) => {
    const { viewer, field, lead } = visit
    const email = field('email')
    const { fault } = await attempt(async () => {
      checkValues(Email, { email })
      await changeEmail(accounts, { accountId: viewer.id, email })
    }, LABELS)
    if (fault !== undefined) return showSecurity(visit, { email, fault })
    return lead(PATHS.security, deps.config.accounts.requireVerifiedEmail ? 'email-sent' : 'email')
  })
  pages.own('POST', `${PATHS.security}/email/link`, 'sendVerificationLink', async (visit) => {
    const { fault } = await attempt(() => resendVerification(accounts, visit.viewer.id))
    return fault === undefined ? visit.lead(PATHS.security, 'link-sent') : showSecurity(visit, { fault })
  })
  pages.own('POST', `${PATHS.security}/password`, 'sendPassword', async (visit) => {
    const { viewer, account, field, lead } = visit
    const { fault } = await attempt(async () => {
      const old = account.password_hash === null ? {} : { old_password: field('old_password') }
      const values = checkValues(Passwords, { ...old, new_password: field('new_password') })
      await changePassword(accounts, { viewer, oldPassword: values.old_password, newPassword: values.new_password })
    }, LABELS)
    return fault === undefined ? lead(PATHS.security, 'password') : showSecurity(visit, { fault })
  })
}

/** The page with what it says of e-mail, password and second factor. */
export function showSecurity(
  { show, account }: OwnVisit,
  { email, fault }: { email?: string; fault?: FormFault } = {},
): FastifyReply {
  const status = fault?.status ?? 200
  return show('security', { title: 'Sign-in and security', status, fault, email: email ?? account.email ?? '' })
}
