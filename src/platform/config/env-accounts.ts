// Variables of accounts: who may make one, what proves that they are people, and the mail that reaches them.
import Type from 'typebox'
import { isMailbox, isMailServerAddress, isOriginList, isScriptAddress, isWebAddress } from './env-values.ts'
import { choice, count, optional, WEB } from './variable.ts'

export const ACCOUNT_VARIABLES = {
  SMTP_URL: optional(
    {
      description: 'Mail server. Unset: messages are written to DATA_DIR/outbox and addresses need no verifying.',
      must: 'an smtp:// or smtps:// address',
      example: 'smtp://user:password@mail.example.org:587',
      secret: true,
    },
    isMailServerAddress,
  ),
  MAIL_FROM: optional(
    {
      description: 'Sender of every message. Default: noreply at the host of BASE_URL.',
      must: 'an e-mail address, alone or as Name <address>',
      example: 'Depot <noreply@depot.example.org>',
    },
    isMailbox,
  ),
  REQUIRE_VERIFIED_EMAIL: Type.Optional(
    Type.Boolean({
      description: 'Whether creating things needs a verified address. Default: true when SMTP_URL is set.',
      must: 'true or false',
      example: 'true',
    }),
  ),
  REGISTRATION: choice(
    { description: 'Whether people may make accounts themselves, or need an invitation.', example: 'closed' },
    ['open', 'invitation', 'closed'],
    'open',
  ),
  ACCOUNT_DELETION_DAYS: count(
    {
      description:
        'Days in which the deletion of an account can be undone, while nobody sees it any more; 0 deletes at once.',
      must: 'a whole number from 0 to 365',
      example: '14',
    },
    0,
    365,
    0,
  ),
  AUDIT_RETENTION: count(
    {
      description: 'Days for which the audit log keeps its entries; 0 keeps them for ever.',
      must: 'a whole number from 0 to 36500',
      example: '730',
    },
    0,
    36_500,
    365,
  ),
  AUDIT_ADDRESS_RETENTION: count(
    {
      description:
        'Days for which entries of the audit log have the address that they came from; 0: until the next night.',
      must: 'a whole number from 0 to 36500',
      example: '7',
    },
    0,
    36_500,
    30,
  ),
  CAPTCHA_VERIFY_URL: optional(
    {
      description: 'Endpoint of the siteverify kind that checks captchas at sign-up and sign-in; needs CAPTCHA_SECRET.',
      must: WEB,
      example: 'https://captcha.example.org/siteverify',
    },
    isWebAddress,
  ),
  CAPTCHA_SECRET: optional({
    description: 'Secret for CAPTCHA_VERIFY_URL.',
    must: 'the secret that belongs to CAPTCHA_VERIFY_URL',
    example: 'secret-from-the-captcha-service',
    secret: true,
  }),
  CAPTCHA_SITE_KEY: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      description:
        'Public key of the captcha, for the account pages; needs CAPTCHA_SCRIPT_URL and CAPTCHA_WIDGET_CLASS. Unset: ' +
        'where a captcha is asked for, nobody can sign up or in on these pages.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'site-key-from-the-captcha-service',
    }),
  ),
  CAPTCHA_SCRIPT_URL: optional(
    {
      description: 'Script that draws the captcha on the account pages, as its service gives it.',
      must: 'an https address (http for tests) without user and fragment',
      example: 'https://captcha.example.org/api.js',
    },
    isScriptAddress,
  ),
  CAPTCHA_WIDGET_CLASS: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
      description:
        'Class of the element that the script fills, as its service says. The answer comes in the field of that name ' +
        'with "-response" behind it.',
      must: 'one name of letters, digits, hyphens and underscores',
      example: 'x-captcha',
    }),
  ),
  CAPTCHA_ORIGINS: optional(
    {
      description:
        'Further origins that the captcha loads scripts, styles, frames and data from, separated by spaces, for ' +
        'services that use more than the one of CAPTCHA_SCRIPT_URL.',
      must: 'at most 10 origins such as https://host or https://*.host, separated by spaces',
      example: 'https://assets.captcha.example.org https://*.captcha.example.org',
    },
    isOriginList,
  ),
  CODE_HOST_API_URL: optional(
    {
      description: 'API of a code host whose tokens are accepted for linked accounts. Unset: none are.',
      must: WEB,
      example: 'https://api.codehost.example.org',
    },
    isWebAddress,
  ),
}
