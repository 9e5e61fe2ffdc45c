// Preview images of projects (Open Graph). Depot draws an image when a client first requests it, and again when its content
// has changed.

import { buffer } from 'node:stream/consumers'
import type { FastifyReply } from 'fastify'
import { imageKey } from '#features/basics/images/hosted-image.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { entityTag, viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import { CARD_HEIGHT, CARD_WIDTH, createDrawCard } from '#platform/images/draw-card.ts'
import type { Deps } from '#ports/deps.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { Page } from '#web/ui/layout.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { embedPath } from '../machines/embed.ts'

const CARDS = defineCache<RememberDefinition<Buffer>>({
  name: 'project-card',
  contains: 'Preview image of a project, by its content',
  maxBytes: 16 * MIB,
  sizeOf: ({ length }) => length,
})
/** Types of icons in cards. SVG icons are left out, because this process would have to draw them. */
const ICON_TYPES = /\.(?:png|jpe?g|webp|gif)$/

/** Returns the handler of `/card/{ID}.png`. */
export function createCardHandler(): (request: PageRequest) => Promise<FastifyReply> {
  const draw = createDrawCard()
  return async ({ deps, page, req, reply, param }) => {
    const id = param('id')
    if (!isIdForm(id)) throw notFound('page')
    // Without a viewer, because other sites show the card to everyone.
    const project = await getProject(deps, null, id)
    if (project.id !== id) throw notFound('page')
    const { name, summary, color, icon_url } = viewOf(project)
    const { name: footer, mark } = page.site
    // A hash of the content: a cached card is never older than its project.
    const etag = entityTag(JSON.stringify([name, summary, color, icon_url, footer, mark?.url]))
    void reply
      .header('etag', etag)
      .header('cache-control', 'public, max-age=0, must-revalidate')
      // Other sites show the card as the thumbnail of an embedded project.
      .header('cross-origin-resource-policy', 'cross-origin')
    if (isUnchanged(req, reply, etag)) return reply.send()
    const bytes = await deps.cache.remember(CARDS).get(etag, async () => {
      const [icon, logo] = await Promise.all([readIcon(deps, icon_url), readIcon(deps, mark?.url ?? null)])
      return draw({ title: name, text: summary, footer, color, icon, mark: logo }, callerOf(req))
    })
    return reply.type('image/png').header('x-content-type-options', 'nosniff').send(bytes)
  }
}

/** Returns the content of an icon of Depot; undefined without an icon, or for an SVG. */
export async function readIcon(
  deps: Pick<Deps, 'files' | 'config'>,
  url: string | null,
): Promise<Uint8Array | undefined> {
  if (url === null || !ICON_TYPES.test(url)) return undefined
  const opened = await deps.files.open(imageKey(url))
  return opened === undefined ? undefined : buffer(opened.stream)
}

/** Returns the properties with which other sites show a link to a project, without a card if the project is not public. */
export function cardOf({ site }: PageContext, view: ProjectView): Pick<Page, 'openGraph' | 'embed'> {
  if (!isPublicStatus(view.status)) return { openGraph: { type: 'website' } }
  const size = { width: CARD_WIDTH, height: CARD_HEIGHT }
  const image = { url: `${site.url}/card/${view.id}.png`, type: 'image/png', alt: view.name, ...size }
  return { openGraph: { type: 'website', image }, embed: embedPath({ site }, projectPath(view)) }
}
