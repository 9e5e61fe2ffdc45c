import { sql } from 'kysely'
import { type Actor, SYSTEM } from '#features/basics/audit/actor.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { announceCollection } from '#features/community/collections/queries.ts'
import { eraseOrganization } from '#features/community/organizations/delete-organization.ts'
import { deleteAccountOf } from '#features/community/personal-data/delete-account.ts'
import { hideAccount } from '#features/community/personal-data/hide-account.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { findAccount } from '#features/people/users/queries.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { type CleanedRow, listCleaned, lockTargets } from './queries.ts'
import { CLEANUP_UNDO_MS, type CleanupAction, removesContent, suspends } from './requests.ts'

/** Returns the cleanups that can no longer be undone, longest ago first. */
export async function listFinalCleanups(db: Db, nowMs: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('account_cleanup')
    .select('id')
    .where('created', '<=', new Date(nowMs - CLEANUP_UNDO_MS))
    .orderBy('created')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Makes a cleanup final: deletes what it has hidden, ends what acts for the accounts, and sends the emails about the
 * suspensions. The last step deletes the cleanup, so that an interrupted run can be repeated.
 */
export async function finishCleanup(deps: Deps, id: string): Promise<void> {
  const cleanup = await transaction(deps, async (tx, changed) => {
    const row = await tx.selectFrom('account_cleanup').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
    if (row === undefined) return undefined
    const accounts = await listCleaned(tx, id)
    await lockTargets(
      tx,
      accounts.map(({ account_id }) => account_id),
    )
    const action = row.action as CleanupAction
    const actor: Actor = row.actor_id === null ? SYSTEM : { kind: 'account', id: row.actor_id, address: null }
    const run = { tx, changed, accounts, actor, now: deps.now() }
    if (removesContent(action)) await deleteContent(run)
    if (suspends(action)) await endSuspended(run, action, row.created)
    if (action !== 'delete') await tx.deleteFrom('account_cleanup').where('id', '=', id).execute()
    return { action, actor, accounts }
  })
  if (cleanup?.action !== 'delete') return
  for (const { account_id } of cleanup.accounts) await deleteCleaned(deps, account_id, cleanup.actor)
  await deps.db.deleteFrom('account_cleanup').where('id', '=', id).execute()
}

/** Deletes hidden organizations that no cleanup can restore, because the account was deleted within the hour. */
export async function eraseLeftOrganizations(deps: Pick<Deps, 'db' | 'cache' | 'now'>): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { rows } = await sql<{ id: string }>`select id from organization where hidden and not exists (
        select from cleaned_account, jsonb_array_elements(content -> 'organizations') as former
        where former ->> 'id' = organization.id) order by id`.execute(tx)
    const ids = rows.map(({ id }) => id)
    await sql`select from project where organization_id = any(${ids}::text[]) order by id for update`.execute(tx)
    await eraseHidden({ tx, changed, actor: SYSTEM, now: deps.now() }, ids)
  })
}

async function eraseHidden({ tx, changed, actor, now }: Omit<Run, 'accounts'>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const organizations = await tx
    .selectFrom('organization')
    .selectAll()
    .where('id', 'in', [...ids])
    .where('hidden', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute()
  for (const organization of organizations) await eraseOrganization(tx, changed, organization, { actor, now })
}

type Run = { tx: Tx; changed: ChangeSet; accounts: readonly CleanedRow[]; actor: Actor; now: number }

async function deleteContent({ tx, changed, accounts, actor, now }: Run): Promise<void> {
  const collections = accounts.flatMap(({ content }) => content.collections.map(({ id }) => id))
  const { rows } = await sql<{ icon_url: string | null; raw_icon_url: string | null }>`delete from collection
    where id = any(${collections}::text[]) and status = 'rejected' returning icon_url, raw_icon_url`.execute(tx)
  const organizations = accounts.flatMap(({ content }) => content.organizations.map(({ id }) => id))
  await eraseHidden({ tx, changed, actor, now }, organizations)
  const ids = accounts.map(({ account_id }) => account_id)
  await tx.deleteFrom('pack').where('account_id', 'in', ids).execute()
  await removeImages(tx, [
    ...rows.flatMap(({ icon_url, raw_icon_url }) => [icon_url, raw_icon_url]),
    ...accounts.flatMap(({ avatar_url, raw_avatar_url }) => [avatar_url, raw_avatar_url]),
  ])
  await tx
    .updateTable('cleaned_account')
    .set({ avatar_url: null, raw_avatar_url: null })
    .where('account_id', 'in', ids)
    .execute()
  for (const account_id of ids) announceCollection(changed, { account_id })
}

/** Accounts whose suspension somebody has changed since are left alone. */
async function endSuspended({ tx, changed, accounts, now }: Run, action: CleanupAction, since: Date): Promise<void> {
  const { rows } = await sql<{ id: string; email_verified: boolean }>`select id, email_verified from account
    where id = any(${accounts.map(({ account_id }) => account_id)}::text[]) and suspended_at = ${since}`.execute(tx)
  for (const { id: accountId, email_verified } of rows) {
    if (removesContent(action)) await endAccess(tx, changed, 'cleaned_up', { accountId, now })
    // Emails to the invented addresses of spammers harm the reputation of the mail server.
    if (email_verified && action !== 'delete')
      await enqueue(tx, 'accounts.send-mail', { kind: 'suspended', account_id: accountId })
  }
}

async function deleteCleaned(deps: Deps, accountId: string, actor: Actor): Promise<void> {
  const account = await findAccount(deps.db, accountId)
  if (account === undefined || account.deletion_due !== null) return
  if (deps.config.accounts.deletionDays > 0) await hideAccount(deps, account, { actor, byOwner: false })
  else await deleteAccountOf(deps, account, actor)
}
