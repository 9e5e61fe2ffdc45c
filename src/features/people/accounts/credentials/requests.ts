import Type from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { EmailField, FlowField, NewPasswordField, OptionalChallenge, PasswordField, SignInName } from '../requests.ts'

export const PasswordResetRequest = Type.Object({ username: SignInName, challenge: OptionalChallenge })

/** With a flow nobody needs to be signed in; without one, the caller changes their own password: `old_password` and `password` mean the same. */
export const PasswordChange = Type.Object({
  flow: Type.Optional(FlowField),
  old_password: Type.Optional(PasswordField),
  ...OwnerProofFields,
  new_password: NewPasswordField,
})

export const EmailChange = Type.Object({ email: EmailField, ...OwnerProofFields })
export const EmailUndoing = Type.Object({ flow: FlowField })
export const EmailVerification = Type.Object({ flow: FlowField })
