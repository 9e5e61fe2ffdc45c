import type { Deps } from '../../deps.ts'
import type { Passwords } from './passwords.ts'
import type { Client } from './sessions/queries.ts'
import type { SignInGuard } from './sign-in-guard.ts'

/** What the account routes share. */
export type AccountDeps = Pick<Deps, 'db' | 'cache' | 'counters' | 'config' | 'log' | 'metrics' | 'now'> & {
  passwords: Passwords
  guard: SignInGuard
}

/** Where a request comes from. */
export function clientOf(req: { clientAddress: string; headers: { 'user-agent'?: string | undefined } }): Client {
  return { ip: req.clientAddress, userAgent: req.headers['user-agent'] ?? '' }
}
