// Requests of the account routes, and fields that they share with the pages.

import Type from 'typebox'
import { OwnerProofBody, OwnerProofFields } from '#features/basics/access/requests.ts'
import { parseToken } from '#lib/access/tokens.ts'
import { parseId } from '#lib/ids.ts'
import { LANGUAGE_TAGS } from '#lib/languages.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { USERNAME_PATTERN } from '#lib/text/text-rules.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './passwords/passwords.ts'
import { CHALLENGE_LENGTH_MAX } from './sign-in/captcha.ts'
import { termsVersion } from './terms/requests.ts'

export const NewPasswordField = Type.String({ minLength: PASSWORD_LENGTH_MIN, maxLength: PASSWORD_LENGTH_MAX })

/** The current password, without a minimum length: a short password is simply wrong. */
export const PasswordField = Type.String({ maxLength: PASSWORD_LENGTH_MAX })

/** An email address. `checkEmail` validates it by the rule of the mail port. */
export const EmailField = Type.String({ maxLength: 254 })

/** A username or email address. */
export const SignInName = Type.String({ maxLength: 254 })

/** The secret of a flow, which has 54 characters. */
export const FlowField = Type.String({ maxLength: 128 })

/** A TOTP code or a backup code. */
export const CodeField = Type.String({ maxLength: 32 })

export const OptionalChallenge = Type.Optional(
  Type.Union([
    Type.String({ maxLength: CHALLENGE_LENGTH_MAX, description: 'Response token of the captcha' }),
    Type.Null(),
  ]),
)

export const CodeHostLink = Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }), ...OwnerProofFields })

export const NewAccount = NamedObject('AccountCreate', {
  username: Type.String({ pattern: USERNAME_PATTERN, minLength: 1, maxLength: 39 }),
  email: EmailField,
  password: NewPasswordField,
  challenge: OptionalChallenge,
  invitation: Type.Optional(
    Type.String({ maxLength: 256, description: 'Code of an invitation; required if `registration` is `invitation`' }),
  ),
  email_key: Type.Optional(
    Type.String({ maxLength: 128, description: 'Key of the emailed link, if a former sign-up required it' }),
  ),
  terms_version: Type.Optional(termsVersion('. Required if the instance has Terms and its site is on')),
  language: Type.Optional(
    Type.Enum(LANGUAGE_TAGS, {
      description: 'Language that the user reads. Default: the best match of Accept-Language',
    }),
  ),
  account_consent: Type.Optional(
    Type.Boolean({ description: 'Trap for bots: omit it. Requests that set it are rejected' }),
  ),
})

export const Credentials = Type.Object({
  username: SignInName,
  password: PasswordField,
  challenge: OptionalChallenge,
  undo_deletion: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to undo a pending deletion of the account. If false, signing in to an account with a pending deletion fails',
    }),
  ),
})
export const SecondFactor = Type.Object({ code: CodeField, flow: FlowField })

export const TwoFactorConfirmation = Type.Object({
  code: CodeField,
  flow: FlowField,
  password: OwnerProofFields.password,
})
export const BackupCodeRenewal = OwnerProofBody
export const TwoFactorRemoval = Type.Object({ code: CodeField, password: OwnerProofFields.password })

export const PasswordResetRequest = Type.Object({ username: SignInName, challenge: OptionalChallenge })

/** With `flow`, no sign-in is required. Without it, the caller changes their own password. `old_password` is an alias of `password`. */
export const PasswordChange = Type.Object({
  flow: Type.Optional(FlowField),
  old_password: Type.Optional(PasswordField),
  ...OwnerProofFields,
  new_password: NewPasswordField,
  end_tokens: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'Whether to end everything else that acts for the account too: access tokens, authorizations of applications, the secret feed, the link to a code host, and tokens of service accounts that the user created',
    }),
  ),
})

export const EmailChange = Type.Object({ email: EmailField, ...OwnerProofFields })
export const EmailFlow = Type.Object({ flow: FlowField })

/** The ID or the hashed secret of a session or an access token. */
export type TokenReference = { id: string } | { hash: Buffer }

/** Parses an ID or a secret. @throws ApiError 400 if the text is neither. */
export function parseTokenReference(text: string, kind: 'pat' | 'session'): TokenReference {
  const secret = parseToken(text)
  return secret?.kind === kind ? { hash: secret.hash } : { id: parseId(text, 'id') }
}
