import { type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudits } from '#features/basics/audit/record-audit.ts'
import { setStatus } from '#features/catalogue/projects/edit/set-status.ts'
import { findDecision } from '#features/catalogue/reviews/decisions.ts'
import { announceCollection } from '#features/community/collections/queries.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { ProjectStatus } from '#taxonomy/project-status.ts'
import { reopenReportsOf } from './cleanup-reports.ts'
import { requireCleanupUndoer } from './policy.ts'
import { type CleanedRow, type Content, listCleaned, lockTargets } from './queries.ts'
import { type CleanupAction, suspends } from './requests.ts'

/** A project that keeps its status, with the reason. */
export type KeptProject = { id: string; name: string; reason: string }

/**
 * Undoes a cleanup as a whole: lifts the suspensions and restores the content. Parts that somebody has changed since stay as
 * they are. Sessions are not restored. Returns the projects that could not be restored.
 * @throws ApiError 404 if the cleanup is unknown, undone or final, 403 for the action of an operator, `conflict` after an hour.
 */
export async function undoCleanup(deps: Pick<Deps, 'db' | 'cache' | 'now'>, viewer: Viewer, id: string) {
  return transaction(deps, async (tx, changed) => {
    const now = deps.now()
    const row = await tx.selectFrom('account_cleanup').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
    if (row === undefined) throw notFound('cleanup')
    requireCleanupUndoer(viewer, row, now)
    const accounts = await listCleaned(tx, id)
    const ids = accounts.map(({ account_id }) => account_id)
    await lockTargets(tx, ids)
    const isSuspending = suspends(row.action as CleanupAction)
    if (isSuspending) await liftSuspensions(tx, id)
    await restoreProfiles(tx, id)
    await restoreGroups(tx, changed, accounts)
    const projects = accounts.flatMap(({ content }) => content.projects)
    const kept = await restoreProjects(tx, changed, { viewer, projects, now })
    const contents = accounts.map(({ content }) => content)
    await reopenReportsOf({ tx, changed, viewer }, contents, row.created)
    await tx.deleteFrom('account_cleanup').where('id', '=', id).execute()
    for (const accountId of ids) {
      announceCollection(changed, { account_id: accountId })
      changed.add('viewer', accountId)
    }
    const actor = actorOf(viewer)
    await recordAudits(
      tx,
      ids.flatMap((accountId) => {
        const subject = { kind: 'user', id: accountId } as const
        const undone = { action: 'account.cleanup_undone', actor, subject, details: { cleanup: id } } as const
        return isSuspending ? [undone, { action: 'account.unsuspended', actor, subject } as const] : [undone]
      }),
    )
    return { users: accounts.map(({ account_id, username }) => ({ id: account_id, username })), kept }
  })
}

/** The rows of `account` with their values before the cleanup. */
const former = (id: string) => sql<SqlBool>`former.account_id = account.id and former.cleanup_id = ${id}`

/** A suspension that somebody has changed since has another time. */
async function liftSuspensions(tx: Tx, id: string): Promise<void> {
  await sql`update account set suspended_at = former.suspended_at, suspended_until = former.suspended_until,
      suspension_reason = former.suspension_reason
    from cleaned_account former join account_cleanup cleanup on cleanup.id = former.cleanup_id
    where ${former(id)} and account.suspended_at = cleanup.created`.execute(tx)
}

async function restoreProfiles(tx: Tx, id: string): Promise<void> {
  await sql`update account set bio = coalesce(account.bio, former.bio),
      avatar_url = coalesce(account.avatar_url, former.avatar_url),
      raw_avatar_url = case when account.avatar_url is null then former.raw_avatar_url else account.raw_avatar_url end
    from cleaned_account former where ${former(id)}`.execute(tx)
}

async function restoreGroups(tx: Tx, changed: ChangeSet, accounts: readonly CleanedRow[]): Promise<void> {
  const collections = accounts.flatMap(({ content }) => content.collections)
  await sql`update collection set status = former.status
    from jsonb_to_recordset(${JSON.stringify(collections)}::jsonb) as former (id text, status text)
    where collection.id = former.id and collection.status = 'rejected'`.execute(tx)
  const organizations = accounts.flatMap(({ content }) => content.organizations.map((organization) => organization.id))
  await sql`update organization set hidden = false where id = any(${organizations}::text[])`.execute(tx)
  changed.add('organization', ...organizations)
}

/** Restores each project in a savepoint, because one that cannot be restored must not prevent the others. */
async function restoreProjects(
  tx: Tx,
  changed: ChangeSet,
  { viewer, projects, now }: { viewer: Viewer; projects: Content['projects']; now: number },
): Promise<KeptProject[]> {
  const kept: KeptProject[] = []
  for (const { id, name, status } of projects) {
    const decision = await findDecision(tx, id)
    if (decision?.to_status !== 'rejected' || decision.from_status !== status) {
      kept.push({ id, name, reason: 'Somebody has decided about the project since' })
      continue
    }
    await sql`savepoint project`.execute(tx)
    try {
      await setStatus(tx, changed, { viewer, id, to: status as ProjectStatus, now })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await sql`rollback to savepoint project`.execute(tx)
      kept.push({ id, name, reason: error.message })
    }
  }
  return kept
}
