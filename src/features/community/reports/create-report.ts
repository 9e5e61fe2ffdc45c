// Creates a report about a project, a version or a user, and the thread for its discussion.

import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { attachImages } from '#features/basics/content-images/queries.ts'
import { recordEvents } from '#features/basics/events/record-event.ts'
import { insertReportSnapshot } from '#features/catalogue/reviews/report-snapshots.ts'
import { versionVisibleTo } from '#features/catalogue/versions/policy.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { listAccountsByNames } from '#features/people/users/queries.ts'
import { ApiError, accountDeleted, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { countRows, type Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { hasReportLimit } from './policy.ts'
import type { ItemType, NewReport } from './requests.ts'

/** Maximum number of open reports per account; it does not apply to moderators. */
const OPEN_MAX = 256

/**
 * Creates a report, notifies the reporter, and returns its ID.
 * @throws ApiError `validation_error` naming the field for a hidden item or invalid images, `limit_reached`.
 */
export async function createReport(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'log' | 'metrics'>,
  viewer: Viewer,
  report: NewReport,
): Promise<string> {
  const { item, body } = report
  const id = newId()
  await transaction(deps, async (tx, changed) => {
    await requireRoom(tx, viewer)
    if (!(await canSeeItem(tx, viewer, item))) throw unknownItem(item.type)
    await tx
      .insertInto('report')
      .values({
        id,
        report_type: report.reportType,
        item_type: item.type,
        item_id: item.id,
        project_id: item.type === 'project' ? item.id : null,
        version_id: item.type === 'version' ? item.id : null,
        account_id: item.type === 'user' ? item.id : null,
        reporter_id: viewer.id,
        body,
        created: new Date(deps.now()),
      })
      .execute()
      .catch((error: unknown) => {
        if (isForeignKeyViolation(error, 'report_reporter_id_fkey')) throw accountDeleted()
        // The item was deleted in the meantime.
        throw isForeignKeyViolation(error) ? unknownItem(item.type) : error
      })
    await tx.insertInto('thread').values({ id: newId(), type: 'report', report_id: id }).execute()
    await insertReportSnapshot(tx, id)
    const target = { context: 'report', id } as const
    await attachImages(tx, viewer, { ids: report.imageIds, target, field: 'uploaded_images' })
    await insertNotifications(tx, changed, [viewer.id], { type: 'report_submitted', report_id: id })
    const data = { report_id: id, report_type: report.reportType, item_type: item.type, item_id: item.id }
    await recordEvents(tx, [{ kind: 'report.created', subject: { kind: 'report', id }, data }])
  })
  recordEvent(deps, 'report.created', { report_id: id })
  return id
}

/** Locks the account until the transaction ends, so that concurrent reports cannot exceed the limit. */
async function requireRoom(tx: Tx, viewer: Viewer): Promise<void> {
  if (!hasReportLimit(viewer)) return
  await tx.selectFrom('account').select('id').where('id', '=', viewer.id).forNoKeyUpdate().execute()
  const count = await countRows(
    tx.selectFrom('report').where('reporter_id', '=', viewer.id).where('closed', '=', false),
  )
  if (count >= OPEN_MAX)
    throw new ApiError('limit_reached', `You have reached your limit for open reports (${OPEN_MAX})`)
}

/** Returns whether the viewer can see the item. Everyone can see users. */
async function canSeeItem(tx: Tx, viewer: Viewer, { type, id }: NewReport['item']): Promise<boolean> {
  if (type === 'user') return (await listAccountsByNames(tx, [id])).some((account) => account.id === id)
  const projects = tx.selectFrom('project').select('project.id')
  const row =
    type === 'project'
      ? await projects.where('project.id', '=', id).where(visibleTo(viewer)).executeTakeFirst()
      : await projects
          .innerJoin('version', 'version.project_id', 'project.id')
          .where('version.id', '=', id)
          .where(versionVisibleTo(viewer))
          .executeTakeFirst()
  return row !== undefined
}

function unknownItem(type: ItemType) {
  return validationError('item_id', `must be the ID of a ${type} that you can see`)
}
