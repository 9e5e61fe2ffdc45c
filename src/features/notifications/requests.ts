// How requests name notifications.
import { parseIds } from '#http/query-values.ts'
import { parseId } from '#lib/ids.ts'

/** @throws ApiError `invalid_input` naming `ids`. */
export function parseNotificationIds(query: { ids: string }): string[] {
  return parseIds(query.ids).map((id) => parseId(id, 'ids'))
}
