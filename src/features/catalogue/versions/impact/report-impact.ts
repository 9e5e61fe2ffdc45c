// Reports about what a withdrawal or a deletion would break. Reports with many dependents are computed by a job.
import type { Selectable } from 'kysely'
import {
  countDirectDependents,
  countPacksWith,
  IMPACT_MAX,
  type ImpactAction,
  listImpact,
} from '#features/catalogue/breakage/impact-queries.ts'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import type { ImpactReport } from '#platform/db/schema.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { ACTIONS, type ImpactBody } from './requests.ts'
import type { ImpactView } from './views.ts'

/** With more direct dependents, a job computes the report. */
const DEPENDENTS_AT_ONCE = 200

type Asked = { action: ImpactAction; projectId: string; versionId: string | null }

/** Returns the report, or the ID of the job that computes it. @throws ApiError 400, naming the field */
export async function reportImpact(
  deps: Deps,
  projectId: string,
  body: ImpactBody,
): Promise<{ report: ImpactView } | { job: string }> {
  const asked = await checkRequest(deps.db, projectId, body)
  if ((await countDirectDependents(deps.db, projectId)) <= DEPENDENTS_AT_ONCE)
    return { report: await computeImpact(deps.db, asked) }
  const job = newId()
  await transaction(deps, async (tx) => {
    const request = JSON.stringify(asked)
    await tx.insertInto('impact_report').values({ id: job, project_id: projectId, request }).execute()
    await enqueue(tx, 'impact.compute', { report_id: job })
  })
  return { job }
}

async function checkRequest(db: Db, projectId: string, body: ImpactBody): Promise<Asked> {
  const given = ACTIONS.filter((name) => body[name] !== undefined)
  const [action] = given
  if (action === undefined || given.length > 1) throw validationError('body', `must have one of ${ACTIONS.join(', ')}`)
  const id = body[action] ?? ''
  if (!isIdForm(id)) throw validationError(action, 'must be an ID')
  if (action === 'remove' && id === projectId) return { action, projectId, versionId: null }
  const version = await db.selectFrom('version').select('project_id').where('id', '=', id).executeTakeFirst()
  if (version?.project_id !== projectId) throw invalidInput('The project has no such version', action)
  return { action, projectId, versionId: id }
}

async function computeImpact(db: Db, asked: Asked): Promise<ImpactView> {
  const rows = await listImpact(db, asked)
  const saved_packs = await countPacksWith(db, asked)
  const shown = rows.slice(0, IMPACT_MAX)
  const list = (isPack: boolean) =>
    shown
      .filter(({ is_pack }) => is_pack === isPack)
      .map(({ project_id, version_id, is_named }) => ({ project_id, version_id, names_version: is_named }))
  return { dependents: list(false), packs: list(true), saved_packs, complete: rows.length <= IMPACT_MAX }
}

/** Computes a report. Does nothing if it was deleted. */
export async function computeReport(db: Db, id: string): Promise<void> {
  const row = await db.selectFrom('impact_report').select('request').where('id', '=', id).executeTakeFirst()
  if (row === undefined) return
  const result = JSON.stringify(await computeImpact(db, row.request as Asked))
  await db.updateTable('impact_report').set({ result }).where('id', '=', id).execute()
}

/** Returns the result of a report; null until it is computed. @throws ApiError 404 for another project or after a day */
export async function getReport(db: Db, projectId: string, id: string): Promise<ImpactView | null> {
  const row: Pick<Selectable<ImpactReport>, 'result'> | undefined = await db
    .selectFrom('impact_report')
    .select('result')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  if (row === undefined) throw notFound('job')
  // Older reports do not count saved packs.
  return row.result === null ? null : { saved_packs: 0, ...(row.result as Omit<ImpactView, 'saved_packs'>) }
}

export async function deleteOldReports(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('impact_report').where('created', '<', before).execute()
}
