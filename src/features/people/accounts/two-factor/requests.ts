import Type from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { CodeField, FlowField } from '../requests.ts'

export const TwoFactorConfirmation = Type.Object({
  code: CodeField,
  flow: FlowField,
  password: OwnerProofFields.password,
})
export const TwoFactorRemoval = Type.Object({ code: CodeField, password: OwnerProofFields.password })
