// A version takes the status that it has waited for: its date has come, or its files were judged.
import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import type { ProjectRow } from '#features/projects/queries.ts'
import { announceVersion } from '../publish/create-version.ts'
import type { VersionRow } from '../queries.ts'
import { isPublicVersionStatus } from '../status.ts'

export type Showing = {
  lockedProject: ProjectRow
  lockedVersion: VersionRow
  /** What it waited for. */
  status: string
  /** The time from which it counts as published; absent: as before. */
  datePublished?: Date
  /** Whether followers are told when it is listed now. */
  isNews: boolean
  now: number
}

/** Sets the status with all that follows from it: the project's `updated`, followers, caches. */
export async function showVersion(tx: Tx, changed: ChangeSet, showing: Showing): Promise<void> {
  const { lockedProject: project, lockedVersion: version, status, datePublished, isNews } = showing
  const at = new Date(showing.now)
  await tx
    .updateTable('version')
    .set({
      status,
      requested_status: null,
      scheduled_at: null,
      ...(datePublished === undefined ? {} : { date_published: datePublished }),
    })
    .where('id', '=', version.id)
    .execute()
  if (isPublicVersionStatus(status)) {
    await tx.updateTable('project').set({ updated: at }).where('id', '=', project.id).execute()
  }
  if (isNews) {
    await announceVersion(tx, {
      versionId: version.id,
      projectId: project.id,
      status,
      projectStatus: project.status,
      at,
    })
  }
  changed.add('version', version.id)
  changed.add('project', project.id)
}
