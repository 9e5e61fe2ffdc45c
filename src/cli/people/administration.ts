// `depot user suspend|unsuspend|sign-out|password-link|two-factor-reset|email|rename|limits|sessions`.

import { duration, readArguments, required, wholeNumber } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { QUOTA_KINDS } from '#features/basics/limits/quota.ts'
import { endUserSession } from '#features/people/accounts/administration/end-user-session.ts'
import { type AccountLimits, getAccountLimits } from '#features/people/accounts/administration/limits.ts'
import { makePasswordLink } from '#features/people/accounts/administration/make-password-link.ts'
import { listAccountFigures, listUserSessions } from '#features/people/accounts/administration/queries.ts'
import { renameUser } from '#features/people/accounts/administration/rename-user.ts'
import { checkReason, LIMIT_MAX, toSuspension } from '#features/people/accounts/administration/requests.ts'
import { resetTwoFactor } from '#features/people/accounts/administration/reset-two-factor.ts'
import { setEmail } from '#features/people/accounts/administration/set-email.ts'
import { type LimitOverride, setLimits } from '#features/people/accounts/administration/set-limits.ts'
import { signOutAccount } from '#features/people/accounts/administration/sign-out-account.ts'
import { suspendAccount, unsuspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { toUserSession } from '#features/people/accounts/administration/views.ts'
import { requireAdministrable } from '#features/people/accounts/policy.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import type { Deps } from '#ports/deps.ts'

export async function userSuspend(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { reason: 'string', for: 'string', json: 'boolean' }, 1)
  const [name = ''] = words
  const reason = required(values.reason, 'reason')
  const lifetimeMs = values.for === undefined ? undefined : duration(values.for, 'for')
  await withDeps(env, async (deps) => {
    const now = deps.now()
    const until = lifetimeMs === undefined ? null : new Date(now + lifetimeMs).toISOString()
    const suspension = toSuspension({ reason, until }, now)
    const { id, username } = await suspendAccount(deps, COMMAND, { name, ...suspension })
    const text = `${username} is suspended${until === null ? '' : ` until ${until}`}`
    print({ json: { id, username, reason: suspension.reason, until }, text }, values.json)
  })
}

export async function userUnsuspend(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 1)
  await withDeps(env, async (deps) => {
    const { id, username } = await unsuspendAccount(deps, COMMAND, words[0] ?? '')
    print({ json: { id, username }, text: `${username} is no longer suspended` }, values.json)
  })
}

export async function userSignOut(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { tokens: 'boolean', 'dry-run': 'boolean', json: 'boolean' }, 1)
  const tokens = values.tokens === true
  await withDeps(env, async (deps) => {
    if (values['dry-run'] === true) return print(await describeSignOut(deps, words[0] ?? '', tokens), values.json)
    const { id, username } = await signOutAccount(deps, COMMAND, { name: words[0] ?? '', tokens })
    const text = `Ended all sessions ${tokens ? 'and tokens ' : ''}of ${username}`
    print({ json: { id, username, tokens }, text }, values.json)
  })
}

async function describeSignOut(deps: Deps, name: string, withTokens: boolean) {
  const { id, username } = requireAdministrable(await getAccountByName(deps.db, name))
  const figures = (await listAccountFigures(deps.db, [id], new Date(deps.now()))).get(id)
  const [sessions, tokens] = [figures?.sessions ?? 0, withTokens ? (figures?.tokens ?? 0) : 0]
  const rows = [
    ['Sessions', String(sessions)],
    ['Tokens', String(tokens)],
  ]
  return { json: { dry_run: true, id, username, sessions, tokens }, text: `Would be deleted:\n${table([], rows)}` }
}

export async function userPasswordLink(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 1)
  await withDeps(env, async (deps) => {
    const { id, username, url, expires } = await makePasswordLink(deps, COMMAND, words[0] ?? '')
    print({ json: { id, username, url, expires: expires.toISOString() }, text: url }, values.json)
  })
}

