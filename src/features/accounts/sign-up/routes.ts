// Signing up, and what a sign-up page needs to know.
import Type from 'typebox'
import { done } from '#http/answers.ts'
import type { App } from '#http/server.ts'
import { USERNAME_PATTERN } from '#lib/text-rules.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { EmailField, NewPasswordField, OptionalChallenge } from '../fields.ts'
import { SessionView } from '../sessions/views.ts'
import { checkNewAccount } from './create-account.ts'
import { checkMaySignUp, signUp } from './sign-up.ts'

const NewAccount = Type.Object(
  {
    username: Type.String({ pattern: USERNAME_PATTERN, minLength: 1, maxLength: 39 }),
    email: EmailField,
    password: NewPasswordField,
    challenge: OptionalChallenge,
    account_consent: Type.Optional(Type.Boolean({ description: 'Not for people: a program that sets it is refused' })),
  },
  { title: 'NewAccount' },
)

const Globals = Type.Object(
  {
    captcha_enabled: Type.Boolean(),
    registration_open: Type.Boolean(),
    email_verification_required: Type.Boolean(),
    tax_compliance_thresholds: Type.Record(Type.String(), Type.Number(), {
      description: 'Empty: nothing is paid out here',
    }),
  },
  { title: 'Globals' },
)

export function signUpRoutes(app: App, deps: AccountDeps): void {
  const { config } = deps
  app.post(
    '/auth/create',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'createAccount',
        summary: 'Sign up',
        body: NewAccount,
        response: { 201: SessionView },
      },
    },
    async (req, reply) => {
      const { challenge, account_consent: honeypot, ...fields } = req.body
      const session = await signUp(deps, { fields, challenge, honeypot, client: clientOf(req) })
      return reply.status(201).send(session)
    },
  )
  app.post(
    '/auth/create/validate',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'validateNewAccount',
        summary: 'Check what signing up would answer, without doing it',
        body: NewAccount,
      },
    },
    async (req, reply) => {
      checkMaySignUp(deps, req.body.account_consent)
      await checkNewAccount(deps, req.body)
      return done(reply)
    },
  )
  app.get(
    '/globals',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'getGlobals',
        summary: 'What account pages need to know of this service',
        response: { 200: Globals },
      },
    },
    async () => ({
      captcha_enabled: config.accounts.captcha !== undefined,
      registration_open: config.accounts.registration === 'open',
      email_verification_required: config.accounts.requireVerifiedEmail,
      tax_compliance_thresholds: {},
    }),
  )
}
