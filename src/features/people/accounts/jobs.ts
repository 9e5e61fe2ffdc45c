// The jobs that send emails to users and delete expired rows.

import { sql } from 'kysely'
import { isSuspended } from '#features/basics/access/accounts.ts'
import { type DeliveryDeps, deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { findAccount } from '#features/people/users/queries.ts'
import type { TokenKind } from '#lib/access/tokens.ts'
import type { Db } from '#platform/db/db.ts'
import { job } from '#platform/jobs/job.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import * as messages from '#ports/mail/messages.ts'
import { getDeletion } from './deletion/queries.ts'
import { type FlowKind, insertFlow } from './mail/flows.ts'
import { findAccountBySignInName } from './queries.ts'
import { ORIGIN_MS } from './sessions/origins.ts'
import { makeEmailKey } from './sign-up/email-key.ts'
import { countBackupCodes } from './two-factor/codes.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'accounts.expire': NoPayload
    'accounts.send-mail':
      | { kind: 'verify-email' | 'password-changed' | 'two-factor-enabled' | 'two-factor-removed'; account_id: string }
      | { kind: 'approved' | 'suspended' | 'unsuspended' | 'deletion-pending' | 'deletion-undone'; account_id: string }
      | { kind: 'reset-password'; account_id: string | null }
      | {
          kind: 'email-changed'
          account_id: string
          former_email: string
          /** Whether two-factor sign-in was enabled before the change, to undo the change. */
          had_two_factor?: boolean
          changed_at?: number
        }
      | {
          kind: 'passkey-added' | 'passkey-removed' | 'provider-linked' | 'provider-unlinked'
          account_id: string
          name: string
        }
      | { kind: 'backup-code-used'; account_id: string }
      | { kind: 'token-created'; account_id: string; token_id: string }
      | { kind: 'token-leaked'; account_id: string; token_kind: TokenKind; url: string | null }
    /** `email`: the address, also without an account. */
    'accounts.send-sign-up-mail': { email: string }
  }
}

type MailJob = Jobs['accounts.send-mail']
type MailDeps = DeliveryDeps & Pick<Deps, 'cache' | 'config'>

/** Maximum number of rows that a statement deletes, so that it holds its locks only briefly. */
const EXPIRE_BATCH = 5_000

export const accountJobs = (deps: MailDeps) => ({
  /**
   * Sends an email. Creates the secret of its link here, so that the queue contains no secrets. If the job runs twice, it
   * sends two emails with different valid links, which is better than no email.
   */
  'accounts.send-mail': async (job: MailJob): Promise<void> => {
    if (job.account_id === null) return
    const account = await findAccount(deps.db, job.account_id)
    const to = job.kind === 'email-changed' ? job.former_email : account?.email
    if (account === undefined || to === null || to === undefined) return
    const content = await compose(deps, account, job)
    if (content === undefined) return
    await deliverMail(deps, { kind: job.kind, accountId: account.id, message: { to, ...content } })
  },

  /** Tells the reader of an email address how to continue a sign-up, or that they have an account. */
  'accounts.send-sign-up-mail': async ({ email }: Jobs['accounts.send-sign-up-mail']): Promise<void> => {
    const account = await findAccountBySignInName(deps.db, email)
    const context = await contextOf(deps, account?.username ?? '')
    const content =
      account === undefined
        ? messages.continueSignUpMail({ ...context, email, key: await makeEmailKey(deps.db, email, deps.now()) })
        : messages.hasAccountMail(context)
    await deliverMail(deps, {
      kind: 'sign-up',
      accountId: account?.id ?? null,
      message: { to: account?.email ?? email, ...content },
    })
  },

  // Idempotent: a second run finds nothing.
  'accounts.expire': job({ hourly: 17 }, async (_payload, signal) => {
    const at = new Date(deps.now())
    await deleteExpired(deps.db, { table: 'account_flow', column: 'expires', at }, signal)
    await deleteExpired(deps.db, { table: 'session', column: 'refresh_expires', at }, signal)
    await deleteExpired(deps.db, { table: 'reserved_username', column: 'expires', at }, signal)
    await deleteExpired(deps.db, { table: 'stored_form', column: 'expires', at }, signal)
    // Expired invitations are deleted because they can contain personal data.
    await deleteExpired(deps.db, { table: 'invitation', column: 'expires', at }, signal)
    await deleteExpired(deps.db, { table: 'sign_up_block', column: 'ends', at }, signal)
    const oldest = new Date(deps.now() - ORIGIN_MS)
    await deleteExpired(deps.db, { table: 'account_origin', column: 'at', at: oldest }, signal)
  }),
})

type Mail = { deps: MailDeps; account: AccountRow; context: messages.MailContext }
type Content = messages.MailContent | undefined | Promise<messages.MailContent | undefined>

