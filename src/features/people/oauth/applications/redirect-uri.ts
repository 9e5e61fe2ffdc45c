// Validates and compares redirect URIs. The comparison is exact (RFC 9700, 2.1), except that the port of a loopback URI
// can differ (RFC 8252, 7.3).
import { isHostName, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'

/** `http://` is allowed only for a program on the user's own machine, where no one else can intercept the code. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[1-9]\d{0,4})?([/?].*)?$/s
/** The private scheme of an installed program: a domain name in reverse order (RFC 8252, 7.1). */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Returns the problem of a URI as a predicate (“must be …”); undefined if the URI can be registered. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters long`
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'must be ASCII without spaces'
  const url = URL.parse(uri)
  if (url === null) return 'must be an absolute URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a username or password'
  if (uri.includes('#')) return 'must not contain a fragment'
  if (url.hostname.includes('*')) return 'must not contain a wildcard'
  if (url.protocol === 'https:')
    return isHostName(url.hostname) || url.hostname.startsWith('[')
      ? spellingProblem(url, uri)
      : 'must have a host name of letters, digits and hyphens, without a final dot, or an IP address'
  if (url.protocol === 'http:')
    return LOOPBACK.test(uri)
      ? spellingProblem(url, uri)
      : 'must use https unless the host is 127.0.0.1, [::1] or localhost'
  if (!PRIVATE_SCHEME.test(url.protocol)) return 'must use https or a scheme such as org.example.app'
  return spellingProblem(url, uri)
}

/** Requires the normalized form, because URIs are compared character by character. */
function spellingProblem(url: URL, uri: string): string | undefined {
  return url.href === uri || url.href === `${uri}/` ? undefined : `must be written as ${url.href}`
}

/** Returns whether the URI of a request matches a registered URI. */
export function matchesRedirectUri(registered: string, requested: string): boolean {
  if (registered === requested) return true
  const a = LOOPBACK.exec(registered)
  const b = LOOPBACK.exec(requested)
  if (a === null || b === null || URL.parse(requested) === null) return false
  return a[1] === b[1] && a[2] === b[2]
}

/** Returns a redirect URI with added query parameters. Redirect URIs have no fragment. */
export function withParameters(uri: string, parameters: Record<string, string | null | undefined>): string {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null) added.set(name, value)
  }
  const sign = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return `${uri}${sign}${added}`
}
