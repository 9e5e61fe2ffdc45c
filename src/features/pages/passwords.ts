// Forgotten passwords, and the pages that mailed links lead to.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { verifyEmail } from '#features/accounts/credentials/change-email.ts'
import { resetPassword } from '#features/accounts/credentials/change-password.ts'
import { requestPasswordReset } from '#features/accounts/credentials/request-password-reset.ts'
import { FlowField, NewPasswordField, SignInName } from '#features/accounts/fields.ts'
import { challengeOf } from './captcha.ts'
import { checkValues } from './forms.ts'
import { attempt, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'

const Forgotten = Type.Object({ username: SignInName })
const Reset = Type.Object({ flow: FlowField, new_password: NewPasswordField })
const Verification = Type.Object({ flow: FlowField })

export function passwordPages(pages: Pages, { deps, accounts, cookie }: PageDeps): void {
  pages.open('GET', PATHS.forgotPassword, 'showForgottenPassword', async ({ show }) =>
    show('forgot-password', { title: 'Forgotten password', asksCaptcha: true, isSent: false }),
  )
  pages.open('POST', PATHS.forgotPassword, 'sendForgottenPassword', async (visit) => {
    const { req, field, show } = visit
    const { fault } = await attempt(
      async () => {
        const { username: name } = checkValues(Forgotten, { username: field('username') })
        const challenge = challengeOf(visit, accounts.config)
        await requestPasswordReset(accounts, { name, challenge, address: req.clientAddress })
      },
      { username: 'The name', challenge: 'The captcha' },
    )
    const [title, isSent] = ['Forgotten password', fault === undefined]
    return show('forgot-password', { title, status: fault?.status ?? 200, fault, asksCaptcha: !isSent, isSent })
  })
  pages.open('GET', PATHS.resetPassword, 'showPasswordReset', async ({ query, show }) =>
    show('reset-password', { title: 'New password', flow: query('flow') }),
  )
  pages.open('POST', PATHS.resetPassword, 'sendPasswordReset', async ({ reply, field, show, lead }) => {
    const flow = field('flow')
    const { fault } = await attempt(
      async () => {
        const values = checkValues(Reset, { flow, new_password: field('new_password') })
        await resetPassword(accounts, { flow: values.flow, newPassword: values.new_password })
      },
      { new_password: 'The password' },
    )
    if (fault !== undefined) return show('reset-password', { title: 'New password', status: fault.status, fault, flow })
    // It has ended all sessions, this browser's too.
    cookie.clear(reply)
    return lead(PATHS.signIn, 'password-reset')
  })
  // Opening the link changes nothing: programs that look at mails open links too.
  pages.open('GET', PATHS.verifyEmail, 'showEmailVerification', async ({ query, show }) =>
    show('verify-email', { title: 'Verify your e-mail address', flow: query('flow') }),
  )
  pages.open('POST', PATHS.verifyEmail, 'sendEmailVerification', async ({ viewer, field, show, lead }) => {
    const flow = field('flow')
    const { fault } = await attempt(async () => {
      checkValues(Verification, { flow })
      await transaction(deps, (tx, changed) => verifyEmail(tx, changed, { flow, now: deps.now() }))
    })
    const title = 'Verify your e-mail address'
    if (fault !== undefined) return show('verify-email', { title, status: fault.status, fault, flow })
    return lead(viewer === null ? PATHS.signIn : PATHS.profile, 'verified')
  })
}
