// `depot token list` and `depot token revoke`.

import { readArguments, required } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { scopeNames } from '#features/basics/access/scopes.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { listAccessTokens } from '#features/people/accounts/access-tokens/queries.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { notFound } from '#lib/errors.ts'

export async function tokenList(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { user: 'string', json: 'boolean' })
  const user = required(values.user, 'user')
  await withDeps(env, async ({ db, now }) => {
    const account = await getAccountByName(db, user)
    const tokens = (await listAccessTokens(db, account.id)).map((token) => ({
      id: token.id,
      name: token.name,
      scopes: scopeNames(Number(token.scopes)),
      created: token.created.toISOString(),
      expires: token.expires.toISOString(),
      last_used: token.last_used?.toISOString() ?? null,
      expired: token.expires.getTime() <= now(),
    }))
    const rows = tokens.map(({ id, name, expired, expires, last_used, scopes }) => {
      return [
        id,
        name,
        expired ? 'expired' : expires.slice(0, 10),
        last_used?.slice(0, 10) ?? 'never',
        scopes.join(','),
      ]
    })
    const text =
      rows.length === 0
        ? `${account.username} has no access tokens`
        : table(['ID', 'NAME', 'EXPIRES', 'LAST USED', 'SCOPES'], rows)
    print({ json: { user: account.username, tokens }, text }, values.json)
  })
}

export async function tokenRevoke(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { user: 'string', 'dry-run': 'boolean', json: 'boolean' }, 1)
  const user = required(values.user, 'user')
  const [id = ''] = words
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, user)
    if (values['dry-run'] === true) {
      const token = (await listAccessTokens(deps.db, account.id)).find((row) => row.id === id)
      if (token === undefined) throw notFound('access token')
      const json = { dry_run: true, id, user: account.username, name: token.name }
      return print(
        { json, text: `Would be revoked: the token ${id} (${token.name}) of ${account.username}` },
        values.json,
      )
    }
    await deleteAccessToken(deps, { accountId: account.id, token: { id }, actor: COMMAND })
    print({ json: { id, user: account.username }, text: `Revoked the token ${id} of ${account.username}` }, values.json)
  })
}
