// The token of a run: from the environment, or from the identity of the CI job.
import { toBaseUrl } from '../base-url.ts'
import { errorOf } from '../errors.ts'
import { type RetryOptions, sendWithRetries } from '../retry.ts'
import { UsageError } from './settings.ts'

type Discovery = { audience: string; token_endpoint: string }
type Exchanged = { access_token: string; expires_in: number; projects: string[] }

/** A token that is exchanged again before it expires, and revoked at the end. */
export type Identity = {
  token: () => Promise<string>
  /** Returns the ID of the project of a CI token. It cannot read a project that is not public. */
  projectId: () => string | undefined
  end: () => Promise<void>
}

const RENEW_BEFORE_MS = 60_000
const TIMEOUT_MS = 30_000

type Token = { token: string; expires: number; projectId: string | undefined }
type Fetch = (address: string, init?: RequestInit) => Promise<Response>

/** @throws UsageError without a token and outside CI. */
export async function findIdentity(
  { url, project }: { url: string; project: string },
  env: NodeJS.ProcessEnv,
  retry: RetryOptions = {},
): Promise<Identity> {
  const fixed = env['DEPOT_TOKEN']?.trim()
  if (fixed !== undefined && fixed !== '') {
    return { token: async () => fixed, projectId: () => undefined, end: async () => undefined }
  }
  if (!isInCi(env)) {
    throw new UsageError(
      'No token. Set DEPOT_TOKEN, or let the CI job have an identity: `permissions: id-token: write` on GitHub, `enable-openid-connect: true` on Forgejo, `id_tokens: DEPOT_ID_TOKEN` on GitLab.',
    )
  }
  const limited: Fetch = (address, init = {}) => fetch(address, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const send: Fetch = (address, init = {}) => sendWithRetries(limited, address, () => init, retry)
  const { audience, token_endpoint } = await discover(url, send)
  // A token in the environment can be exchanged only once.
  const isRenewable = !env['DEPOT_ID_TOKEN']
  let current: Token | undefined
  return {
    async token() {
      if (current === undefined || (isRenewable && current.expires - Date.now() < RENEW_BEFORE_MS)) {
        const jwt = await identityToken(env, audience, send)
        current = await exchange(token_endpoint, { token: jwt, project }, send)
      }
      return current.token
    },
    projectId: () => current?.projectId,
    async end() {
      if (current === undefined) return
      const headers = { Authorization: `Bearer ${current.token}` }
      // A token that is not revoked expires after 15 minutes.
      await limited(token_endpoint, { method: 'DELETE', headers }).catch(() => undefined)
    },
  }
}

const isInCi = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DEPOT_ID_TOKEN'] || env['ACTIONS_ID_TOKEN_REQUEST_URL'])

async function discover(url: string, send: Fetch): Promise<Discovery> {
  const base = toBaseUrl(url)
  const response = await send(`${base}/.well-known/depot-publishing`)
  if (response.status === 404) throw new UsageError('This instance does not accept CI identities. Set DEPOT_TOKEN.')
  if (!response.ok) throw await errorOf(response)
  const { audience, token_endpoint } = (await response.json()) as Discovery
  // The path counts: an instance behind a proxy can have another address in its settings than the job uses.
  return { audience, token_endpoint: `${base}${new URL(token_endpoint, base).pathname}` }
}

/** Requests the token of the CI job from its runner (GitHub, Forgejo), or reads it from the environment (GitLab). */
async function identityToken(env: NodeJS.ProcessEnv, audience: string, send: Fetch): Promise<string> {
  const { DEPOT_ID_TOKEN: given, ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env
  if (given) return given
  const url = new URL(address ?? '')
  url.searchParams.set('audience', audience)
  const response = await send(url.href, { headers: { Authorization: `bearer ${secret}`, Accept: 'application/json' } })
  if (!response.ok) throw new UsageError(`The runner does not issue an identity token: HTTP ${response.status}`)
  const { value } = (await response.json()) as { value?: unknown }
  if (typeof value !== 'string') throw new UsageError('The runner issued no identity token')
  return value
}

async function exchange(endpoint: string, body: { token: string; project: string }, send: Fetch): Promise<Token> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await send(endpoint, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw await errorOf(response)
  const { access_token, expires_in, projects } = (await response.json()) as Exchanged
  const projectId = projects?.length === 1 ? projects[0] : undefined
  return { token: access_token, expires: Date.now() + expires_in * 1000, projectId }
}
