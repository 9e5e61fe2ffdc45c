// `depot user list`, `user show`, `user password` and `user delete`.

import { listAccessTokens } from '#features/accounts/access-tokens/queries.ts'
import { setPasswordOf } from '#features/accounts/credentials/change-password.ts'
import { createPasswords } from '#features/accounts/passwords/passwords.ts'
import { COMMAND } from '#features/audit/actor.ts'
import { deleteAccountOf } from '#features/personal-data/delete-account.ts'
import { type AccountRow, getAccountByName, listAccounts } from '#features/users/queries.ts'
import { readRole } from './accounts.ts'
import { readArguments, UsageError, wholeNumber } from './arguments.ts'
import { readPassword } from './password-input.ts'
import { table } from './table.ts'
import { type Env, print, withDeps } from './with-deps.ts'

const LIST_DEFAULT = '100'
const LIST_MAX = 10_000

/** Newest first. */
export async function userList(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { role: 'string', find: 'string', limit: 'string', json: 'boolean' })
  const role = values.role === undefined ? undefined : readRole(values.role)
  const limit = wholeNumber(values.limit ?? LIST_DEFAULT, 'limit', 1, LIST_MAX)
  await withDeps(env, async ({ db }) => {
    const { accounts, total } = await listAccounts(db, { role, text: values.find, limit })
    const rows = accounts.map((account) => [
      account.username,
      account.id,
      account.role,
      account.email ?? '',
      day(account.created),
    ])
    const rest = total > accounts.length ? `\n${accounts.length} of ${total}` : ''
    const text =
      rows.length === 0
        ? 'There is no such account'
        : `${table(['NAME', 'ID', 'ROLE', 'E-MAIL', 'SINCE'], rows)}${rest}`
    print({ json: { accounts: accounts.map(summary), total }, text }, values.json)
  })
}

export async function userShow(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 1)
  await withDeps(env, async ({ db }) => {
    const account = await getAccountByName(db, words[0] ?? '')
    const tokens = await listAccessTokens(db, account.id)
    const shown = {
      ...summary(account),
      has_password: account.password_hash !== null,
      has_totp: account.totp_secret !== null,
      tokens: tokens.length,
    }
    const lines = Object.entries(shown).map(([name, value]) => [name, String(value ?? '-')])
    print({ json: shown, text: table([], lines) }, values.json)
  })
}

/** Ends the sessions of the account; its tokens stay. */
export async function userPassword(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { password: 'string', json: 'boolean' }, 1)
  const newPassword = await readPassword(values.password)
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, words[0] ?? '')
    await setPasswordOf({ ...deps, passwords: createPasswords() }, { account, newPassword })
    const { id, username } = account
    print({ json: { id, username }, text: `${username} has the new password; all sessions have ended` }, values.json)
  })
}

export async function userDelete(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { yes: 'boolean', json: 'boolean' }, 1)
  const [name = ''] = words
  if (values.yes !== true) {
    throw new UsageError(`Deleting ${name} cannot be undone: projects stay, without an owner, all else goes; say --yes`)
  }
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, name)
    const { id, username } = account
    await deleteAccountOf(deps, account, COMMAND)
    print({ json: { id, username }, text: `Deleted the account ${username}` }, values.json)
  })
}

const day = (date: Date): string => date.toISOString().slice(0, 10)

function summary({ id, username, role, email, email_verified, created }: AccountRow) {
  return { id, username, role, email, email_verified, created: created.toISOString() }
}
