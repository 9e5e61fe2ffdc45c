import Type from 'typebox'
import { EmailField, FlowField, NewPasswordField, OptionalChallenge, PasswordField, SignInName } from '../requests.ts'

export const PasswordResetRequest = Type.Object({ username: SignInName, challenge: OptionalChallenge })

/** With a flow nobody needs to be signed in; without one, the caller changes their own password. */
export const PasswordChange = Type.Object({
  flow: Type.Optional(FlowField),
  old_password: Type.Optional(PasswordField),
  new_password: NewPasswordField,
})

export const EmailChange = Type.Object({ email: EmailField })
export const EmailVerification = Type.Object({ flow: FlowField })
