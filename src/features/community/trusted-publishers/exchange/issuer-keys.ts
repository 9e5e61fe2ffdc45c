// The public keys of the operator's issuers: found by discovery, cached, and protected against issuers that are slow or
// answer with something else.
import type { createLocalJWKSet, JWK } from 'jose'
import { MINUTE_MS } from '#lib/time.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'

const FRESH_MS = 10 * MINUTE_MS
/** Minimum time between two requests because of a key that is not in the cached set. */
const UNKNOWN_KEY_MS = MINUTE_MS
/** Time in which an issuer that did not answer is not requested again. */
const FAILED_MS = 10 * 1000
const KEYS_MAX = 100

export type KeySet = { kids: ReadonlySet<string>; find: ReturnType<typeof createLocalJWKSet> }
type State = {
  set: KeySet | undefined
  loadedAt: number
  /** Last request for a key that the set did not contain. */
  refreshedAt: number
  failedAt: number
  pending: Promise<void> | undefined
}

export type IssuerKeys = {
  /** Returns a set with this key; `unknown` if the issuer has no such key, `unavailable` if its keys cannot be read. */
  get(issuer: string, kid: string): Promise<KeySet | 'unknown' | 'unavailable'>
}

/** All requests at the same time share one request to the issuer. */
export function createIssuerKeys(now: () => number): IssuerKeys {
  const states = new Map<string, State>()
  const never = Number.NEGATIVE_INFINITY
  const load = (issuer: string, state: State): Promise<void> => {
    state.pending ??= fetchKeys(issuer)
      .then(
        (set) => Object.assign(state, { set, loadedAt: now(), failedAt: never }),
        () => Object.assign(state, { failedAt: now() }),
      )
      .then(() => {
        state.pending = undefined
      })
    return state.pending
  }
  return {
    get: async (issuer, kid) => {
      const state: State = states.get(issuer) ?? {
        set: undefined,
        loadedAt: never,
        refreshedAt: never,
        failedAt: never,
        pending: undefined,
      }
      states.set(issuer, state)
      const isPaused = now() - state.failedAt < FAILED_MS
      if (state.pending !== undefined) await state.pending
      else if (now() - state.loadedAt >= FRESH_MS && !isPaused) await load(issuer, state)
      if (state.set === undefined) return 'unavailable'
      if (state.set.kids.has(kid)) return state.set
      if (now() - state.refreshedAt < UNKNOWN_KEY_MS || now() - state.failedAt < FAILED_MS) return 'unknown'
      state.refreshedAt = now()
      await load(issuer, state)
      return state.set.kids.has(kid) ? state.set : 'unknown'
    },
  }
}

/** @throws Error if the issuer does not describe itself, or has no usable public keys. */
async function fetchKeys(issuer: string): Promise<KeySet> {
  const document = (await readJsonWithin(`${issuer}/.well-known/openid-configuration`)) as Record<
    string,
    unknown
  > | null
  if (document?.['issuer'] !== issuer) throw new Error('The discovery document names another issuer')
  const address = document['jwks_uri']
  if (typeof address !== 'string' || !isSafe(address)) throw new Error('The address of the keys is not an https URL')
  const { keys } = ((await readJsonWithin(address)) ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) throw new Error('The document has no keys')
  const usable = keys.slice(0, KEYS_MAX).filter(isPublicKey)
  if (usable.length === 0) throw new Error('The document has no public keys')
  const jose = await import('jose')
  return { kids: new Set(usable.map(({ kid }) => kid)), find: jose.createLocalJWKSet({ keys: usable }) }
}

/** Symmetric keys and private keys are ignored, because everyone who reads the document could sign with them. */
function isPublicKey(key: unknown): key is JWK & { kid: string } {
  if (typeof key !== 'object' || key === null) return false
  const { kty, kid, d, k } = key as Record<string, unknown>
  return typeof kid === 'string' && ['RSA', 'EC', 'OKP'].includes(String(kty)) && d === undefined && k === undefined
}

function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username } = new URL(address)
  const isLoopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  return username === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}
