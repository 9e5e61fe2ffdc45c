import { AUTHORIZE_PAGE } from '#features/people/oauth/authorize/requests.ts'
import { PATHS } from './paths.ts'

const LENGTH_MAX = 16_384

/**
 * The path and query that `text` names on our own pages; undefined for what leads elsewhere. It comes from an address
 * or a form that anybody can write.
 */
export function ownPath(text: string): string | undefined {
  if (text.length > LENGTH_MAX || !/^\/(?!\/)/.test(text) || /[\\\p{Cc}]/u.test(text)) return undefined
  const url = URL.parse(text, 'http://local')
  // What is checked is what browsers make of it: dots resolved, which may leave two slashes at the beginning.
  if (url === null || url.host !== 'local' || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}`
}

/** The page that somebody goes on to after signing in, if `text` names one of ours; the settings otherwise. */
export function returnPath(text: string): string {
  return ownPath(text) ?? PATHS.profile
}

/** Whether the page may send the person on to an application at once. */
export function leavesSite(path: string): boolean {
  return path === AUTHORIZE_PAGE || path.startsWith(`${AUTHORIZE_PAGE}?`)
}
