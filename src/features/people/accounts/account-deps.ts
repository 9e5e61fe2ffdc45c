import type { Deps } from '#ports/deps.ts'
import type { CodeHost } from './code-host/code-host.ts'
import { createPasswords, type Passwords } from './passwords/passwords.ts'
import { createProviderClients, type ProviderClients } from './providers/provider-client.ts'
import type { Client } from './sessions/queries.ts'
import { createSignInGuard, type SignInGuard } from './sign-in/sign-in-guard.ts'

/** Dependencies of the account routes and pages. */
export type AccountDeps = Pick<Deps, 'db' | 'cache' | 'counters' | 'config' | 'log' | 'metrics' | 'now'> & {
  passwords: Passwords
  guard: SignInGuard
  /** Undefined if no code host is configured. */
  codeHost: CodeHost | undefined
  providers: ProviderClients
}

/** Creates the dependencies that all routes and pages share. The caller must close `passwords`. */
export function createAccountDeps(deps: Omit<AccountDeps, 'passwords' | 'guard' | 'providers'>): AccountDeps {
  return {
    ...deps,
    passwords: createPasswords(),
    guard: createSignInGuard(deps),
    providers: createProviderClients(deps),
  }
}

/** Returns the IP address and the user agent of a request. */
export function clientOf(req: { clientAddress: string; headers: { 'user-agent'?: string | undefined } }): Client {
  return { ip: req.clientAddress, userAgent: req.headers['user-agent'] ?? '' }
}
