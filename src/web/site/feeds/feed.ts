// A feed of projects or releases.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { PageRequest } from '#web/kit/request.ts'

/** Number of entries of a page. */
export const ENTRIES = 50

/** Older entries are on further pages, at most this many. */
export const PAGES_MAX = 20

export type Entry = {
  /** ID of the project or version. */
  id: string
  kind: 'project' | 'version'
  path: string
  title: string
  /** Plain text; of a release its short description. */
  summary: string
  /** Markdown of the changelog, or undefined. */
  markdown?: string
  /** The project of the changelog, in whose repository relative links lead to files. */
  project?: Pick<ProjectView, 'link_urls'>
  published: string
  updated: string
  author?: { name: string; path: string }
  tags: readonly string[]
  /** The primary file of a version. */
  file?: { url: string; filename: string; size: number; type: string }
  /** Changes with the content, so that it need not be rendered to compare it. */
  etag: string
}

export type Feed = {
  title: string
  description?: string
  /** The page with the same content. */
  path: string
  entries: readonly Entry[]
  hasMore: boolean
  /** When the subject of an empty feed has changed. Default: when the instance was created. */
  changed?: string
  /** Whether the address is a secret, which nobody else should know. */
  isSecret?: boolean
}

/** A feed with its addresses. */
export type Document = Feed & {
  instance: string
  self: string
  next: string | undefined
  updated: string
  /** HTML of each entry with Markdown. */
  rendered: readonly (string | undefined)[]
}

export type Format = 'atom' | 'json'

/** Returns the number of the page of a feed, from 1. */
export function pageOf({ query }: Pick<PageRequest, 'query'>): number {
  const page = /^\d{1,3}$/.test(query('page')) ? Number(query('page')) : 1
  return Math.min(Math.max(page, 1), PAGES_MAX)
}

/** Returns an identifier that stays the same when the address of the instance changes. */
export function stableId(instance: string, kind: string, id: string): string {
  return `urn:depot:${instance}:${kind}:${encodeURIComponent(id)}`
}
