import Type from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'

/** null if the user entered their password in this session within the last minutes. */
export const DeletionProof = Nullable(Type.Object(OwnerProofFields, { title: 'DeletionProof' }))
