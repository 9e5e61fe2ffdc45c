// Signing in: name and password, and where it is on the second factor.
import Type from 'typebox'
import type { App } from '#http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { CodeField, FlowField, OptionalChallenge, PasswordField, SignInName } from '../fields.ts'
import { SessionView } from '../sessions/views.ts'
import { checkCaptcha } from './captcha.ts'
import { signIn } from './sign-in.ts'
import { signInWithCode } from './sign-in-with-code.ts'

const TwoFactorRequired = Type.Object(
  {
    error: Type.Literal('2fa_required'),
    description: Type.String(),
    flow: Type.String({ description: 'For /auth/login/2fa, within 30 minutes' }),
  },
  { title: 'TwoFactorRequired' },
)

export function signInRoutes(app: App, deps: AccountDeps): void {
  app.post(
    '/auth/login',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'signIn',
        summary: 'Sign in with username or e-mail address, and password',
        body: Type.Object({ username: SignInName, password: PasswordField, challenge: OptionalChallenge }),
        response: { 200: Type.Union([SessionView, TwoFactorRequired]) },
      },
    },
    async (req) => {
      const { username: name, password, challenge } = req.body
      await checkCaptcha(deps.config.accounts.captcha, { challenge, address: req.clientAddress })
      const result = await signIn(deps, { name, password, client: clientOf(req) })
      if ('session' in result) return result.session
      return { error: '2fa_required' as const, description: 'This account needs a second factor', flow: result.flow }
    },
  )
  app.post(
    '/auth/login/2fa',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'signInWithSecondFactor',
        summary: 'Finish a sign-in with a code or a backup code',
        body: Type.Object({ code: CodeField, flow: FlowField }),
        response: { 200: SessionView },
      },
    },
    async (req) => signInWithCode(deps, { ...req.body, client: clientOf(req) }),
  )
}
