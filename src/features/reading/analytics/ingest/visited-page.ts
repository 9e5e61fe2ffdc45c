// Parses the URL of a visited page: its domain, its path and the project that it shows.
import { validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

export type PageAddress = {
  domain: string
  /** Without query and fragment. */
  site_path: string
  /** ID or slug in the path; undefined if the page does not belong to a project. */
  project: string | undefined
}

/** Parses an http or https URL. @throws ApiError `validation_error` */
export function parsePageAddress(text: string, field: string, taxonomy: Taxonomy): PageAddress {
  const url = parseWebAddress(text)
  if (url === undefined) throw validationError(field, 'must be an http or https URL')
  const [type = '', name = ''] = url.pathname.slice(1).split('/')
  const isProject = type === 'project' || taxonomy.projectTypes.includes(type)
  return {
    domain: url.hostname,
    site_path: url.pathname,
    project: isProject && /^[A-Za-z0-9._-]{1,64}$/.test(name) ? name : undefined,
  }
}

/** Returns the domain and the path of a `Referer`; both are empty if it is missing or invalid. */
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
