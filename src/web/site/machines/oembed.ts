// The oEmbed description of a project's pages: https://oembed.com. The pages announce it.
import type { FastifyReply } from 'fastify'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { PROJECT_TYPES } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { xml } from '../feeds/atom.ts'
import { rowsWithAuthors } from '../lists/row-details.ts'
import { sendDocument } from './send-document.ts'

const FORMATS = ['json', 'xml'] as const
const ICON_SIDE = 96
const CACHE_SECONDS = 3600
const PROJECT_PAGE = new RegExp(`^/(?:${[...PROJECT_TYPES, 'project'].join('|')})/([^/]+)(?:/|$)`)

export async function sendEmbed(request: PageRequest): Promise<FastifyReply> {
  const { deps, page, query } = request
  const written = query('format')
  const format = written === '' ? 'json' : FORMATS.find((name) => name === written)
  if (format === undefined) throw invalidInput('format must be json or xml', 'format')
  const largest = Math.min(sideOf(query('maxwidth'), 'maxwidth'), sideOf(query('maxheight'), 'maxheight'))
  // Without a viewer, because other sites show the response to everyone.
  const project = await getProject(deps, null, projectOf(query('url'), page.site.url))
  const [row] = await rowsWithAuthors(request, [project])
  if (row === undefined) throw notFound('project')
  const { url, name } = page.site
  const icon = { thumbnail_url: row.iconUrl, thumbnail_width: ICON_SIDE, thumbnail_height: ICON_SIDE }
  const fields = {
    version: '1.0',
    type: 'link',
    title: row.name,
    ...(row.by === undefined ? {} : { author_name: row.by.name, author_url: `${url}${row.by.path}` }),
    provider_name: name,
    provider_url: url,
    cache_age: CACHE_SECONDS,
    ...(row.iconUrl === null || largest < ICON_SIDE ? {} : icon),
  }
  return sendDocument(request, {
    type: format === 'json' ? 'application/json; charset=utf-8' : 'text/xml; charset=utf-8',
    body: format === 'json' ? JSON.stringify(fields) : toXml(fields),
    cacheControl: 'public, max-age=0, must-revalidate',
    modifiedAt: Date.parse(row.updated),
  })
}

/** Returns the slug or ID in the URL of a page of this site. @throws ApiError 404 for other URLs */
function projectOf(text: string, base: string): string {
  const prefix = new URL(base)
  const address = URL.parse(text)
  const folder = prefix.pathname.replace(/\/$/, '')
  const isOwn = address?.origin === prefix.origin && address.pathname.startsWith(`${folder}/`)
  const slug = isOwn ? PROJECT_PAGE.exec(address.pathname.slice(folder.length))?.[1] : undefined
  if (slug === undefined) throw notFound('page')
  try {
    return decodeURIComponent(slug)
  } catch {
    throw invalidInput('url has a malformed percent-encoding', 'url')
  }
}

function sideOf(text: string, field: string): number {
  if (text === '') return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,5}$/.test(text)) throw invalidInput(`${field} must be a number of pixels`, field)
  return Number(text)
}

function toXml(fields: Readonly<Record<string, unknown>>): string {
  const elements = Object.entries(fields).map(([key, value]) => `<${key}>${xml(String(value))}</${key}>`)
  return `<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<oembed>${elements.join('')}</oembed>\n`
}
