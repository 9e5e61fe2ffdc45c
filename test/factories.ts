// Rows for tests, written by SQL and not through the API under test; what is missing above them is made too.
import { newId } from '#lib/ids.ts'
import { ALL_SCOPES } from '#lib/scopes.ts'
import { newToken } from '#lib/tokens.ts'
import type { Deps } from '../src/deps.ts'

export type Person = { id: string; username: string; email: string; token: string }

export type Factories = ReturnType<typeof createFactories>

const DAY_MS = 86_400_000

export function createFactories({ db, now }: Pick<Deps, 'db' | 'now'>) {
  let count = 0
  const next = (): number => {
    count += 1
    return count
  }

  /** An account with a verified e-mail and a session. */
  async function account(fields: { username?: string; role?: 'developer' | 'moderator' | 'admin'; email_verified?: boolean } = {}): Promise<Person> {
    const id = newId()
    const username = fields.username ?? `person-${next()}`
    const email = `${username.toLowerCase()}@example.org`
    await db
      .insertInto('account')
      .values({ id, username, email, email_verified: fields.email_verified ?? true, role: fields.role ?? 'developer' })
      .execute()
    return { id, username, email, token: await session(id) }
  }

  async function session(accountId: string): Promise<string> {
    const { token, hash } = newToken('session')
    const expires = new Date(now() + 14 * DAY_MS)
    await db
      .insertInto('session')
      .values({
        id: newId(),
        account_id: accountId,
        token_hash: hash,
        expires,
        refresh_expires: new Date(now() + 60 * DAY_MS),
        user_agent: 'depot-tests/1.0',
        ip: '127.0.0.1',
      })
      .execute()
    return token
  }

  /** A personal access token of `person` with exactly these scopes. */
  async function pat(person: { id: string }, scopes: number = ALL_SCOPES): Promise<{ token: string }> {
    const { token, hash } = newToken('pat')
    await db
      .insertInto('personal_access_token')
      .values({
        id: newId(),
        account_id: person.id,
        name: 'test token',
        token_hash: hash,
        scopes,
        expires: new Date(now() + DAY_MS),
      })
      .execute()
    return { token }
  }

  return { account, session, pat, next }
}
