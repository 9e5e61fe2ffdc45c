// Response schema of the server errors.
import Type, { type Static } from 'typebox'
import { Timestamp } from '#lib/schema/schema-parts.ts'

const ErrorView = Type.Object(
  {
    code: Type.String({ description: 'Error code of the responses' }),
    route: Type.String({ description: 'Method and path of the route, such as `POST /v3/version`' }),
    count: Type.Integer(),
    last: Timestamp,
    request_id: Type.String({ description: 'ID of the last request; the log has the cause under this ID' }),
  },
  { title: 'ServerError' },
)

export const ErrorsView = Type.Object(
  {
    since: Type.String({ format: 'date-time', description: 'Start of the period, rounded down to the full hour' }),
    errors: Type.Array(ErrorView, { description: 'The most frequent errors first' }),
  },
  { title: 'ServerErrors' },
)
export type ErrorsView = Static<typeof ErrorsView>
