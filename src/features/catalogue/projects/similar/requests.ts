// Query parameters of similar projects.
import Type from 'typebox'
import { Id } from '#lib/schema/schema-parts.ts'

export const SimilarQuery = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 64, description: 'Name to compare' }),
  project_id: Type.Optional(
    Id('ID of the project to which the name belongs: its icon is compared, and it is not in the response'),
  ),
})
