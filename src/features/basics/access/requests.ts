// Paths of resources with a name, and request fields that confirm the owner of an account.
import Type from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import { pathId } from '#platform/http/query-values.ts'

export const ProjectParams = pathId('ID or slug of the project', NAME_PATTERN, ['AABBCCDD', 'lantern'])
export const OrganizationParams = pathId('ID or slug of the organization', NAME_PATTERN, ['AABBCCDD', 'lamplighters'])
export const UserParams = pathId('ID or username', NAME_PATTERN, ['AABBCCDD', 'mira'])

/** Required unless the session was confirmed within the last 10 minutes. */
export const OwnerProofFields = {
  password: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        "The caller's password, or a personal token of the linked code-host account if the account has no password. Not required if the session was confirmed within the last 10 minutes",
    }),
  ),
  code: Type.Optional(
    Type.String({
      maxLength: 32,
      description: 'Two-factor code or backup code; required with `password` if two-factor sign-in is enabled',
    }),
  ),
}

/** The body of a request that consists of the confirmation. Null for a session that was confirmed. */
export const OwnerProofBody = Nullable(NamedObject('OwnerProof', OwnerProofFields))
