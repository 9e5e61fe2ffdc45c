import { AUTHORIZE_PAGE } from '#features/oauth/authorize/authorize-page.ts'
import { PATHS } from './paths.ts'

const LENGTH_MAX = 16_384

/**
 * The page that somebody goes on to after signing in, if `text` names one of ours; the settings otherwise. It comes
 * from an address anybody can write, so nothing leads elsewhere.
 */
export function returnPath(text: string): string {
  if (text.length > LENGTH_MAX || !/^\/account(?:[/?]|$)/.test(text) || /[\\\p{Cc}]/u.test(text)) return PATHS.profile
  const url = URL.parse(text, 'http://local')
  // What is checked is what browsers make of it: dots resolved.
  if (url === null || url.host !== 'local' || !/^\/account(?:\/|$)/.test(url.pathname)) return PATHS.profile
  return `${url.pathname}${url.search}`
}

/** Whether the page may send the person on to an application at once. */
export function leadsOutside(path: string): boolean {
  return path === AUTHORIZE_PAGE || path.startsWith(`${AUTHORIZE_PAGE}?`)
}
