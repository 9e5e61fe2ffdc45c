// What the address of a visited page says: where it was, and which project it shows.
import { validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'

export type PageAddress = {
  domain: string
  /** Without query and fragment. */
  site_path: string
  /** ID or slug as the path names it; undefined when the page is no project's. */
  project: string | undefined
}

/** @throws ApiError `validation_error` for what is no web address with a host. */
export function parsePageAddress(text: string, field: string, taxonomy: Taxonomy): PageAddress {
  const url = parseWebAddress(text)
  if (url === undefined) throw validationError(field, 'must be an http or https address')
  const [place = '', name = ''] = url.pathname.slice(1).split('/')
  const isProject = place === 'project' || taxonomy.projectTypes.includes(place)
  return {
    domain: url.hostname,
    site_path: url.pathname,
    project: isProject && /^[A-Za-z0-9._-]{1,64}$/.test(name) ? name : undefined,
  }
}

/** Host and path of a `Referer`; both empty where there is none worth the name. */
export function parseReferrer(text: string | undefined): { domain: string; site_path: string } {
  const url = text === undefined ? undefined : parseWebAddress(text)
  return url === undefined ? { domain: '', site_path: '' } : { domain: url.hostname, site_path: url.pathname }
}

function parseWebAddress(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== ''
    ? url
    : undefined
}
