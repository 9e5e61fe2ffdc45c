// Signing in, with the second factor where there is one, and out.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { clientOf } from '#features/accounts/account-deps.ts'
import { CodeField, FlowField, PasswordField, SignInName } from '#features/accounts/fields.ts'
import { deleteSession } from '#features/accounts/sessions/queries.ts'
import { checkCaptcha } from '#features/accounts/sign-in/captcha.ts'
import { signIn } from '#features/accounts/sign-in/sign-in.ts'
import { signInWithCode } from '#features/accounts/sign-in/sign-in-with-code.ts'
import { challengeOf } from './captcha.ts'
import { checkValues } from './forms.ts'
import { attempt, type PageDeps, type Pages, type Visit } from './page-kit.ts'
import { PATHS } from './paths.ts'
import { leadsOutside, returnPath } from './return-path.ts'

const Credentials = Type.Object({ username: SignInName, password: PasswordField })
const SecondFactor = Type.Object({ flow: FlowField, code: CodeField })
const LABELS = { username: 'The name', password: 'The password', code: 'The code', challenge: 'The captcha' }

export function signInPages(pages: Pages, kit: PageDeps): void {
  pages.open('GET', PATHS.signIn, 'showSignIn', async (visit) => {
    const returnTo = visit.query('return')
    if (visit.viewer !== null) return visit.lead(returnPath(returnTo))
    return visit.show('sign-in', { title: 'Sign in', asksCaptcha: true, name: '', returnTo })
  })
  pages.open('POST', PATHS.signIn, 'sendSignIn', (visit) => sendCredentials(visit, kit))
  pages.open('POST', PATHS.signInCode, 'sendSignInCode', (visit) => sendCode(visit, kit))
  pages.open('POST', PATHS.signOut, 'sendSignOut', async ({ viewer, reply, lead, field }) => {
    if (viewer !== null) {
      const { id: accountId, token } = viewer
      await transaction(kit.deps, (tx, changed) => deleteSession(tx, changed, { accountId, session: { id: token.id } }))
    }
    kit.cookie.clear(reply)
    const returnTo = field('return')
    return returnTo === '' ? lead(PATHS.signIn, 'signed-out') : lead(signInPath(returnTo))
  })
}

async function sendCredentials(visit: Visit, { accounts, cookie }: PageDeps): Promise<FastifyReply> {
  const { req, reply, field, show } = visit
  const returnTo = field('return')
  const { value, fault } = await attempt(async () => {
    const values = checkValues(Credentials, { username: field('username'), password: field('password') })
    const challenge = challengeOf(visit, accounts.config)
    await checkCaptcha(accounts.config.accounts.captcha, { challenge, address: req.clientAddress })
    return signIn(accounts, { name: values.username, password: values.password, client: clientOf(req) })
  }, LABELS)
  if (fault !== undefined) {
    const { status } = fault
    const name = field('username').slice(0, 254)
    return show('sign-in', { title: 'Sign in', status, fault, asksCaptcha: true, name, returnTo })
  }
  if ('flow' in value) return show('sign-in-code', { title: 'Second factor', flow: value.flow, returnTo })
  cookie.write(reply, value.session)
  return leadAfterSignIn(visit, returnTo)
}

async function sendCode(visit: Visit, { accounts, cookie }: PageDeps): Promise<FastifyReply> {
  const { req, reply, field, show } = visit
  const [flow, returnTo] = [field('flow'), field('return')]
  const { value: session, fault } = await attempt(async () => {
    const values = checkValues(SecondFactor, { flow, code: field('code') })
    return signInWithCode(accounts, { ...values, client: clientOf(req) })
  }, LABELS)
  if (fault !== undefined)
    return show('sign-in-code', { title: 'Second factor', status: fault.status, fault, flow, returnTo })
  cookie.write(reply, session)
  return leadAfterSignIn(visit, returnTo)
}

/** The sign-in page that leads on to `path`. */
export function signInPath(path: string): string {
  return `${PATHS.signIn}?return=${encodeURIComponent(path)}`
}

/**
 * Leads on after a sign-in. A page that may send the person to an application is reached by a step that is no form:
 * browsers hold all redirects of a form against its page's policy, which lets it lead to our own pages only.
 */
export function leadAfterSignIn({ lead, show }: Visit, returnTo: string): FastifyReply {
  const path = returnPath(returnTo)
  return leadsOutside(path) ? show('go-on', { title: 'Signed in', next: path }) : lead(path)
}
