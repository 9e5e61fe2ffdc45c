// Body fields with which a caller shows that they own their account, for every feature that asks for it.
import Type from 'typebox'

/** Needed unless the caller's session gave the password within the last ten minutes. */
export const OwnerProofFields = {
  password: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        "The caller's password; not needed in a session that gave it within the last ten minutes. An account without one sends a personal token of its linked account at the code host.",
    }),
  ),
  code: Type.Optional(
    Type.String({
      maxLength: 32,
      description: 'A code or backup code, beside `password`, where two-factor sign-in is on',
    }),
  ),
}
