// `depot user list`, `user show`, `user password`, `user delete` and `user restore`.

import { readArguments, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { readPassword, temporaryPasswordText } from '#cli/kit/password-input.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { isSuspended } from '#features/basics/access/accounts.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { loadDeletionConsequences } from '#features/community/personal-data/count-belongings.ts'
import { deleteAccountOf, requireDeletable } from '#features/community/personal-data/delete-account.ts'
import { hideAccount } from '#features/community/personal-data/hide-account.ts'
import { listAccessTokens } from '#features/people/accounts/access-tokens/queries.ts'
import { setPasswordOf } from '#features/people/accounts/credentials/change-password.ts'
import { restoreAccount } from '#features/people/accounts/deletion/restore-account.ts'
import { createPasswords } from '#features/people/accounts/passwords/passwords.ts'
import { type AccountRow, getAccountByName, listAccounts } from '#features/people/users/queries.ts'
import type { Deps } from '#ports/deps.ts'
import { readRole } from './accounts.ts'

const LIST_DEFAULT = '100'
const LIST_MAX = 10_000
const HEAD = ['NAME', 'ID', 'ROLE', 'EMAIL', 'SINCE']

export async function userList(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    role: 'string',
    find: 'string',
    suspended: 'boolean',
    limit: 'string',
    json: 'boolean',
  })
  const role = values.role === undefined ? undefined : readRole(values.role)
  const limit = wholeNumber(values.limit ?? LIST_DEFAULT, 'limit', 1, LIST_MAX)
  await withDeps(env, async ({ db, now }) => {
    const at = now()
    const suspendedAt = values.suspended === true ? new Date(at) : undefined
    const { accounts, total } = await listAccounts(db, { role, text: values.find, suspendedAt, limit })
    const rows = accounts.map(({ username, id, role, email, created, suspended_until: until }) => {
      const shown = [username, id, role, email ?? '', created.toISOString().slice(0, 10)]
      return suspendedAt === undefined ? shown : [...shown, until?.toISOString().slice(0, 10) ?? 'lifted']
    })
    const rest = total > accounts.length ? `\n${accounts.length} of ${total}` : ''
    const text =
      rows.length === 0
        ? 'No accounts found'
        : `${table(suspendedAt === undefined ? HEAD : [...HEAD, 'SUSPENDED UNTIL'], rows)}${rest}`
    print({ json: { accounts: accounts.map((account) => summary(account, at)), total }, text }, values.json)
  })
}

export async function userShow(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 1)
  await withDeps(env, async ({ db, now }) => {
    const account = await getAccountByName(db, words[0] ?? '', { withLeaving: true })
    const tokens = await listAccessTokens(db, account.id)
    const shown = {
      ...summary(account, now()),
      has_password: account.password_hash !== null,
      has_temporary_password: account.password_is_temporary,
      has_totp: account.totp_secret !== null,
      tokens: tokens.length,
    }
    const lines = Object.entries(shown).map(([name, value]) => [name, String(value ?? '-')])
    print({ json: shown, text: table([], lines) }, values.json)
  })
}

/** Ends the sessions and the tokens of the account. */
export async function userPassword(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(
    args,
    { password: 'string', 'random-password': 'boolean', json: 'boolean' },
    1,
  )
  const { password: newPassword, isTemporary } = await readPassword(values)
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, words[0] ?? '')
    await setPasswordOf({ ...deps, passwords: createPasswords() }, { account, newPassword, isTemporary })
    const { id, username } = account
    const text = `Changed the password of ${username} and ended all sessions`
    if (!isTemporary) return print({ json: { id, username }, text }, values.json)
    const json = { id, username, temporary_password: newPassword }
    print({ json, text: `${text}\n${temporaryPasswordText(newPassword)}` }, values.json)
  })
}

export async function userDelete(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(
    args,
    { yes: 'boolean', now: 'boolean', 'dry-run': 'boolean', json: 'boolean' },
    1,
  )
  const [name = ''] = words
  if (values.yes !== true && values['dry-run'] !== true) {
    const unless = values.now === true ? '' : ', except while ACCOUNT_DELETION_DAYS allows it'
    throw new UsageError(
      `Deleting ${name} cannot be undone${unless}. Its projects go to the placeholder account; everything else is deleted. To confirm, add --yes. To see what would be deleted, use --dry-run`,
    )
  }
  await withDeps(env, async (deps) => {
    const isPermanent = values.now === true || deps.config.accounts.deletionDays === 0
    const account = await getAccountByName(deps.db, name, { withLeaving: isPermanent })
    const { id, username } = account
    if (values['dry-run'] === true) return print(await describeDeletion(deps, account, isPermanent), values.json)
    if (isPermanent) {
      await deleteAccountOf(deps, account, COMMAND)
      print({ json: { id, username }, text: `Deleted the account ${username}` }, values.json)
      return
    }
    const due = (await hideAccount(deps, account, { actor: COMMAND, byOwner: false })).toISOString()
    const text = `${username} will be deleted on ${due}. To undo this before, run: depot user restore ${username}`
    print({ json: { id, username, due }, text }, values.json)
  })
}

/** Returns what a deletion would delete, and what would go to the placeholder account. */
async function describeDeletion(deps: Deps, account: AccountRow, isPermanent: boolean) {
  await requireDeletable(deps, account)
  const { id, username } = account
  const counts = await loadDeletionConsequences(deps, id)
  const { projects, organizations, collections, follows, sessions, tokens } = counts
  const deleted = { collections, follows, sessions, tokens }
  const transferred = { projects, organizations }
  const days = isPermanent ? 0 : deps.config.accounts.deletionDays
  const rows = [
    ['Collections', collections],
    ['Follows', follows],
    ['Sessions', sessions],
    ['Access tokens', tokens],
    ['Projects, which go to the placeholder account', projects],
    ['Organizations, which go to the placeholder account', organizations],
  ].map((cells) => cells.map(String))
  const when = days === 0 ? 'permanently' : `with ${days} days to undo the deletion`
  const text = `${username} would be deleted ${when}:\n${table([], rows)}`
  return { json: { dry_run: true, id, username, undo_days: days, deleted, transferred }, text }
}

export async function userRestore(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 1)
  await withDeps(env, async (deps) => {
    const { id, username } = await restoreAccount(deps, COMMAND, words[0] ?? '')
    print({ json: { id, username }, text: `Restored ${username}, without tokens` }, values.json)
  })
}

function summary(account: AccountRow, now: number) {
  const { id, username, role, email, email_verified, created, deletion_due } = account
  const dates = { created: created.toISOString(), deletion_due: deletion_due?.toISOString() ?? null }
  const {
    suspended_at: at,
    suspended_until: until,
    suspension_reason: reason,
  } = isSuspended(account, now) ? account : { suspended_at: null, suspended_until: null, suspension_reason: null }
  const suspension = { suspended_at: at?.toISOString() ?? null, suspended_until: until?.toISOString() ?? null }
  return { id, username, role, email, email_verified, ...dates, ...suspension, suspension_reason: reason }
}
