// Where an application may have people sent back to: what may be registered, and when an address in a request is one
// of those (RFC 9700, 2.1: exact comparison; RFC 8252, 7.3: the port of a loopback address is the program's choice).
import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'

/** `http://` is for a program on the person's own machine, where nobody else can listen in. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[1-9]\d{0,4})?([/?].*)?$/s
/** A scheme that an installed program has for itself: a domain name in reverse (RFC 8252, 7.1). */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** What is wrong with an address that is to be registered, as the end of a sentence; undefined when nothing is. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters long`
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'must be ASCII without spaces'
  const url = URL.parse(uri)
  if (url === null) return 'must be an absolute address'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.hostname.includes('*')) return 'must not have a wildcard'
  if (url.protocol === 'https:')
    return url.hostname.endsWith('.') ? 'must not end its host name with a dot' : spellingProblem(url, uri)
  if (url.protocol === 'http:')
    return LOOPBACK.test(uri)
      ? spellingProblem(url, uri)
      : 'must be https, unless it is on 127.0.0.1, [::1] or localhost'
  if (!PRIVATE_SCHEME.test(url.protocol)) return 'must be https, or have a scheme such as org.example.app'
  return spellingProblem(url, uri)
}

/** Addresses are compared letter by letter, so only the spelling that every program makes of them is of use. */
function spellingProblem(url: URL, uri: string): string | undefined {
  return url.href === uri || url.href === `${uri}/` ? undefined : `must be spelt ${url.href}`
}

/** Whether a request's address is the registered one. */
export function matchesRedirectUri(registered: string, given: string): boolean {
  if (registered === given) return true
  const ours = LOOPBACK.exec(registered)
  const theirs = LOOPBACK.exec(given)
  if (ours === null || theirs === null || URL.parse(given) === null) return false
  return ours[1] === theirs[1] && ours[2] === theirs[2]
}

/**
 * The address with parameters added to what it has. Registered addresses have no fragment, and matching ones are
 * spelt like them.
 */
export function withParameters(uri: string, parameters: Record<string, string | null | undefined>): string {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null) added.set(name, value)
  }
  const sign = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return `${uri}${sign}${added}`
}