/** Composes each kind of email; undefined if its reason no longer exists. */
const COMPOSERS: { [Kind in MailJob['kind']]: (mail: Mail, job: MailJob & { kind: Kind }) => Content } = {
  'verify-email': async ({ deps, account, context }) =>
    account.email_verified
      ? undefined
      : messages.verifyEmailMail({ ...context, flow: await insertEmailFlow(deps, 'verify_email', account) }),
  'reset-password': async ({ deps, account, context }) =>
    messages.resetPasswordMail({ ...context, flow: await insertEmailFlow(deps, 'reset_password', account) }),
  'email-changed': async ({ deps: { db, now }, account, context }, job) => {
    const { former_email: email, had_two_factor = true, changed_at = now() } = job
    const data = { email, had_two_factor, changed_at }
    const flow = await insertFlow(db, { kind: 'undo_email_change', accountId: account.id, data, now: now() })
    return messages.emailChangedMail({ ...context, newEmail: account.email ?? '', flow })
  },
  'password-changed': ({ account, context }) =>
    messages.passwordChangedMail({ ...context, hasPasskeys: account.passkey_count > 0 }),
  'two-factor-enabled': ({ context }) => messages.twoFactorEnabledMail(context),
  'two-factor-removed': ({ context }) => messages.twoFactorRemovedMail(context),
  'passkey-added': ({ context }, { name }) => messages.passkeyAddedMail({ ...context, name }),
  'passkey-removed': ({ context }, { name }) => messages.passkeyRemovedMail({ ...context, name }),
  'provider-linked': ({ deps, context }, { name }) =>
    messages.providerLinkedMail({ ...context, name: providerName(deps, name) }),
  'provider-unlinked': ({ deps, context }, { name }) =>
    messages.providerUnlinkedMail({ ...context, name: providerName(deps, name) }),
  'backup-code-used': async ({ deps, account, context }) =>
    messages.backupCodeUsedMail({ ...context, remaining: await countBackupCodes(deps.db, account.id) }),
  approved: ({ account, context }) => (account.awaits_approval ? undefined : messages.approvedMail(context)),
  suspended: ({ deps, account, context }) => {
    if (!isSuspended(account, deps.now())) return undefined
    const { suspension_reason: reason, suspended_until: until } = account
    return messages.suspendedMail({ ...context, reason: reason ?? '', until })
  },
  unsuspended: ({ deps, account, context }) =>
    isSuspended(account, deps.now()) ? undefined : messages.unsuspendedMail(context),
  'deletion-pending': async ({ deps, account, context }) => {
    if (account.deletion_due === null) return undefined
    const { by_owner: byOwner } = await getDeletion(deps.db, account.id)
    return messages.deletionPendingMail({ ...context, due: account.deletion_due, byOwner })
  },
  'deletion-undone': ({ account, context }) =>
    account.deletion_due === null ? messages.deletionUndoneMail(context) : undefined,
  'token-created': async ({ deps, context }, { token_id }) => {
    const tokens = deps.db.selectFrom('personal_access_token').select('name').where('id', '=', token_id)
    const token = await tokens.executeTakeFirst()
    return token && messages.tokenCreatedMail({ ...context, tokenName: token.name })
  },
  'token-leaked': ({ context }, { token_kind, url }) =>
    messages.tokenLeakedMail({ ...context, tokenKind: token_kind, url }),
}

const providerName = ({ config }: MailDeps, id: string): string =>
  config.accounts.signInProviders.find((provider) => provider.id === id)?.name ?? id

async function compose<Kind extends MailJob['kind']>(
  deps: MailDeps,
  account: AccountRow,
  job: MailJob & { kind: Kind },
): Promise<messages.MailContent | undefined> {
  const context = await contextOf(deps, account.username)
  return COMPOSERS[job.kind]({ deps, account, context }, job)
}

async function contextOf(deps: MailDeps, username: string): Promise<messages.MailContext> {
  return { siteName: (await getSettings(deps)).name, baseUrl: deps.config.http.baseUrl, username }
}

/** Creates a flow for a link. It contains the email address, so that links to a previous address are invalid. */
function insertEmailFlow({ db, now }: MailDeps, kind: FlowKind, { id, email }: AccountRow): Promise<string> {
  return insertFlow(db, { kind, accountId: id, data: { email }, now: now() })
}

/** Deletes the rows whose time in `column` is not after `at`. */
export async function deleteExpired(
  db: Db,
  expired: { table: string; column: string; at: Date },
  signal: AbortSignal,
): Promise<void> {
  const table = sql.table(expired.table)
  let deleted = EXPIRE_BATCH
  while (deleted === EXPIRE_BATCH) {
    signal.throwIfAborted()
    const result = await sql`delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${sql.ref(expired.column)} <= ${expired.at} limit ${EXPIRE_BATCH}))`.execute(db)
    deleted = Number(result.numAffectedRows ?? 0)
  }
}
