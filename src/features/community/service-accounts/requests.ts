// Requests of service accounts.

import Type from 'typebox'
import { OrganizationParams } from '#features/basics/access/requests.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const NewServiceAccount = NamedObject('ServiceAccountCreate', {
  username: Type.String({
    maxLength: 39,
    description: '1 to 39 letters, digits, dots, underscores or hyphens; unique among all users',
  }),
})

const user_id = Type.String({ maxLength: 64, description: 'ID or username of the service account' })
export const ServiceAccountParams = Type.Object({ ...OrganizationParams.properties, user_id })
export const ServiceTokenParams = Type.Object({
  ...ServiceAccountParams.properties,
  token_id: Type.String({ maxLength: 64, description: 'ID of the token' }),
})
