import Type from 'typebox'
import { Id } from '#lib/schema/schema-parts.ts'

export const ClientQuery = Type.Object({
  client_id: Id('ID of the application'),
})
