import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { signUp } from '#features/people/accounts/sign-up/sign-up.ts'
import { attempt, type FormRefusal, type PageDeps, type PageRequest, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { returnPath } from '#web/kit/return-path.ts'
import { challengeOf } from './captcha.ts'
import { redirectAfterSignIn } from './sign-in.ts'
import { signUpView } from './sign-in-views.ts'

const LABELS = {
  username: 'The username',
  email: 'The e-mail address',
  password: 'The password',
  invitation: 'The invitation',
  challenge: 'The captcha',
}

export function signUpPages(pages: Pages, given: PageDeps): void {
  const { accounts, cookie } = given
  const form = async (request: PageRequest, { refusal }: { refusal?: FormRefusal } = {}) => {
    const { page, captcha, show, query, field, req } = request
    const isGet = req.method !== 'POST'
    const { registration } = await getSettings(accounts)
    const isOpen = registration !== 'closed'
    const body = signUpView(page, {
      username: isGet ? '' : field('username'),
      email: isGet ? '' : field('email'),
      invitation: registration !== 'invitation' ? undefined : isGet ? query('invitation') : field('invitation'),
      returnTo: isGet ? query('return') : field('return'),
      refusal,
      captcha,
      isOpen,
    })
    return show({ title: page.language.t('sign-up'), body, refusal, asksCaptcha: isOpen })
  }
  pages.open('GET', PATHS.signUp, 'showSignUp', async (request) =>
    request.viewer === null ? form(request) : request.redirect(returnPath(request.query('return'))),
  )
  pages.open('POST', PATHS.signUp, 'sendSignUp', async (request) => {
    const { req, reply, field } = request
    const { value: session, refusal } = await attempt(
      () =>
        signUp(accounts, {
          fields: { username: field('username'), email: field('email'), password: field('password') },
          challenge: challengeOf(request, accounts.config),
          invitation: field('invitation'),
          honeypot: field('account_consent') !== '',
          client: clientOf(req),
        }),
      LABELS,
    )
    if (refusal !== undefined) return form(request, { refusal })
    cookie.write(reply, session)
    return redirectAfterSignIn(request, field('return'))
  })
}
