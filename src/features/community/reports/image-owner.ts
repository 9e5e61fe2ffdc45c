// Lets users upload images for reports.

import type { ImageOwner } from '#features/basics/content-images/image-target.ts'
import { requireOpenReport } from '#features/catalogue/threads/policy.ts'
import { parseId } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { getVisibleReport } from './queries.ts'

/** Allows the reporter while the report is open, and moderators. */
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
