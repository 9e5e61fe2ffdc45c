import Type from 'typebox'

export const ClientQuery = Type.Object({
  client_id: Type.String({ maxLength: 64, description: 'ID of the application' }),
})
