import { clientOf } from '#features/accounts/account-deps.ts'
import { signUp } from '#features/accounts/sign-up/sign-up.ts'
import { challengeOf } from './captcha.ts'
import { attempt, type FormFault, type PageDeps, type Pages, type Visit } from './page-kit.ts'
import { PATHS } from './paths.ts'
import { returnPath } from './return-path.ts'
import { leadAfterSignIn } from './sign-in.ts'

const LABELS = {
  username: 'The username',
  email: 'The e-mail address',
  password: 'The password',
  challenge: 'The captcha',
}

export function signUpPages(pages: Pages, kit: PageDeps): void {
  const { accounts, cookie } = kit
  const form = ({ show, query, field, req }: Visit, more: { fault?: FormFault } = {}) => {
    const isGet = req.method !== 'POST'
    return show('sign-up', {
      title: 'Sign up',
      asksCaptcha: accounts.config.accounts.registration === 'open',
      status: more.fault?.status ?? 200,
      ...more,
      username: isGet ? '' : field('username'),
      email: isGet ? '' : field('email'),
      returnTo: isGet ? query('return') : field('return'),
    })
  }
  pages.open('GET', PATHS.signUp, 'showSignUp', async (visit) =>
    visit.viewer === null ? form(visit) : visit.lead(returnPath(visit.query('return'))),
  )
  pages.open('POST', PATHS.signUp, 'sendSignUp', async (visit) => {
    const { req, reply, field } = visit
    const { value: session, fault } = await attempt(
      () =>
        signUp(accounts, {
          fields: { username: field('username'), email: field('email'), password: field('password') },
          challenge: challengeOf(visit, accounts.config),
          honeypot: field('account_consent') !== '',
          client: clientOf(req),
        }),
      LABELS,
    )
    if (fault !== undefined) return form(visit, { fault })
    cookie.write(reply, session)
    return leadAfterSignIn(visit, field('return'))
  })
}
