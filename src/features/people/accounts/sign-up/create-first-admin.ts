// Creates the first admin of an instance with a link that the terminal of the operator shows. The link works once, and
// only if there is no admin.
import { sql } from 'kysely'
import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { invalidCredentials } from '#features/people/accounts/sign-in/sign-in-guard.ts'
import { hashToken, newSecret } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import type { OfferedTag } from '#lib/languages.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import type { AccountDeps } from '../account-deps.ts'
import { recordOrigin } from '../sessions/origins.ts'
import { type Client, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { type AccountFields, createAccount, prepareAccount } from './create-account.ts'

/** Key of an advisory lock, so that only one of several concurrent requests creates the first admin. */
const LOCK = 7_300_428

/** Creates a link in place of the previous one and returns its secret; undefined if there is an admin. */
export async function makeFirstAdminLink({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<string | undefined> {
  if (await hasAdmin(db)) return undefined
  const { secret, hash } = newSecret()
  const expires = new Date(now() + DAY_MS)
  await db
    .insertInto('first_admin_link')
    .values({ token_hash: hash, expires })
    .onConflict((conflict) => conflict.column('only_one').doUpdateSet({ token_hash: hash, expires }))
    .execute()
  return secret
}

/**
 * Creates the account of the first admin and signs it in. The email address counts as verified, because only the
 * operator has the link.
 * @throws ApiError `invalid_credentials` for an invalid link or if there is an admin; like `prepareAccount`, after which
 * the link remains valid.
 */
export async function createFirstAdmin(
  deps: AccountDeps,
  {
    secret,
    fields,
    language,
    client,
  }: { secret: string; fields: AccountFields; language: OfferedTag | undefined; client: Client },
): Promise<SessionView> {
  const now = deps.now()
  await requireLink(deps.db, secret, now)
  const prepared = await prepareAccount({ ...deps, caller: addressKey(client.ip) }, fields)
  const session = await transaction(deps, async (tx, changed) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
    await requireLink(tx, secret, now)
    await tx.deleteFrom('first_admin_link').execute()
    const accountId = await createAccount(tx, { ...prepared, role: 'admin', emailVerified: true, language, now })
    const subject = { kind: 'user', id: accountId } as const
    const actor = ownerAt(accountId, client)
    await recordAudit(tx, { action: 'account.created', actor, subject, details: { role: 'admin' } })
    await recordOrigin(tx, { accountId, event: 'sign_up', client, now })
    return issueSession(tx, changed, { accountId, client, now })
  })
  recordEvent(deps, 'account.created', { account_id: session.user_id })
  return session
}

async function requireLink(db: Db, secret: string, now: number): Promise<void> {
  await requireNoAdmin(db)
  const link = await db.selectFrom('first_admin_link').select(['token_hash', 'expires']).executeTakeFirst()
  if (link === undefined || link.expires.getTime() <= now || !link.token_hash.equals(hashToken(secret)))
    throw invalidCredentials('The link is unknown or has expired. Restart the server to get a new link.')
}

/** @throws ApiError `invalid_credentials` if the instance has an admin, so that its link no longer works. */
export async function requireNoAdmin(db: Db): Promise<void> {
  if (!(await hasAdmin(db))) return
  throw invalidCredentials(
    'This instance already has an admin, so the link no longer works. Sign in, or make another account an admin with `depot user role`.',
  )
}

export async function hasAdmin(db: Db): Promise<boolean> {
  const admin = await db.selectFrom('account').select('id').where('role', '=', 'admin').limit(1).executeTakeFirst()
  return admin !== undefined
}
