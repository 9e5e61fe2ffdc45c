// Sign-up, and the settings that sign-up pages need.
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { acceptedLanguage } from '#lib/languages.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { NewAccount } from '../requests.ts'
import { SessionView } from '../sessions/views.ts'
import { Globals } from '../views.ts'
import { emailKeyRequired, signUp, validateSignUp } from './sign-up.ts'

export function signUpRoutes(app: App, deps: AccountDeps): void {
  const { config } = deps
  app.post('/auth/create', {
    config: { auth: 'public', cost: COSTS.password, errors: ['400 captcha_error', '409 conflict', '424 auth_error'] },
    schema: {
      operationId: 'createAccount',
      summary: 'Sign up',
      description:
        'An address range (IPv4 /24, IPv6 /48) can create as many accounts per hour as `sign_ups_per_range` in the settings. ' +
        'After 5 sign-ups within an hour with email addresses of other accounts, clients in the same address range (IPv4 /24, IPv6 /48) get 401 with the field `email_key` for every email address, and Depot sends an email with a link to continue.',
      body: NewAccount,
      response: { 201: SessionView },
    },
    handler: async (req, reply) => {
      const { challenge, account_consent: honeypot, invitation, email_key: emailKey, ...rest } = req.body
      const {
        terms_version: termsVersion,
        language = acceptedLanguage(req.headers['accept-language']),
        ...fields
      } = rest
      const of = { fields, challenge, honeypot, invitation, emailKey, termsVersion, language, client: clientOf(req) }
      const session = await signUp(deps, of)
      if (session === undefined) throw emailKeyRequired()
      return reply.status(201).send(session)
    },
  })
  app.post('/auth/create/validate', {
    config: {
      auth: 'public',
      cost: COSTS.password,
      whenReadOnly: 'answers',
      errors: ['409 conflict'],
      withoutPage: 'Pages check a form when they receive it',
    },
    schema: {
      operationId: 'validateNewAccount',
      summary: 'Validate a sign-up without creating an account',
      body: NewAccount,
    },
    handler: async (req) => {
      const { account_consent: honeypot, invitation, terms_version: termsVersion } = req.body
      const address = req.clientAddress
      await validateSignUp(deps, { fields: req.body, honeypot, invitation, termsVersion, address })
    },
  })
  app.get('/globals', {
    config: { auth: 'public' },
    schema: {
      operationId: 'getGlobals',
      summary: 'Get the settings that account pages need',
      response: { 200: Globals },
    },
    handler: async () => ({
      captcha_enabled: config.accounts.captcha !== undefined,
      registration_open: (await getSettings(deps)).registration === 'open',
      email_verification_required: config.accounts.requireVerifiedEmail,
      tax_compliance_thresholds: {},
    }),
  })
}
