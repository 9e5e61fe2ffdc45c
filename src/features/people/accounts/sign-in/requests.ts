import Type from 'typebox'
import { CodeField, FlowField, OptionalChallenge, PasswordField, SignInName } from '../requests.ts'

export const Credentials = Type.Object({
  username: SignInName,
  password: PasswordField,
  challenge: OptionalChallenge,
  undo_deletion: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether a deletion of the account that is pending is undone; else the sign-in is refused then',
    }),
  ),
})
export const SecondFactor = Type.Object({ code: CodeField, flow: FlowField })
