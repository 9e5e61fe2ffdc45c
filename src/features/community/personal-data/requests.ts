import Type from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'

/** The body of a deletion. Null for a session that was confirmed. */
export const AccountDeletion = Nullable(
  NamedObject('AccountDeletion', {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: "Reason for the audit log, for another user's account",
      }),
    ),
    ...OwnerProofFields,
  }),
)
