import Type from 'typebox'
import { USERNAME_PATTERN } from '#lib/text/text-rules.ts'
import { EmailField, NewPasswordField, OptionalChallenge } from '../requests.ts'

export const NewAccount = Type.Object(
  {
    username: Type.String({ pattern: USERNAME_PATTERN, minLength: 1, maxLength: 39 }),
    email: EmailField,
    password: NewPasswordField,
    challenge: OptionalChallenge,
    invitation: Type.Optional(
      Type.String({ maxLength: 256, description: 'The code of an invitation, where registration is by invitation' }),
    ),
    account_consent: Type.Optional(
      Type.Boolean({ description: 'Trap for bots: leave it out; a request that sets it is rejected' }),
    ),
  },
  { title: 'NewAccount' },
)
