// The setting SIGN_IN_PROVIDERS: services whose accounts sign in.
import { Secret } from '#lib/access/secret.ts'

/** A service whose accounts sign in. `oidc`: OpenID Connect. GitHub and Discord have their own routes. */
export type SignInProvider = {
  id: string
  kind: 'oidc' | 'github' | 'discord'
  name: string
  /** URL without a slash at the end, unless the service has it in its tokens. */
  issuer: string
  clientId: string
  clientSecret: Secret
}

type Preset = Pick<SignInProvider, 'kind'> & { name?: string; issuer?: string }

const PRESETS: Readonly<Record<string, Preset>> = {
  oidc: { kind: 'oidc' },
  google: { kind: 'oidc', name: 'Google', issuer: 'https://accounts.google.com' },
  gitlab: { kind: 'oidc', name: 'GitLab', issuer: 'https://gitlab.com' },
  github: { kind: 'github', name: 'GitHub', issuer: 'https://github.com' },
  discord: { kind: 'discord', name: 'Discord', issuer: 'https://discord.com' },
}
const PROVIDERS_MAX = 10

/** Returns the providers of a JSON list; undefined if it is not valid. */
export function parseSignInProviders(text: string): SignInProvider[] | undefined {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(list) || list.length > PROVIDERS_MAX) return undefined
  const known = list.map(toProvider).filter((provider) => provider !== undefined)
  return new Set(known.map(({ id }) => id)).size === list.length ? known : undefined
}

function toProvider(entry: unknown): SignInProvider | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { kind, id = kind, client_id: clientId, client_secret: secret, ...rest } = entry as Record<string, unknown>
  const preset = typeof kind === 'string' && Object.hasOwn(PRESETS, kind) ? PRESETS[kind] : undefined
  if (preset === undefined) return undefined
  const { name = preset.name, issuer = preset.issuer, ...others } = rest
  const isText = (value: unknown, max: number): value is string =>
    typeof value === 'string' && value.trim() !== '' && value.length <= max
  if (Object.keys(others).length > 0 || !isText(name, 64) || !isText(clientId, 512) || !isText(secret, 1024))
    return undefined
  if (typeof id !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/.test(id) || id === 'code-host') return undefined
  if (!isText(issuer, 512) || !isServiceAddress(issuer)) return undefined
  return { id, kind: preset.kind, name, issuer, clientId, clientSecret: new Secret(secret) }
}

/** `http` only for this machine. */
function isServiceAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || /[?#@\s]/.test(text)) return false
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
  )
}
