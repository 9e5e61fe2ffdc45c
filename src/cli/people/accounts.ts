// `depot user create`, `depot user role` and `depot token create`.

import { duration, readArguments, required, UsageError } from '#cli/kit/arguments.ts'
import { readPassword, temporaryPasswordText } from '#cli/kit/password-input.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { GRANTABLE_SCOPES, parseScopeNames, scopeNames } from '#features/basics/access/scopes.ts'
import type { Role } from '#features/basics/access/viewer.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { createAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import { createPasswords } from '#features/people/accounts/passwords/passwords.ts'
import { setRole } from '#features/people/accounts/set-role.ts'
import { createAccount, prepareAccount } from '#features/people/accounts/sign-up/create-account.ts'
import { requirePerson } from '#features/people/users/policy.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'

const ROLES: readonly Role[] = ['developer', 'moderator', 'admin']
const DEFAULT_EXPIRY = '365d'

/** Creates an account with a verified email address, because the operator vouches for it. */
export async function userCreate(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    username: 'string',
    email: 'string',
    password: 'string',
    'random-password': 'boolean',
    role: 'string',
    json: 'boolean',
  })
  const username = required(values.username, 'username')
  const email = required(values.email, 'email')
  const role = readRole(values.role ?? 'developer')
  const { password, isTemporary } = await readPassword(values)
  await withDeps(env, async (deps) => {
    const fields = { username, email, password, isTemporary }
    const prepared = await prepareAccount({ ...deps, passwords: createPasswords() }, fields)
    const id = await transaction(deps, async (tx) => {
      const created = await createAccount(tx, {
        ...prepared,
        role,
        emailVerified: true,
        passwordIsTemporary: isTemporary,
        now: deps.now(),
      })
      const subject = { kind: 'user', id: created } as const
      await recordAudit(tx, { action: 'account.created', actor: COMMAND, subject, details: { role } })
      return created
    })
    const text = `Created the account ${username} (${role}), ID ${id}`
    const json = { id, username, email, role }
    if (!isTemporary) return print({ json, text }, values.json)
    const secret = {
      json: { ...json, temporary_password: password },
      text: `${text}\n${temporaryPasswordText(password)}`,
    }
    print(secret, values.json)
  })
}

export async function userRole(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 2)
  const [name = '', roleName = ''] = words
  const role = readRole(roleName)
  await withDeps(env, async (deps) => {
    const { id, username } = await getAccountByName(deps.db, name)
    await setRole(deps, { accountId: id, role, actor: COMMAND })
    print({ json: { id, username, role }, text: `${username} now has the role ${role}` }, values.json)
  })
}

export async function tokenCreate(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    user: 'string',
    scopes: 'string',
    expires: 'string',
    name: 'string',
    json: 'boolean',
  })
  const user = required(values.user, 'user')
  const scopes = readScopes(required(values.scopes, 'scopes'))
  const lifetimeMs = duration(values.expires ?? DEFAULT_EXPIRY, 'expires')
  await withDeps(env, async (deps) => {
    const { id: accountId, username } = requirePerson(await getAccountByName(deps.db, user))
    const expires = new Date(deps.now() + lifetimeMs)
    const name = values.name ?? 'Command line'
    const { token } = await createAccessToken(deps, { actor: COMMAND, accountId, name, scopes, expires, limits: null })
    const json = { token, user: username, scopes: scopeNames(scopes), expires: expires.toISOString() }
    print({ json, text: token }, values.json)
  })
}

function readScopes(text: string): number {
  if (text === 'all') return GRANTABLE_SCOPES
  const { bits, unknown } = parseScopeNames(text)
  if (unknown.length > 0) throw new UsageError(`Unknown scopes: ${unknown.join(', ')}`)
  if (bits === 0) throw new UsageError('--scopes must name at least one scope')
  return bits
}

/** @throws UsageError */
export function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new UsageError(`The role must be one of ${ROLES.join(', ')}`)
  return role
}