export async function userTwoFactorReset(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { reason: 'string', json: 'boolean' }, 1)
  const reason = checkReason(required(values.reason, 'reason'))
  await withDeps(env, async (deps) => {
    const { id, username } = await resetTwoFactor(deps, COMMAND, { name: words[0] ?? '', reason })
    print({ json: { id, username }, text: `${username} signs in without a code` }, values.json)
  })
}

export async function userEmail(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { verified: 'boolean', json: 'boolean' }, 2)
  const [name = '', email = ''] = words
  const verified = values.verified === true
  await withDeps(env, async (deps) => {
    const { id, username, isBlocked } = await setEmail(deps, COMMAND, { name, email, verified })
    if (isBlocked) process.stderr.write('Warning: the domain of this address is blocked for users\n')
    const text = `The email address of ${username} is now ${email}${verified ? '' : '; it receives a link that verifies it'}`
    print({ json: { id, username, email, verified }, text }, values.json)
  })
}

export async function userRename(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, 2)
  const [name = '', username = ''] = words
  await withDeps(env, async (deps) => {
    const { id, former } = await renameUser(deps, COMMAND, { name, username })
    print({ json: { id, username, former }, text: `${former} is now ${username}` }, values.json)
  })
}

/** Limits of the instance, as the value of a flag. */
const DEFAULT = 'default'

export async function userLimits(args: readonly string[], env: Env): Promise<void> {
  const flags = { projects: 'string', organizations: 'string', collections: 'string', json: 'boolean' } as const
  const { values, words } = readArguments(args, flags, 1)
  const [name = ''] = words
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, name)
    const before = await getAccountLimits(deps, account)
    const given = changedLimits(values)
    const limits = { ...overridesOf(before), ...given }
    if (Object.keys(given).length > 0) await setLimits(deps, COMMAND, { name, limits })
    const { versions, bytes, ...now } = await getAccountLimits(deps, account)
    const { id, username } = account
    const rows = QUOTA_KINDS.map((kind) => {
      const { current, max, override } = now[kind]
      return [kind, String(current), max === null ? 'none' : String(max), override === null ? 'instance' : 'account']
    })
    const text = `${table(['Limit', 'Used', 'Maximum', 'Set by'], rows)}${versions} versions, ${bytes} bytes\n`
    print({ json: { id, username, versions, bytes, ...now }, text }, values.json)
  })
}

const overridesOf = (limits: AccountLimits): LimitOverride => ({
  projects: limits.projects.override,
  organizations: limits.organizations.override,
  collections: limits.collections.override,
})

/** Returns the limits that the flags change. @throws UsageError naming the flag */
function changedLimits(values: Readonly<Record<string, string | boolean | undefined>>): Partial<LimitOverride> {
  const given = QUOTA_KINDS.flatMap((kind) => {
    const text = values[kind]
    return typeof text === 'string'
      ? [[kind, text === DEFAULT ? null : wholeNumber(text, kind, 0, LIMIT_MAX)] as const]
      : []
  })
  return Object.fromEntries(given)
}

export async function userSessions(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { end: 'string', json: 'boolean' }, 1)
  const [name = ''] = words
  await withDeps(env, async (deps) => {
    const { id: accountId, username } = await getAccountByName(deps.db, name)
    if (values.end !== undefined) await endUserSession(deps, COMMAND, { name, sessionId: values.end })
    const sessions = (await listUserSessions(deps.db, { accountId, now: deps.now() })).map(toUserSession)
    const rows = sessions.map(({ id, os, platform, address_range, last_login }) => [
      id,
      [platform, os].filter((part) => part !== null && part !== '').join(', '),
      address_range ?? '',
      last_login,
    ])
    const text = rows.length === 0 ? `${username} has no sessions` : table(['ID', 'Device', 'Range', 'Last used'], rows)
    print({ json: { id: accountId, username, sessions }, text }, values.json)
  })
}
