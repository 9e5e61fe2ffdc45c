import type { Deps } from '#ports/deps.ts'
import type { CodeHost } from './code-host/code-host.ts'
import { createPasswords, type Passwords } from './passwords/passwords.ts'
import type { Client } from './sessions/queries.ts'
import { createSignInGuard, type SignInGuard } from './sign-in/sign-in-guard.ts'

/** What the account routes share. */
export type AccountDeps = Pick<Deps, 'db' | 'cache' | 'counters' | 'config' | 'log' | 'metrics' | 'now'> & {
  passwords: Passwords
  guard: SignInGuard
  /** Undefined where none is configured. */
  codeHost: CodeHost | undefined
}

/** One for all routes and pages: tries to sign in are counted together. Close its `passwords` at the end. */
export function createAccountDeps(deps: Omit<AccountDeps, 'passwords' | 'guard'>): AccountDeps {
  return { ...deps, passwords: createPasswords(), guard: createSignInGuard(deps) }
}

/** Where a request comes from. */
export function clientOf(req: { clientAddress: string; headers: { 'user-agent'?: string | undefined } }): Client {
  return { ip: req.clientAddress, userAgent: req.headers['user-agent'] ?? '' }
}
