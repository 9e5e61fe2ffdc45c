// Sign-in, with a two-factor code if the account has one, and sign-out.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { hasPasskeys } from '#features/people/accounts/passkeys/ceremonies.ts'
import { parsePasskey } from '#features/people/accounts/passkeys/requests.ts'
import { signInWithPasskey } from '#features/people/accounts/passkeys/sign-in-with-passkey.ts'
import { CodeField, FlowField, PasswordField, SignInName } from '#features/people/accounts/requests.ts'
import { signOut } from '#features/people/accounts/sessions/delete-session.ts'
import { readSecondFactors, signIn, signInWithCode } from '#features/people/accounts/sign-in/sign-in.ts'
import { ApiError } from '#lib/errors.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { Pages } from '#web/kit/pages.ts'
import { leavesSite, PATHS, returnPath, signInPath } from '#web/kit/paths.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import { captchaState, challengeOf } from './captcha.ts'
import { showReset } from './passwords.ts'
import { signedInView, signInCodeView, signInView } from './sign-in-views.ts'

const Credentials = Type.Object({ username: SignInName, password: PasswordField })
const SecondFactor = Type.Object({ flow: FlowField, code: CodeField })
const LABELS = {
  username: 'The name',
  password: 'The password',
  code: 'The code',
  passkey: 'The passkey',
  challenge: 'The captcha',
}

export function signInPages(pages: Pages): void {
  pages.open('GET', PATHS.signIn, 'showSignIn', openSignIn, { api: 'signIn signInWithSecondFactor signInWithPasskey' })
  pages.open('POST', PATHS.signIn, 'sendSignIn', sendCredentials)
  pages.open('POST', PATHS.signInCode, 'sendSignInCode', sendCode)
  pages.open('POST', PATHS.signOut, 'sendSignOut', async ({ deps, cookie, viewer, reply, redirect, field }) => {
    if (viewer !== null) await signOut(deps, viewer)
    cookie.clear(reply)
    const returnTo = field('return')
    return returnTo === '' ? redirect(PATHS.signIn, 'signed-out') : redirect(signInPath(returnTo))
  })
}

async function openSignIn(request: PageRequest): Promise<FastifyReply> {
  const returnTo = request.query('return')
  if (request.viewer !== null) return request.redirect(returnPath(returnTo))
  return showSignIn(request, { name: '', returnTo })
}

async function sendCredentials(request: PageRequest): Promise<FastifyReply> {
  const { accounts, cookie, req, reply, field } = request
  const returnTo = field('return')
  let canUndo = false
  const undoDeletion = field('undo_deletion') === 'yes'
  const { value, refusal } = await attempt(async () => {
    const checkUndo = (error: unknown): never => {
      canUndo = error instanceof ApiError && error.details?.['can_undo'] === true
      throw error
    }
    if (field('passkey') !== '') return usePasskey(request, undoDeletion).catch(checkUndo)
    const { username: name, password } = checkValues(Credentials, {
      username: field('username'),
      password: field('password'),
    })
    const credentials = { name, password, challenge: challengeOf(request), undoDeletion, client: clientOf(req) }
    return signIn(accounts, credentials).catch(checkUndo)
  }, LABELS)
  if (refusal !== undefined) {
    const name = field('username').slice(0, 254)
    return showSignIn(request, { refusal, name, returnTo, canUndo })
  }
  if ('flow' in value && value.needs === 'code') return showCode(request, { flow: value.flow, returnTo })
  if ('flow' in value) return showReset(request, { flow: value.flow, isTemporary: true })
  cookie.write(reply, value.session)
  return redirectAfterSignIn(request, returnTo)
}

async function sendCode(request: PageRequest): Promise<FastifyReply> {
  const { accounts, cookie, req, reply, field } = request
  const [flow, returnTo] = [field('flow'), field('return')]
  const { value, refusal } = await attempt(async () => {
    if (field('passkey') !== '') return usePasskey(request, false)
    const values = checkValues(SecondFactor, { flow, code: field('code') })
    return signInWithCode(accounts, { ...values, client: clientOf(req) })
  }, LABELS)
  if (refusal !== undefined) return showCode(request, { refusal, flow, returnTo })
  if ('flow' in value) return showReset(request, { flow: value.flow, isTemporary: true })
  cookie.write(reply, value.session)
  return redirectAfterSignIn(request, returnTo)
}

/** Signs in with the passkey in the form. */
const usePasskey = async ({ accounts, req, field }: PageRequest, undoDeletion: boolean) =>
  signInWithPasskey(accounts, {
    credential: parsePasskey('assertion', field('passkey')),
    undoDeletion,
    client: clientOf(req),
  })

/** The providers of the instance. */
export const providersOf = ({ providers }: PageRequest['accounts']) =>
  [...providers.values()].map(({ provider: { id, name } }) => ({ id, name }))

export async function showSignIn(
  request: PageRequest,
  shown: { name: string; returnTo: string; refusal?: FormRefusal; canUndo?: boolean },
): Promise<FastifyReply> {
  const { accounts, deps, page, show } = request
  const isOpen = (await getSettings(accounts)).registration !== 'closed'
  const captcha = captchaState(deps.config)
  const body = signInView(page, {
    ...shown,
    captcha,
    isOpen,
    hasPasskeys: hasPasskeys(deps.config),
    providers: providersOf(accounts),
    notice: noticeOf(request),
  })
  return show({ title: page.language.t('sign-in'), body, refusal: shown.refusal, widget: captcha.widget })
}

export async function showCode(
  { accounts, page, show }: PageRequest,
  shown: { flow: string; returnTo: string; refusal?: FormRefusal },
): Promise<FastifyReply> {
  const body = signInCodeView(page, { ...shown, factors: await readSecondFactors(accounts, shown.flow) })
  return show({ title: page.language.t('second-factor'), body, refusal: shown.refusal })
}

/**
 * Leads on after a sign-in. If the page can send the user to an application, it is loaded without a form: browsers apply
 * the policy of a page to all redirects of its forms, and the policy of this page allows Depot's own pages only.
 */
export function redirectAfterSignIn({ page, redirect, show }: PageRequest, returnTo: string): FastifyReply {
  const path = returnPath(returnTo)
  if (!leavesSite(path)) return redirect(path)
  return show({ title: page.language.t('signed-in'), body: signedInView(page, path), refresh: path })
}
