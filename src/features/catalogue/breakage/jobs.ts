// Finds the dependencies that a withdrawal, a deletion or a hidden project has broken, and notifies members.

import { projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { job } from '#platform/jobs/job.ts'
import { enqueue, type Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteOldBreaks, insertBreaks, listDependentIds, notifyMembers } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'dependencies.find-broken': {
      reason: 'withdrawn' | 'hidden' | 'removed'
      project_id: string
      /** Null: every version of the project. */
      version_id: string | null
      /** The loaders of the version, which might be deleted before the job runs. */
      loaders: string[]
      game_versions: string[] | null
      at: number
    }
    'dependencies.notify': NoPayload
  }
}

/** Number of dependents or projects per statement. */
const BATCH = 1000
const STORED_DAYS = 365

export const breakageJobs = (deps: Pick<Deps, 'db' | 'cache' | 'now'>) => ({
  // Idempotent: the database stores one row per dependent project and cause. Notifies only members of direct dependents:
  // whole chains would flood users.
  'dependencies.find-broken': async (lost: Jobs['dependencies.find-broken'], signal: AbortSignal): Promise<void> => {
    const { reason, project_id, version_id, at } = lost
    const cause = `${reason}:${version_id ?? project_id}:${at}`
    for (let after: string | undefined = ''; after !== undefined; ) {
      signal.throwIfAborted()
      const ids = await listDependentIds(deps.db, project_id, { after, limit: BATCH })
      await transaction(deps, async (tx) => {
        const broken = await insertBreaks(tx, ids, { cause, lost })
        const dependency = { project_id, version_id }
        const events = broken.map((row) =>
          projectEvent('dependency.broken', row.project_id, { version_id: row.version_id, dependency, reason }),
        )
        await recordEvents(tx, events)
        if (broken.length > 0) await enqueue(tx, 'dependencies.notify', {}, { jobKey: 'dependencies.notify' })
      })
      after = ids.length < BATCH ? undefined : ids.at(-1)
    }
  },
  // A project with a notification in the last 24 hours waits for a later run.
  'dependencies.notify': job({ hourly: 11 }, async (_, signal) => {
    for (let found = BATCH; found === BATCH; ) {
      signal.throwIfAborted()
      found = await transaction(deps, (tx, changed) =>
        notifyMembers(tx, changed, { now: new Date(deps.now()), limit: BATCH }),
      )
    }
    await deleteOldBreaks(deps.db, new Date(deps.now() - STORED_DAYS * DAY_MS))
  }),
})
