import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudits } from '#features/basics/audit/record-audit.ts'
import { setStatus } from '#features/catalogue/projects/edit/set-status.ts'
import { prolongDecisions } from '#features/catalogue/reviews/decisions.ts'
import { announceCollection } from '#features/community/collections/queries.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { closeReportsOf } from './cleanup-reports.ts'
import { needsProof, requireCleaner, type SkipReason, skipReason } from './policy.ts'
import { listTargets, lockTargets, type Target } from './queries.ts'
import { CLEANUP_UNDO_MS, type Cleanup, PROJECTS_MAX, removesContent, suspends } from './requests.ts'

export type CleanupDeps = Deps & { confirmOwner: ConfirmOwner }
export type Skipped = { id: string; username: string | null; reason: SkipReason }
/** The accounts of a cleanup with their content before it, and the accounts that it leaves out. */
export type CleanupPlan = { targets: Target[]; skipped: Skipped[] }

/** Returns what a cleanup would do. @throws ApiError 403 unless the viewer can choose the action */
export async function planCleanup({ db }: Pick<Deps, 'db'>, viewer: Viewer, cleanup: Cleanup): Promise<CleanupPlan> {
  requireCleaner(viewer, cleanup.action)
  return planOf(viewer, cleanup, await listTargets(db, cleanup.userIds), true)
}

/** Returns whether the viewer can mark an account as spam, for a published account with their password. */
export async function canMarkAsSpam({ db }: Pick<Deps, 'db'>, viewer: Viewer, accountId: string): Promise<boolean> {
  const [target] = await listTargets(db, [accountId])
  return skipReason(viewer, target, { isProven: true }) === undefined
}

/** Returns whether a cleanup needs the password of the operator. */
export const planNeedsProof = ({ action }: Cleanup, { targets }: CleanupPlan): boolean => needsProof(action, targets)

/**
 * Suspends accounts and removes their content, all in one transaction, so that nothing is half done. Everything can be undone
 * for an hour: until then, collections, organizations and images of profiles are hidden, and tokens pause. A job then deletes
 * them. Accounts that the viewer may not clean up, or that another cleanup contains, are left out.
 * @throws ApiError 403 for the action of an operator, `conflict` if no account is left, `invalid_input` for more than 500
 * projects, the errors of `ConfirmOwner`.
 */
export async function cleanUp(
  deps: CleanupDeps,
  viewer: Viewer,
  { proof, ...cleanup }: Cleanup & { proof: OwnerProof },
): Promise<CleanupPlan & { id: string }> {
  const plan = await planCleanup(deps, viewer, cleanup)
  const isProven = planNeedsProof(cleanup, plan)
  if (isProven) await deps.confirmOwner(viewer, proof)
  const id = newId()
  return transaction(deps, async (tx, changed) => {
    await lockTargets(tx, cleanup.userIds)
    const locked = planOf(viewer, cleanup, await listTargets(tx, cleanup.userIds), isProven)
    if (locked.targets.length === 0) throw new ApiError('conflict', 'None of these accounts can be cleaned up')
    const run = { tx, changed, viewer, cleanup, id, now: deps.now(), targets: locked.targets }
    await store(run)
    if (removesContent(cleanup.action)) await removeContent(run)
    if (suspends(cleanup.action)) await suspend(run)
    await closeReportsOf(
      run,
      locked.targets.map(({ content }) => content),
    )
    await record(run)
    return { ...locked, id }
  })
}

function planOf(
  viewer: Viewer,
  { userIds, action }: Cleanup,
  found: readonly Target[],
  isProven: boolean,
): CleanupPlan {
  const skipped: Skipped[] = []
  const targets = found.filter((target) => {
    const reason = skipReason(viewer, target, { isProven })
    if (reason !== undefined) skipped.push({ id: target.id, username: target.username, reason })
    return reason === undefined
  })
  const known = new Set(found.map(({ id }) => id))
  for (const id of userIds) if (!known.has(id)) skipped.push({ id, username: null, reason: 'missing' })
  const projects = targets.reduce((sum, { content }) => sum + content.projects.length, 0)
  if (projects > PROJECTS_MAX)
    throw invalidInput(
      `These accounts have ${projects} projects (limit: ${PROJECTS_MAX}); choose fewer accounts`,
      'users',
    )
  // A suspension leaves the projects as they are, so reports about them still need a decision.
  if (!removesContent(action)) for (const { content } of targets) content.reports = []
  return { targets, skipped }
}

type Run = {
  tx: Tx
  changed: ChangeSet
  viewer: Viewer
  cleanup: Cleanup
  id: string
  now: number
  targets: readonly Target[]
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

async function store({ tx, viewer, cleanup, id, now, targets }: Run): Promise<void> {
  const { action } = cleanup
  await tx
    .insertInto('account_cleanup')
    .values({ id, action, created: new Date(now), actor_id: viewer.id })
    .execute()
  await tx
    .insertInto('cleaned_account')
    .values(
      targets.map(
        ({ bio, avatar_url, raw_avatar_url, suspended_at, suspended_until, suspension_reason, ...target }) => ({
          account_id: target.id,
          cleanup_id: id,
          ...{ bio, avatar_url, raw_avatar_url, suspended_at, suspended_until, suspension_reason },
          content: JSON.stringify(target.content),
        }),
      ),
    )
    .execute()
}

async function removeContent({ tx, changed, viewer, cleanup, now, targets }: Run): Promise<void> {
  const contents = targets.map(({ content }) => content)
  const projects = contents.flatMap((content) => content.projects)
  const message = cleanup.message
  for (const { id } of projects) await setStatus(tx, changed, { viewer, id, to: 'rejected', message, now })
  await prolongDecisions(tx, idsOf(projects), new Date(now + CLEANUP_UNDO_MS))
  const collections = idsOf(contents.flatMap((content) => content.collections))
  if (collections.length > 0)
    await tx.updateTable('collection').set({ status: 'rejected' }).where('id', 'in', collections).execute()
  const organizations = idsOf(contents.flatMap((content) => content.organizations))
  if (organizations.length > 0)
    await tx.updateTable('organization').set({ hidden: true }).where('id', 'in', organizations).execute()
  changed.add('organization', ...organizations)
  await tx
    .updateTable('account')
    .set({ bio: null, avatar_url: null, raw_avatar_url: null })
    .where('id', 'in', idsOf(targets))
    .execute()
  for (const { id } of targets) announceCollection(changed, { account_id: id })
}

async function suspend({ tx, changed, cleanup, now, targets }: Run): Promise<void> {
  await tx
    .updateTable('account')
    .set({ suspended_at: new Date(now), suspended_until: null, suspension_reason: cleanup.message })
    .where('id', 'in', idsOf(targets))
    .execute()
  for (const { id } of targets) {
    await endAccess(tx, changed, 'suspended', { accountId: id, now })
    changed.add('user', id)
    changed.add('viewer', id)
  }
}

async function record({ tx, viewer, cleanup, id, targets }: Run): Promise<void> {
  const { action, message: reason } = cleanup
  const actor = actorOf(viewer)
  await recordAudits(
    tx,
    targets.flatMap(({ id: accountId, content }) => {
      const subject = { kind: 'user', id: accountId } as const
      const projects = content.projects.length
      const done = { action: 'account.cleaned_up', actor, subject, details: { action, cleanup: id, projects } } as const
      const suspended = { action: 'account.suspended', actor, subject, details: { reason, until: null } } as const
      return suspends(action) ? [done, suspended] : [done]
    }),
  )
}
