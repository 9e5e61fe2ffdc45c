import { parseId } from '#lib/ids.ts'
import { parseIds } from '#platform/http/query-values.ts'

/** Parses the query parameter `ids`. @throws ApiError `invalid_input` naming `ids`. */
export function parseNotificationIds(query: { ids: string }): string[] {
  return parseIds(query.ids).map((id) => parseId(id, 'ids'))
}
