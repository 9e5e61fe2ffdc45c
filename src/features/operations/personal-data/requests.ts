import Type from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'

/** No body, where the session gave the password some minutes ago. */
export const DeletionProof = Nullable(Type.Object(OwnerProofFields, { title: 'DeletionProof' }))
