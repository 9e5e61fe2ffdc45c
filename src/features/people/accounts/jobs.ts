// Background work of accounts: the messages they get, and what is past its time.

import { sql } from 'kysely'
import { isSuspended } from '#features/basics/access/accounts.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Db } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import * as messages from '#ports/mail/messages.ts'
import { getDeletion } from './deletion/queries.ts'
import { insertFlow } from './mail/flows.ts'
import { findAccount } from './queries.ts'

type MailJob = Jobs['accounts.send-mail']
type MailDeps = Pick<Deps, 'db' | 'cache' | 'mail' | 'config' | 'now'>

/** Rows deleted by one statement. */
const EXPIRE_BATCH = 5_000

export const accountJobs = (deps: MailDeps) => ({
  /**
   * Sends one message. The secret of its link is made here, so that none lies in the queue. Running twice sends the
   * message twice, each with a link of its own that works: a second copy harms nobody, a lost one would.
   */
  'accounts.send-mail': async (job: MailJob): Promise<void> => {
    if (job.account_id === null) return
    const account = await findAccount(deps.db, job.account_id)
    const to = job.kind === 'email-changed' ? job.former_email : account?.email
    if (account === undefined || to === null || to === undefined) return
    const content = await compose(deps, account, job)
    if (content !== undefined) await deps.mail.send({ to, ...content })
  },

  /** Deletes flows, sessions and invitations that no request can use any more; a second run finds nothing. */
  'accounts.expire': async (_payload: Jobs['accounts.expire'], signal: AbortSignal): Promise<void> => {
    const at = new Date(deps.now())
    await deletePast(deps.db, { table: 'account_flow', column: 'expires', at }, signal)
    await deletePast(deps.db, { table: 'session', column: 'refresh_expires', at }, signal)
    // They may say whom an address belongs to.
    await deletePast(deps.db, { table: 'invitation', column: 'expires', at }, signal)
  },
})

/** Undefined where the reason for the message has gone meanwhile. */
async function compose(deps: MailDeps, account: AccountRow, job: MailJob): Promise<messages.MailContent | undefined> {
  const { db, config, now } = deps
  const { name: siteName } = await getSettings(deps)
  const context = { siteName, baseUrl: config.http.baseUrl, username: account.username }
  // The address is part of the flow: a link that went to a former one opens nothing.
  const flowOf = (kind: 'verify_email' | 'reset_password') =>
    insertFlow(db, { kind, accountId: account.id, data: { email: account.email }, now: now() })
  switch (job.kind) {
    case 'verify-email':
      if (account.email_verified) return undefined
      return messages.verifyEmailMail({ ...context, flow: await flowOf('verify_email') })
    case 'reset-password':
      return messages.resetPasswordMail({ ...context, flow: await flowOf('reset_password') })
    case 'email-changed':
      return messages.emailChangedMail({
        ...context,
        newEmail: account.email ?? '',
        flow: await insertFlow(db, {
          kind: 'undo_email_change',
          accountId: account.id,
          data: {
            email: job.former_email,
            had_two_factor: job.had_two_factor ?? true,
            changed_at: job.changed_at ?? now(),
          },
          now: now(),
        }),
      })
    case 'password-changed':
      return messages.passwordChangedMail(context)
    case 'two-factor-enabled':
      return messages.twoFactorEnabledMail(context)
    case 'two-factor-removed':
      return messages.twoFactorRemovedMail(context)
    case 'suspended':
      if (!isSuspended(account, now())) return undefined
      return messages.suspendedMail({
        ...context,
        reason: account.suspension_reason ?? '',
        until: account.suspended_until,
      })
    case 'unsuspended':
      return isSuspended(account, now()) ? undefined : messages.unsuspendedMail(context)
    case 'deletion-pending': {
      if (account.deletion_due === null) return undefined
      const { by_owner: byOwner } = await getDeletion(db, account.id)
      return messages.deletionPendingMail({ ...context, due: account.deletion_due, byOwner })
    }
    case 'deletion-undone':
      return account.deletion_due === null ? messages.deletionUndoneMail(context) : undefined
    case 'token-created': {
      const tokenName = await findTokenName(db, job.token_id)
      return tokenName === undefined ? undefined : messages.tokenCreatedMail({ ...context, tokenName })
    }
  }
}

async function findTokenName(db: Db, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('personal_access_token').select('name').where('id', '=', id).executeTakeFirst()
  return row?.name
}

/** In steps, so that no statement runs long and no lock is held long. */
async function deletePast(
  db: Db,
  past: { table: string; column: string; at: Date },
  signal: AbortSignal,
): Promise<void> {
  const table = sql.table(past.table)
  let deleted = EXPIRE_BATCH
  while (deleted === EXPIRE_BATCH) {
    signal.throwIfAborted()
    const result = await sql`delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${sql.ref(past.column)} <= ${past.at} limit ${EXPIRE_BATCH}))`.execute(db)
    deleted = Number(result.numAffectedRows ?? 0)
  }
}
