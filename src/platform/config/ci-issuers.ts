// The setting CI_ISSUERS: build services whose tokens can be exchanged.

/** Kinds of build services, which name their claims differently. `generic` uses the names of GitHub. */
export type CiKind = 'github' | 'gitlab' | 'forgejo' | 'generic'

/** A build service whose tokens can be exchanged. */
export type CiIssuer = {
  /** URL, exactly as in the claim `iss`. */
  issuer: string
  kind: CiKind
  name: string
  algorithms: readonly string[]
  /** Maximum age of a token at the exchange. */
  maxAgeSeconds: number
}

const KINDS: readonly CiKind[] = ['github', 'gitlab', 'forgejo', 'generic']
/** Signatures with a public key. With a secret key, Depot would have to know it. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const ISSUERS_MAX = 20
/** Maximum age of a token, in seconds. Tokens of the other services are issued when the job starts. */
const GITHUB_AGE = 900
const OTHER_AGE = 3600

export const DEFAULT_CI_ISSUERS: readonly CiIssuer[] = [
  {
    issuer: 'https://token.actions.githubusercontent.com',
    kind: 'github',
    name: 'GitHub Actions',
    algorithms: ['RS256'],
    maxAgeSeconds: GITHUB_AGE,
  },
  { issuer: 'https://gitlab.com', kind: 'gitlab', name: 'GitLab', algorithms: ['RS256'], maxAgeSeconds: OTHER_AGE },
]

/** Returns the issuers of a JSON list; undefined if it is not valid. */
export function parseCiIssuers(text: string): CiIssuer[] | undefined {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(list) || list.length > ISSUERS_MAX) return undefined
  const issuers = list.map(toIssuer)
  const known = issuers.filter((issuer) => issuer !== undefined)
  const isUnique = new Set(known.map(({ issuer }) => issuer)).size === list.length
  return isUnique ? known : undefined
}

function toIssuer(entry: unknown): CiIssuer | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const {
    issuer,
    kind,
    name,
    algorithms = ['RS256'],
    max_age_seconds: maxAge,
    ...others
  } = entry as Record<string, unknown>
  if (Object.keys(others).length > 0 || typeof issuer !== 'string' || !isIssuerAddress(issuer)) return undefined
  const isKind = KINDS.some((known) => known === kind)
  const hasName = typeof name === 'string' && name.length >= 1 && name.length <= 64
  const hasAlgorithms =
    Array.isArray(algorithms) && algorithms.length > 0 && algorithms.every((each) => ALGORITHMS.includes(each))
  const age = maxAge ?? (kind === 'github' || kind === 'generic' ? GITHUB_AGE : OTHER_AGE)
  const hasAge = typeof age === 'number' && Number.isInteger(age) && age >= 60 && age <= 86_400
  if (!isKind || !hasName || !hasAlgorithms || !hasAge) return undefined
  return { issuer, kind: kind as CiKind, name, algorithms: algorithms as string[], maxAgeSeconds: age }
}

/** `http` only for this machine. Without a slash at the end, as tokens contain it. */
function isIssuerAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || /[?#@\s]|\/$/.test(text)) return false
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
  )
}
