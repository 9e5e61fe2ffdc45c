// Settings of accounts: registration, captcha, email, the audit log, builds and the change feed.
import { parseCiIssuers } from './ci-issuers.ts'
import { isMailbox, isMailServerAddress, isOriginList, isScriptAddress } from './env-values.ts'
import { parseSignInProviders } from './sign-in-providers.ts'
import { address, choice, count, optional, optionalFlag } from './variable.ts'

export const ACCOUNT_VARIABLES = {
  SMTP_URL: optional({
    description:
      'Mail server. Default: emails are written to DATA_DIR/outbox, and email addresses need no verification.',
    must: 'an smtp:// or smtps:// URL',
    example: 'smtp://user:password@mail.example.org:587',
    secret: true,
    check: isMailServerAddress,
  }),
  MAIL_FROM: optional({
    description: 'Sender of all emails. Default: noreply at the host of BASE_URL.',
    must: 'an email address, alone or as Name <address>',
    example: 'Depot <noreply@depot.example.org>',
    check: isMailbox,
  }),
  REQUIRE_VERIFIED_EMAIL: optionalFlag({
    description:
      'Whether users need a verified email address to publish. Default: true if SMTP_URL is set, otherwise false.',
    example: 'true',
  }),
  REGISTRATION: choice({
    description: 'Access to sign-up. open: everyone. invitation: users with an invitation. closed: no one.',
    values: ['open', 'invitation', 'closed'],
    default: 'open',
    example: 'closed',
  }),
  ACCOUNT_DELETION_DAYS: count({
    description:
      'Days in which users can undo the deletion of their account, which is hidden until then. 0: accounts are deleted immediately.',
    range: [0, 365],
    default: 0,
    example: '14',
  }),
  PAT_MAX_DAYS: count({
    description: 'Maximum lifetime of new access tokens in days. 0: 10 years.',
    range: [0, 3660],
    default: 0,
    example: '90',
  }),
  LEAK_REPORT_KEYS_URL: address({
    description:
      'URL of the public keys with which a code host signs its reports of leaked tokens. Default: such reports are rejected.',
    example: 'https://api.codehost.example.org/meta/public_keys/secret_scanning',
  }),
  CI_ISSUERS: optional({
    description:
      'Build services that publish for trusted publishers, as a JSON list of {issuer, kind, name, algorithms, max_age_seconds}; kind: github, gitlab, forgejo or generic. []: none. See docs/publishers/trusted-publishing.md. Default: GitHub Actions and gitlab.com.',
    must: 'a JSON list of at most 20 different issuers with an https URL, a kind and a name',
    example: '[{"issuer": "https://code.example.org/api/actions", "kind": "forgejo", "name": "Our code host"}]',
    check: (value) => parseCiIssuers(value) !== undefined,
  }),
  CI_AUDIENCE: optional({
    pattern: '^[\\x21-\\x7e]{1,256}$',
    description: 'Audience that tokens of builds must have. Default: BASE_URL.',
    must: 'visible ASCII characters without spaces, at most 256',
    example: 'https://depot.example.org',
  }),
  AUDIT_RETENTION: count({
    description: 'Days after which entries of the audit log are deleted. 0: never.',
    range: [0, 36_500],
    default: 365,
    example: '730',
  }),
  AUDIT_ADDRESS_RETENTION: count({
    description: 'Days after which IP addresses are removed from the audit log. 0: in the next night.',
    range: [0, 36_500],
    default: 30,
    example: '7',
  }),
  CHANGES_KEPT_DAYS: count({
    description:
      'Days for which the change feed lists removed objects. Programs that have not read the feed for longer must start again.',
    range: [1, 3650],
    default: 90,
    example: '30',
  }),
  CAPTCHA_VERIFY_URL: address({
    description:
      'Endpoint that verifies captchas at sign-up and sign-in (siteverify protocol). Requires CAPTCHA_SECRET. Default: no captcha.',
    example: 'https://captcha.example.org/siteverify',
  }),
  CAPTCHA_SECRET: optional({
    description: 'Secret for CAPTCHA_VERIFY_URL.',
    must: 'the secret that belongs to CAPTCHA_VERIFY_URL',
    example: 'secret-from-the-captcha-service',
    secret: true,
  }),
  CAPTCHA_SITE_KEY: optional({
    pattern: '^[\\x21-\\x7e]{1,512}$',
    description:
      'Public key of the captcha for the account pages. Requires CAPTCHA_SCRIPT_URL and CAPTCHA_WIDGET_CLASS. If it is ' +
      'unset but captchas are required, users cannot sign up or sign in on these pages.',
    must: 'visible ASCII characters without spaces, at most 512',
    example: 'site-key-from-the-captcha-service',
  }),
  CAPTCHA_SCRIPT_URL: optional({
    description: 'URL of the script that shows the captcha on the account pages.',
    must: 'an https address (http for tests) without user and fragment',
    example: 'https://captcha.example.org/api.js',
    check: isScriptAddress,
  }),
  CAPTCHA_WIDGET_CLASS: optional({
    pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
    description:
      'Class of the element that the script fills. The form field with the solution has this name followed by ' +
      '"-response".',
    must: 'one name of letters, digits, hyphens and underscores',
    example: 'x-captcha',
  }),
  CAPTCHA_ORIGINS: optional({
    description:
      'Other origins, separated by spaces, from which the captcha loads scripts, styles, frames and data. Default: only ' +
      'the origin of CAPTCHA_SCRIPT_URL.',
    must: 'at most 10 origins such as https://host or https://*.host, separated by spaces',
    example: 'https://assets.captcha.example.org https://*.captcha.example.org',
    check: isOriginList,
  }),
  SIGN_IN_PROVIDERS: optional({
    description:
      'Services whose accounts sign in, as a JSON list of {kind, client_id, client_secret, id, name, issuer}; kind: google, github, gitlab, discord or oidc. See docs/operators/sign-in.md. Default: none.',
    must: 'a JSON list of at most 10 services with different IDs, each with a kind, client_id and client_secret; oidc also needs name and an https issuer',
    example: '[{"kind": "github", "client_id": "client-id", "client_secret": "client-secret"}]',
    secret: true,
    check: (value) => parseSignInProviders(value) !== undefined,
  }),
  CODE_HOST_API_URL: address({
    description:
      'URL of the API of a code host whose tokens identify linked accounts. Default: such tokens are rejected.',
    example: 'https://api.codehost.example.org',
  }),
}
