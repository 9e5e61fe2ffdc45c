// What a request for random projects may say.
import Type, { type Static } from 'typebox'

export const RandomQuery = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of projects' }),
  project_type: Type.Optional(Type.String({ maxLength: 64, description: 'Only projects of this type' })),
})
export type RandomQuery = Static<typeof RandomQuery>
