// Signing in, with the second factor where there is one, and out.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { CodeField, FlowField, PasswordField, SignInName } from '#features/people/accounts/requests.ts'
import { signOut } from '#features/people/accounts/sessions/delete-session.ts'
import { signIn } from '#features/people/accounts/sign-in/sign-in.ts'
import { signInWithCode } from '#features/people/accounts/sign-in/sign-in-with-code.ts'
import { ApiError } from '#lib/errors.ts'
import { checkValues } from '#web/kit/forms.ts'
import {
  attempt,
  type FormRefusal,
  noticeOf,
  type PageDeps,
  type PageRequest,
  type Pages,
} from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { leavesSite, returnPath } from '#web/kit/return-path.ts'
import { challengeOf } from './captcha.ts'
import { signedInView, signInCodeView, signInView } from './sign-in-views.ts'

const Credentials = Type.Object({ username: SignInName, password: PasswordField })
const SecondFactor = Type.Object({ flow: FlowField, code: CodeField })
const LABELS = { username: 'The name', password: 'The password', code: 'The code', challenge: 'The captcha' }

export function signInPages(pages: Pages, given: PageDeps): void {
  pages.open('GET', PATHS.signIn, 'showSignIn', async (request) => {
    const returnTo = request.query('return')
    if (request.viewer !== null) return request.redirect(returnPath(returnTo))
    return showSignIn(request, given, { name: '', returnTo })
  })
  pages.open('POST', PATHS.signIn, 'sendSignIn', (request) => sendCredentials(request, given))
  pages.open('POST', PATHS.signInCode, 'sendSignInCode', (request) => sendCode(request, given))
  pages.open('POST', PATHS.signOut, 'sendSignOut', async ({ viewer, reply, redirect, field }) => {
    if (viewer !== null) await signOut(given.deps, viewer)
    given.cookie.clear(reply)
    const returnTo = field('return')
    return returnTo === '' ? redirect(PATHS.signIn, 'signed-out') : redirect(signInPath(returnTo))
  })
}

async function sendCredentials(request: PageRequest, given: PageDeps): Promise<FastifyReply> {
  const { accounts, cookie } = given
  const { req, reply, field } = request
  const returnTo = field('return')
  let canUndo = false
  const { value, refusal } = await attempt(async () => {
    const values = checkValues(Credentials, { username: field('username'), password: field('password') })
    const challenge = challengeOf(request, accounts.config)
    const undoDeletion = field('undo_deletion') === 'yes'
    const given = { name: values.username, password: values.password, challenge, undoDeletion, client: clientOf(req) }
    return signIn(accounts, given).catch((error: unknown) => {
      canUndo = error instanceof ApiError && error.details?.['can_undo'] === true
      throw error
    })
  }, LABELS)
  if (refusal !== undefined) {
    const name = field('username').slice(0, 254)
    return showSignIn(request, given, { refusal, name, returnTo, canUndo })
  }
  if ('flow' in value) return showCode(request, { flow: value.flow, returnTo })
  cookie.write(reply, value.session)
  return redirectAfterSignIn(request, returnTo)
}

async function sendCode(request: PageRequest, { accounts, cookie }: PageDeps): Promise<FastifyReply> {
  const { req, reply, field } = request
  const [flow, returnTo] = [field('flow'), field('return')]
  const { value: session, refusal } = await attempt(async () => {
    const values = checkValues(SecondFactor, { flow, code: field('code') })
    return signInWithCode(accounts, { ...values, client: clientOf(req) })
  }, LABELS)
  if (refusal !== undefined) return showCode(request, { refusal, flow, returnTo })
  cookie.write(reply, session)
  return redirectAfterSignIn(request, returnTo)
}

async function showSignIn(
  request: PageRequest,
  { accounts }: PageDeps,
  of: { name: string; returnTo: string; refusal?: FormRefusal; canUndo?: boolean },
): Promise<FastifyReply> {
  const { page, captcha, show } = request
  const isOpen = (await getSettings(accounts)).registration !== 'closed'
  const body = signInView(page, { ...of, captcha, isOpen, notice: noticeOf(request) })
  return show({ title: page.language.t('sign-in'), body, refusal: of.refusal, asksCaptcha: true })
}

function showCode(
  { page, show }: PageRequest,
  of: { flow: string; returnTo: string; refusal?: FormRefusal },
): FastifyReply {
  return show({ title: page.language.t('second-factor'), body: signInCodeView(page, of), refusal: of.refusal })
}

/** The sign-in page that leads on to `path`. */
export function signInPath(path: string): string {
  return `${PATHS.signIn}?return=${encodeURIComponent(path)}`
}

/**
 * Leads on after a sign-in. A page that may send the person to an application is reached by a step that is no form:
 * browsers hold all redirects of a form against its page's policy, which lets it redirect to our own pages only.
 */
export function redirectAfterSignIn({ page, redirect, show }: PageRequest, returnTo: string): FastifyReply {
  const path = returnPath(returnTo)
  if (!leavesSite(path)) return redirect(path)
  return show({ title: page.language.t('signed-in'), body: signedInView(page, path), refresh: path })
}
