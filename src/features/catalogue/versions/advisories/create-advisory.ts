// Creates an advisory. Those of members wait for a moderator.
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { lockProject } from '#features/catalogue/projects/queries.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { type LockedVersion, lockVersions } from '../queries.ts'
import { firstStatus, requireAdvisoryAuthor } from './policy.ts'
import { publishAdvisory } from './publish-advisory.ts'
import {
  type AdvisoryRow,
  countAdvisoriesInReview,
  findAdvisory,
  insertAdvisoryHashes,
  insertAdvisoryVersions,
  nextAdvisoryId,
} from './queries.ts'
import { checkAdvisory, type NewAdvisory, readHash } from './requests.ts'

/** Maximum number of advisories of a project that wait for a moderator. */
const IN_REVIEW_MAX = 10

/** @throws ApiError 400 naming the field, 403, `limit_reached`, 404 for a hidden project; nothing is saved */
export async function createAdvisory(deps: Deps, viewer: Viewer, body: NewAdvisory): Promise<AdvisoryRow> {
  checkAdvisory(body)
  const hashes = [...new Set((body.hashes ?? []).map(readHash))]
  const versionIds = [...new Set(body.versions ?? [])]
  const owner = body.project === undefined ? undefined : await getProjectAsMember(deps, viewer, body.project)
  requireAdvisoryAuthor(viewer, owner?.membership)
  const status = firstStatus(viewer)
  const now = new Date(deps.now())
  return transaction(deps, async (tx, changed) => {
    const projectId = owner?.project.id ?? null
    if (projectId !== null && status === 'review') await requireRoomForReview(tx, projectId)
    const versions = projectId === null ? [] : await lockAffected(tx, projectId, { versionIds, body })
    const id = await nextAdvisoryId(tx, now.getUTCFullYear())
    await tx
      .insertInto('advisory')
      .values({
        id,
        project_id: projectId,
        author_id: viewer.id,
        summary: body.summary.trim(),
        details: body.details,
        aliases: [...new Set(body.aliases ?? [])],
        severity: JSON.stringify(body.severity ?? []),
        reference_list: JSON.stringify(body.references ?? []),
        withdraws: body.withdraw ?? false,
        created: now,
        modified: now,
      })
      .execute()
    if (projectId !== null) await insertAdvisoryVersions(tx, { id, versionIds })
    await insertAdvisoryHashes(tx, id, hashes)
    const details = { project: projectId, summary: body.summary.trim() }
    const subject = { kind: 'advisory', id } as const
    await recordAudit(tx, { action: 'advisory.created', actor: actorOf(viewer), subject, details })
    const row = await findAdvisory(tx, id)
    if (row === undefined) throw notFound('advisory')
    if (status === 'review') return row
    await publishAdvisory(tx, viewer, { advisory: row, versions, now, changed })
    return (await findAdvisory(tx, id)) ?? row
  })
}

/** Locks the project, so that concurrent requests count each other. @throws ApiError `limit_reached`. */
async function requireRoomForReview(tx: Tx, projectId: string): Promise<void> {
  await lockProject(tx, projectId)
  const current = await countAdvisoriesInReview(tx, projectId)
  if (current < IN_REVIEW_MAX) return
  const message = `The project can have at most ${IN_REVIEW_MAX} advisories in review. Wait until a moderator has decided one.`
  throw new ApiError('limit_reached', message, { details: { kind: 'advisories', current, max: IN_REVIEW_MAX } })
}

/** Locks the versions, so that their files are those of the advisory. */
async function lockAffected(
  tx: Tx,
  projectId: string,
  { versionIds, body }: { versionIds: readonly string[]; body: NewAdvisory },
): Promise<LockedVersion[]> {
  if (versionIds.length === 0) return []
  const ids = versionIds.filter(isIdForm)
  const rows = ids.length === 0 ? [] : await lockVersions(tx, ids)
  const found = new Map(rows.map((locked) => [locked.version.id, locked]))
  return versionIds.map((id, index) => {
    const locked = found.get(id)
    if (locked?.project.id !== projectId || !isPublicVersionStatus(locked.version.status))
      throw validationError(`versions.${index}`, 'must be a published version of the project')
    if (body.withdraw === true) requireNotMirrored(locked.version, { withdraw: true })
    return locked
  })
}
