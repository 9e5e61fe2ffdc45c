// The account pages.
import { type MappedPage, pagesFor } from './page.ts'

const open = pagesFor('everyone')
const own = pagesFor('signed-in users')

export const ACCOUNT_PAGES: readonly MappedPage[] = [
  open('showSignUp', '/account/sign-up', 'Sign-up', 'createAccount getGlobals'),
  open('showFirstAdmin', '/account/first-admin', 'The first account of an instance'),
  open(
    'showSignIn',
    '/account/sign-in',
    'Sign-in, with a second step for two-factor codes',
    'signIn signInWithSecondFactor',
  ),
  own('showCheckMail', '/account/check-mail', 'The emailed link after sign-up, sent again', 'resendVerification'),
  open('showForgottenPassword', '/account/forgot-password', 'Request for a reset link', 'requestPasswordReset'),
  open('showPasswordReset', '/account/reset-password', 'A new password, from an emailed link'),
  open(
    'showEmailVerification',
    '/account/verify-email',
    'Verification of an address, from an emailed link',
    'verifyEmail',
  ),
  open(
    'showEmailUndoing',
    '/account/undo-email',
    'Undoing a change of the address, from an emailed link',
    'undoEmailChange',
  ),
  own(
    'showConsent',
    '/account/authorize',
    'Consent to an application',
    'authorize acceptAuthorization rejectAuthorization',
  ),
  own('showProfile', '/account', 'Username, text and image', 'getOwnUser updateUser setUserIcon deleteUserIcon'),
  own(
    'showSecurity',
    '/account/security',
    'Email address, password, two-factor sign-in',
    'changeEmail resendVerification changePassword startTwoFactor enableTwoFactor disableTwoFactor',
  ),
  own('showTokens', '/account/tokens', 'Access tokens', 'listAccessTokens createAccessToken deleteAccessToken'),
  own('showApplications', '/account/applications', 'Own applications', 'listUserApplications'),
  own('showNewApplication', '/account/applications/new', 'New application', 'createApplication'),
  own(
    'showApplication',
    '/account/applications/{id}',
    'One application',
    'getApplication updateApplication deleteApplication rotateApplicationSecret setApplicationIcon deleteApplicationIcon',
  ),
  own(
    'showAuthorizations',
    '/account/authorizations',
    'Applications with access to the account',
    'listAuthorizations revokeAuthorization',
  ),
  own(
    'showEmailSettings',
    '/account/notifications',
    'Choice of the notifications that are emailed',
    'getNotificationSettings updateNotificationSettings',
  ),
  open('showUnsubscription', '/account/unsubscribe', 'The end of emails of a kind, from an emailed link'),
  own('showOwnWebhooks', '/account/webhooks', 'Webhooks of the user and their deliveries', 'listUserWebhooks'),
  own(
    'showData',
    '/account/data',
    'Devices that are signed in, export of all data, deletion of the account',
    'listSessions deleteSession exportData deleteUser',
  ),
]
