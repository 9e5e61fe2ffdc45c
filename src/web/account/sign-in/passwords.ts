// Forgotten passwords, the pages that links in emails lead to, and the rating of a password while the user types it.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { verifyEmail } from '#features/people/accounts/credentials/change-email.ts'
import { findPasswordOwner, resetPassword } from '#features/people/accounts/credentials/change-password.ts'
import { requestPasswordReset } from '#features/people/accounts/credentials/request-password-reset.ts'
import { undoEmailChange } from '#features/people/accounts/credentials/undo-email-change.ts'
import { PASSWORD_LENGTH_MAX, type PasswordRating } from '#features/people/accounts/passwords/passwords.ts'
import { FlowField, NewPasswordField, SignInName } from '#features/people/accounts/requests.ts'
import { addressKey } from '#lib/address-key.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { captchaState, challengeOf } from './captcha.ts'
import { forgottenPasswordView, linkView, resetPasswordView } from './sign-in-views.ts'

const Forgotten = Type.Object({ username: SignInName })
const Reset = Type.Object({ flow: FlowField, new_password: NewPasswordField })
const Verification = Type.Object({ flow: FlowField })

export function passwordPages(pages: Pages): void {
  pages.open('GET', PATHS.forgotPassword, 'showForgottenPassword', showForgotten, { api: 'requestPasswordReset' })
  pages.open('POST', PATHS.forgotPassword, 'sendForgottenPassword', async (request) => {
    const { accounts, req, field } = request
    const { refusal } = await attempt(
      async () => {
        const { username: name } = checkValues(Forgotten, { username: field('username') })
        const challenge = challengeOf(request)
        await requestPasswordReset(accounts, { name, challenge, address: req.clientAddress })
      },
      { username: 'The name', challenge: 'The captcha' },
    )
    return showForgotten(request, { isSent: refusal === undefined, refusal })
  })
  pages.open('GET', PATHS.resetPassword, 'showPasswordReset', async (request) =>
    showReset(request, { flow: request.query('flow') }),
  )
  pages.open('POST', PATHS.resetPassword, 'sendPasswordReset', async (request) => {
    const { accounts, cookie, req, reply, field, redirect } = request
    const flow = field('flow')
    const endTokens = field('end_tokens') === 'yes'
    const { refusal } = await attempt(
      async () => {
        const values = checkValues(Reset, { flow, new_password: field('new_password') })
        const newPassword = values.new_password
        await resetPassword(accounts, { flow: values.flow, newPassword, endTokens, client: clientOf(req) })
      },
      { new_password: 'The password' },
    )
    if (refusal !== undefined) return showReset(request, { flow, keepsTokens: !endTokens, refusal })
    // The command ended all sessions, including the session of this browser.
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'password-reset')
  })
  pages.open('GET', PATHS.undoEmail, 'showEmailUndoing', showUndoing, { api: 'undoEmailChange' })
  pages.open('POST', PATHS.undoEmail, 'sendEmailUndoing', async (request) => {
    const { accounts, cookie, req, reply, field, redirect } = request
    const flow = field('flow')
    const { refusal } = await attempt(async () => {
      checkValues(Verification, { flow })
      await undoEmailChange(accounts, flow, clientOf(req))
    })
    if (refusal !== undefined) return showUndoing(request, flow, refusal)
    // The command ended all sessions, including the session of this browser.
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'email-restored')
  })
  // Opening the link changes nothing, because programs that scan emails open links too.
  pages.open('GET', PATHS.verifyEmail, 'showEmailVerification', showVerification, { api: 'verifyEmail' })
  pages.open('POST', PATHS.verifyEmail, 'sendEmailVerification', async (request) => {
    const { deps, viewer, field, redirect } = request
    const flow = field('flow')
    const { refusal } = await attempt(async () => {
      checkValues(Verification, { flow })
      await verifyEmail(deps, flow)
    })
    if (refusal !== undefined) return showVerification(request, flow, refusal)
    return redirect(viewer === null ? PATHS.signIn : PATHS.profile, 'verified')
  })
}

async function showForgotten(
  request: PageRequest,
  { isSent, refusal }: { isSent: boolean; refusal?: FormRefusal | undefined } = { isSent: false },
) {
  const { deps, page, show } = request
  const captcha = captchaState(deps.config)
  const body = forgottenPasswordView(page, { isSent, refusal, captcha, notice: noticeOf(request) })
  return show({ title: page.language.t('forgotten'), body, refusal, widget: isSent ? undefined : captcha.widget })
}

/** Shows the form for another password, also after a sign-in with a temporary password. */
export function showReset(
  { page, show }: PageRequest,
  shown: { flow: string; isTemporary?: boolean; keepsTokens?: boolean; refusal?: FormRefusal },
): FastifyReply {
  const title = page.language.t('field.new-password')
  return show({ title, body: resetPasswordView(page, shown), refusal: shown.refusal })
}

async function showVerification({ page, query, show }: PageRequest, flow = query('flow'), refusal?: FormRefusal) {
  const body = linkView(page, { what: 'verify', action: PATHS.verifyEmail, flow, refusal })
  return show({ title: page.language.t('verify'), body, refusal })
}

async function showUndoing({ page, query, show }: PageRequest, flow = query('flow'), refusal?: FormRefusal) {
  const body = linkView(page, { what: 'undo-email', action: PATHS.undoEmail, flow, refusal })
  return show({ title: page.language.t('undo-email'), body, refusal })
}

/** Rating a password costs as much as several pages. */
const COST = 3
const STRONG = 4

export function passwordStrengthPages(pages: Pages): void {
  pages.open('POST', PATHS.passwordStrength, 'ratePassword', ratePassword, { cost: COST, whenReadOnly: 'answers' })
}

async function ratePassword({ accounts, viewer, req, field, page, show }: PageRequest): Promise<FastifyReply> {
  const password = field('password').slice(0, PASSWORD_LENGTH_MAX)
  const known = await findPasswordOwner(accounts, { accountId: viewer?.id, flow: field('flow') })
  const owner = known ?? { username: field('username'), email: field('email') }
  const rating = await accounts.passwords.rate(password, owner, addressKey(req.clientAddress))
  const part = ratingView(page, rating)
  return show({ title: page.language.t('field.new-password'), body: part, part, isSecret: true })
}

/** Renders the words, which are announced, and a bar. */
function ratingView({ language: { t } }: PageContext, { score, weakness, missing }: PasswordRating): Markup {
  // The least score has a small bar; a refused password never has a green one.
  const value = 1 + (weakness === undefined ? score : Math.min(score, STRONG - 2))
  const meter = attributes({ min: 0, max: 5, low: 3, high: 4, optimum: 5, value, 'aria-hidden': 'true' })
  const words =
    weakness === undefined
      ? t(score >= STRONG ? 'strength.strong' : 'strength.good')
      : weakness === 'short'
        ? t('strength.short', { count: missing })
        : `${t('strength.weak')} ${t(`strength.${weakness}`)}`
  return html`<p><meter${meter}></meter> <span class="small">${words}</span></p>`
}
