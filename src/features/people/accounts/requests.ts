// Body fields that several account routes take.
import Type from 'typebox'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './passwords/passwords.ts'
import { CHALLENGE_LENGTH_MAX } from './sign-in/captcha.ts'

/** A new password. */
export const NewPasswordField = Type.String({ minLength: PASSWORD_LENGTH_MIN, maxLength: PASSWORD_LENGTH_MAX })

/** A password to compare: too short is as wrong as any other. */
export const PasswordField = Type.String({ maxLength: PASSWORD_LENGTH_MAX })

/** What makes a text an address is checked by the rule the mails are sent by. */
export const EmailField = Type.String({ maxLength: 254 })

/** Username or e-mail address. */
export const SignInName = Type.String({ maxLength: 254 })

/** The secret of a flow; those made here have 54 characters. */
export const FlowField = Type.String({ maxLength: 128 })

/** A TOTP code or a backup code. */
export const CodeField = Type.String({ maxLength: 32 })

export const OptionalChallenge = Type.Optional(
  Type.Union([
    Type.String({ maxLength: CHALLENGE_LENGTH_MAX, description: 'Response token of the captcha' }),
    Type.Null(),
  ]),
)
