// Response schema of the server errors.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'

const ErrorView = NamedObject('ServerError', {
  code: Type.String({ description: 'Error code of the responses' }),
  route: Type.String({ description: 'Method and path of the route, such as `POST /v3/version`' }),
  count: Type.Integer(),
  last: Timestamp,
  request_id: Type.String({ description: 'ID of the last request; the log has the cause under this ID' }),
})

export const ErrorsView = NamedObject('ServerErrors', {
  since: Type.String({ format: 'date-time', description: 'Start of the period, rounded down to the full hour' }),
  errors: Type.Array(ErrorView, { description: 'The most frequent errors first' }),
})
export type ErrorsView = Static<typeof ErrorsView>
