// Drawn cards of projects (Open Graph): a PNG for each, drawn when it is first asked for and again when what it shows
// has changed.

import { buffer } from 'node:stream/consumers'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { imageKey } from '#features/basics/images/hosted-image.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { isPublicStatus } from '#lib/project-status.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import type { Page } from '#platform/html/layout.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { matchesEntityTag } from '#platform/http/responses/entity-tags.ts'
import { CARD_HEIGHT, CARD_WIDTH, type Card, createDrawCard } from '#platform/images/draw-card.ts'
import type { Deps } from '#ports/deps.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { viewOf } from '../lists/rows.ts'

const KEPT_BYTES = 16 * 1024 * 1024
/** Icons are at most 256 KiB; a drawing is left out, because it would be drawn in this process. */
const ICON_KINDS = /\.(?:png|jpe?g|webp|gif)$/

export type SendCard = (request: SiteRequest) => Promise<FastifyReply>

/** The handler of `/card/{ID}.png`. */
export function createCards(): SendCard {
  const draw = createDrawCard()
  // By the tag, which stands for everything that the card shows: what is found is never older than the project.
  const kept = new LRUCache<string, Buffer>({ maxSize: KEPT_BYTES, sizeCalculation: ({ length }) => length })
  const drawing = new Map<string, Promise<Buffer>>()
  const drawOnce = async (tag: string, card: () => Promise<Card>, caller: string): Promise<Buffer> => {
    const known = kept.get(tag) ?? drawing.get(tag)
    if (known !== undefined) return known
    const made = card().then((drawn) => draw(drawn, caller))
    drawing.set(tag, made)
    try {
      const bytes = await made
      kept.set(tag, bytes)
      return bytes
    } finally {
      drawing.delete(tag)
    }
  }
  return async ({ deps, page, req, reply, param }) => {
    const id = param('id')
    if (!isIdForm(id)) throw notFound('page')
    // As anybody: other sites show the card to others than who asked for it.
    const project = await getProject(deps, null, id)
    if (project.id !== id) throw notFound('page')
    const view = viewOf(project)
    const { name, summary, color, icon_url } = view
    const { name: footer, mark } = page.site
    const etag = entityTag(JSON.stringify([name, summary, color, icon_url, footer, mark?.url]))
    void reply.header('etag', etag).header('cache-control', 'public, max-age=0, must-revalidate')
    const known = req.headers['if-none-match']
    if (known !== undefined && matchesEntityTag(known, etag)) return reply.status(304).send()
    const read = async (): Promise<Card> => {
      const [icon, markIcon] = await Promise.all([readIcon(deps, icon_url), readIcon(deps, mark?.url ?? null)])
      return { title: name, text: summary, footer, color, icon, mark: markIcon }
    }
    const bytes = await drawOnce(etag, read, callerOf(req))
    return reply.type('image/png').header('x-content-type-options', 'nosniff').send(bytes)
  }
}

async function readIcon(deps: Pick<Deps, 'files' | 'config'>, url: string | null): Promise<Uint8Array | undefined> {
  const key = imageKey(deps.config, url)
  if (key === undefined || !ICON_KINDS.test(key)) return undefined
  const opened = await deps.files.open(key)
  return opened === undefined ? undefined : buffer(opened.stream)
}

/** What the head of a project's pages says of its card; nothing of one that others may not see. */
export function cardOf({ page }: Pick<SiteRequest, 'page'>, view: ProjectView): Pick<Page, 'openGraph'> {
  if (!isPublicStatus(view.status)) return { openGraph: { type: 'website' } }
  const image = { url: `${page.site.url}/card/${view.id}.png`, alt: view.name, width: CARD_WIDTH, height: CARD_HEIGHT }
  return { openGraph: { type: 'website', image } }
}
