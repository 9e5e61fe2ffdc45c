// oEmbed (https://oembed.com): how other sites show a link to a project, a user, an organization, a collection or a pack.

import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listCollections } from '#features/community/collections/queries.ts'
import { getOrganization } from '#features/community/organizations/organization-cache.ts'
import { findPackBySlug } from '#features/community/packs/queries.ts'
import { getCachedUser, listCachedUsers } from '#features/people/users/user-cache.ts'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { CARD_HEIGHT, CARD_WIDTH } from '#platform/images/draw-card.ts'
import { PATHS, PROJECT_TYPES, userPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { xml } from '../feeds/atom.ts'
import { rowsWithAuthors } from '../lists/row-details.ts'
import { sendDocument } from './send-document.ts'

const FORMATS = ['json', 'xml'] as const
const ICON_SIDE = 96
const CACHE_SECONDS = 3600
const PROJECT_SEGMENTS: readonly string[] = [...PROJECT_TYPES, 'project']

/** The parts of a link on another site. `image`: URL of an image of `ICON_SIDE` pixels; `card`: URL of a larger preview. */
type Embedded = {
  title: string
  by?: { name: string; path: string }
  image: string | null
  card?: string
  modifiedAt: number
}

/** Returns the URL of the document about a page. */
export const embedPath = ({ site }: Pick<PageContext, 'site'>, path: string): string =>
  withQuery(PATHS.embed, { url: `${site.url}${path}`, format: 'json' })

/** Sends the document. Errors are JSON, because programs read them. */
export async function sendEmbed(request: PageRequest): Promise<FastifyReply> {
  try {
    return await sendEmbedded(request)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const body = JSON.stringify({ error: error.kind, description: error.message })
    void request.reply.status(error.status).header('cache-control', 'no-cache')
    return request.reply.type('application/json; charset=utf-8').send(body)
  }
}

async function sendEmbedded(request: PageRequest): Promise<FastifyReply> {
  const { page, query } = request
  const written = query('format')
  const format = written === '' ? 'json' : FORMATS.find((name) => name === written)
  if (format === undefined) throw invalidInput('format must be json or xml', 'format')
  const [width, height] = [sideOf(query('maxwidth'), 'maxwidth'), sideOf(query('maxheight'), 'maxheight')]
  const { url, name } = page.site
  const { title, by, modifiedAt, ...images } = await findEmbedded(request, segmentsOf(query('url'), url))
  const fields = {
    version: '1.0',
    type: 'link',
    title,
    ...(by === undefined ? {} : { author_name: by.name, author_url: `${url}${by.path}` }),
    provider_name: name,
    provider_url: url,
    cache_age: CACHE_SECONDS,
    ...thumbnailOf(images, { width, height }),
  }
  return sendDocument(request, {
    type: format === 'json' ? 'application/json; charset=utf-8' : 'text/xml; charset=utf-8',
    body: format === 'json' ? JSON.stringify(fields) : toXml(fields),
    cacheControl: 'public, max-age=0, must-revalidate',
    modifiedAt,
  })
}

/** Reads without a viewer, because other sites show the response to everyone. @throws ApiError 404 */
async function findEmbedded(request: PageRequest, [kind = '', name = '', slug = '']: string[]): Promise<Embedded> {
  const { deps, page } = request
  // Their documents have no time of the last change.
  const modifiedAt = deps.now()
  if (PROJECT_SEGMENTS.includes(kind)) {
    const project = await getProject(deps, null, name)
    const [row] = await rowsWithAuthors(request, [project])
    if (row === undefined) throw notFound('project')
    const card = `${page.site.url}/card/${project.id}.png`
    const by = row.by === undefined ? {} : { by: row.by }
    return { title: row.name, ...by, image: row.iconUrl, card, modifiedAt: Date.parse(row.updated) }
  }
  if (kind === 'user') {
    const user = viewOf(await getCachedUser(deps, name))
    return { title: user.username, image: user.avatar_url, modifiedAt }
  }
  if (kind === 'organization') {
    const organization = viewOf(await getOrganization(deps, name))
    return { title: organization.name, image: organization.icon_url, modifiedAt }
  }
  if (kind === 'collection') {
    const [collection] = isIdForm(name) ? await listCollections(deps.db, null, [name]) : []
    if (collection === undefined) throw notFound('collection')
    const by = await authorOf(request, collection.account_id)
    return { title: collection.name, ...by, image: imageUrl(deps.config, collection.icon_url), modifiedAt }
  }
  if (kind === 'pack') {
    const accountId = viewOf(await getCachedUser(deps, name)).id
    const pack = await findPackBySlug(deps.db, null, { accountId, slug })
    if (pack === undefined) throw notFound('pack')
    return { title: pack.name, ...(await authorOf(request, accountId)), image: null, modifiedAt }
  }
  throw notFound('page')
}

async function authorOf({ deps }: PageRequest, accountId: string): Promise<Pick<Embedded, 'by'>> {
  const [user] = await listCachedUsers(deps, [accountId])
  return user === undefined ? {} : { by: { name: user.username, path: userPath(user.username) } }
}

/** Returns the icon, otherwise the preview image. The specification forbids a thumbnail that is larger than requested. */
function thumbnailOf(
  { image, card }: Pick<Embedded, 'image' | 'card'>,
  { width, height }: { width: number; height: number },
): object {
  const url = image ?? card
  const [wide, high] = image === null ? [CARD_WIDTH, CARD_HEIGHT] : [ICON_SIDE, ICON_SIDE]
  if (url === undefined || wide > width || high > height) return {}
  return { thumbnail_url: url, thumbnail_width: wide, thumbnail_height: high }
}

/** Returns the first parts of the path of a page of this site. @throws ApiError 404 for other URLs */
function segmentsOf(text: string, base: string): string[] {
  const prefix = new URL(base)
  const address = URL.parse(text)
  const folder = prefix.pathname.replace(/\/$/, '')
  if (address?.origin !== prefix.origin || !address.pathname.startsWith(`${folder}/`)) throw notFound('page')
  try {
    return address.pathname
      .slice(folder.length + 1)
      .split('/', 3)
      .map(decodeURIComponent)
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
