// Publishes advisories, and withdraws their versions in the same transaction.
import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordEvent } from '#features/basics/events/record-event.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { recordWithdrawal, withdrawalChange } from '../lifecycle/withdraw-version.ts'
import { type LockedVersion, lockVersions } from '../queries.ts'
import { type AdvisoryRow, findAdvisory, lockAdvisory } from './queries.ts'
import type { AdvisoryPatch } from './requests.ts'
import { listConcernedProjects } from './shown-advisories.ts'

type Publication = { advisory: AdvisoryRow; versions: readonly LockedVersion[]; now: Date; changed: ChangeSet }

export async function publishAdvisory(
  tx: Tx,
  viewer: Viewer,
  { advisory, versions, now, changed }: Publication,
): Promise<void> {
  const { id, project_id, summary } = advisory
  const update = { status: 'published', published: now, modified: now } as const
  await tx.updateTable('advisory').set(update).where('id', '=', id).execute()
  const subject = { kind: 'advisory', id } as const
  await recordAudit(tx, {
    action: 'advisory.published',
    actor: actorOf(viewer),
    subject,
    details: { project: project_id },
  })
  await recordEvent(tx, {
    kind: 'advisory.published',
    subject,
    project_id: project_id ?? undefined,
    data: { advisory_id: id, ...(project_id === null ? {} : { project_id }) },
  })
  changed.addEach('project', await listConcernedProjects(tx, id))
  if (!advisory.withdraws) return
  const withdrawn = { kind: 'security', reason: summary } as const
  const open = versions.filter(({ version }) => version.withdrawn_at === null && isPublicVersionStatus(version.status))
  for (const locked of open) {
    const columns = await withdrawalChange(tx, locked, { patch: { withdrawn }, now: now.getTime() })
    await tx.updateTable('version').set(columns).where('id', '=', locked.version.id).execute()
    await recordWithdrawal(tx, changed, viewer, locked, columns)
    changed.add('version', locked.version.id)
  }
  if (project_id === null || open.length === 0) return
  await touchProject(tx, project_id, now)
}

/** The steps that moderators can take. */
const STEPS: Readonly<Record<AdvisoryPatch['status'], string>> = {
  published: 'review',
  rejected: 'review',
  withdrawn: 'published',
}

/** Publishes, rejects or withdraws an advisory. @throws ApiError 404, 400 if its status does not allow it */
export async function decideAdvisory(
  deps: Deps,
  viewer: Viewer,
  { id, status }: { id: string; status: AdvisoryPatch['status'] },
): Promise<AdvisoryRow> {
  const now = new Date(deps.now())
  return transaction(deps, async (tx, changed) => {
    const advisory = await lockAdvisory(tx, id)
    if (advisory === undefined) throw notFound('advisory')
    if (advisory.status !== STEPS[status])
      throw invalidInput(`The advisory is ${advisory.status}, so it cannot become ${status}`, 'status')
    if (status === 'published') {
      const ids = advisory.versions.map((version) => version.id)
      const versions = advisory.withdraws ? await lockVersions(tx, ids) : []
      await publishAdvisory(tx, viewer, { advisory, versions, now, changed })
    } else {
      const retracted = status === 'withdrawn' ? now : null
      await tx.updateTable('advisory').set({ status, retracted, modified: now }).where('id', '=', id).execute()
      if (status === 'withdrawn') changed.addEach('project', await listConcernedProjects(tx, id))
      const action = status === 'withdrawn' ? 'advisory.withdrawn' : 'advisory.rejected'
      const subject = { kind: 'advisory', id } as const
      await recordAudit(tx, { action, actor: actorOf(viewer), subject, details: { project: advisory.project_id } })
    }
    return (await findAdvisory(tx, id)) ?? advisory
  })
}
