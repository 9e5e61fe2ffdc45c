// Where the pages are. Paths are below the public address, whatever path that has itself.
import { AUTHORIZE_PAGE } from '#features/people/oauth/authorize/requests.ts'
import { MAIL_PAGES } from '#ports/mail/messages.ts'

export const PATHS = {
  ...MAIL_PAGES,
  authorize: AUTHORIZE_PAGE,
  signInCode: '/account/sign-in/code',
  signOut: '/account/sign-out',
  signUp: '/account/sign-up',
  firstAdmin: '/account/first-admin',
  forgotPassword: '/account/forgot-password',
  profile: '/account',
  security: '/account/security',
  sessions: '/account/sessions',
  tokens: '/account/tokens',
  applications: '/account/applications',
  authorizations: '/account/authorizations',
  data: '/account/data',
  preferences: '/preferences',
} as const
