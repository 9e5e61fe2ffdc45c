// Pictures in reports.
import type { Db } from '#db/db.ts'
import type { ImageOwner } from '#features/content-images/image-place.ts'
import { requireOpenReport } from '#features/threads/policy.ts'
import { parseId } from '#lib/ids.ts'
import { getVisibleReport } from './queries.ts'

/** The reporter puts pictures into a report while it is open, moderators at any time. */
export function reportImages({ db }: { db: Db }): ImageOwner {
  return {
    scope: 'REPORT_WRITE',
    resolve: async (viewer, name) => {
      const id = parseId(name, 'report_id')
      requireOpenReport(viewer, await getVisibleReport(db, viewer, id))
      return id
    },
  }
}
