// The icon of the instance as a PNG, for programs that request `/favicon.ico` and do not read the page.

import type { FastifyReply } from 'fastify'
import { notFound } from '#lib/errors.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import { drawIcon } from '#platform/images/draw-card.ts'
import type { Pages } from '#web/kit/pages.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { readIcon } from '../project/card.ts'

const FAVICONS = defineCache<RememberDefinition<Buffer>>({
  name: 'favicon',
  contains: 'Icon of the instance for `/favicon.ico`',
  maxBytes: MIB,
  sizeOf: ({ length }) => length,
})
const SIDE = 48

export function faviconPage(pages: Pages): void {
  pages.open('GET', '/favicon.ico', 'siteFavicon', sendFavicon, { budget: 'asset' })
}

async function sendFavicon({ deps, page, req, reply }: PageRequest): Promise<FastifyReply> {
  const { mark, assets } = page.site
  const drawn = assets.get('mark.svg')
  if (drawn === undefined) throw notFound('page')
  const etag = entityTag(mark?.url ?? drawn.path)
  void reply.header('etag', etag).header('cache-control', 'public, max-age=86400')
  if (isUnchanged(req, reply, etag)) return reply.send()
  const bytes = await deps.cache.remember(FAVICONS).get(etag, async () => {
    const logo = await readIcon(deps, mark?.url ?? null)
    const icon = (await drawIcon(logo ?? drawn.bytes, SIDE)) ?? (await drawIcon(drawn.bytes, SIDE))
    if (icon === undefined) throw notFound('page')
    return icon
  })
  return reply.type('image/png').send(bytes)
}
