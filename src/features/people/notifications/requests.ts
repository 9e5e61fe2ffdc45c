import Type from 'typebox'
import { CursorQuery, parseIdList } from '#platform/http/query-values.ts'

/** Parses the query parameter `ids`. @throws ApiError `invalid_input` naming `ids`. */
export function parseNotificationIds(query: { ids: string }): string[] {
  return parseIdList(query.ids)
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
