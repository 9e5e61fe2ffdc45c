import Type from 'typebox'
import { parseId } from '#lib/ids.ts'
import { CursorQuery, parseIds } from '#platform/http/query-values.ts'

/** Parses the query parameter `ids`. @throws ApiError `invalid_input` naming `ids`. */
export function parseNotificationIds(query: { ids: string }): string[] {
  return parseIds(query.ids).map((id) => parseId(id, 'ids'))
}

export const NotificationListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of notifications. Default: the whole list',
    }),
  ),
  cursor: CursorQuery,
})
