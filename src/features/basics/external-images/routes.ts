// Routes with which moderators block images of other hosts.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { PageQuery } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { blockExternalImage } from './block-external-image.ts'
import { countBlockedImages, listBlockedImages } from './queries.ts'
import { ExternalImageBlock } from './requests.ts'
import { unblockExternalImage } from './unblock-external-image.ts'
import { BlockedImagesView, toBlockedImageView } from './views.ts'

const WRITE = { auth: { scope: ['PROJECT_WRITE'] }, role: 'moderator' } as const

export function externalImageRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now'>): void {
  app.get('/moderation/blocked_images', {
    config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listBlockedImages',
      summary: 'List the blocked images of other hosts',
      description: 'Newest first.',
      querystring: PageQuery,
      response: { 200: BlockedImagesView },
    },
    handler: async ({ query: { limit = 100, offset = 0 } }) => ({
      total: await countBlockedImages(deps.db),
      images: (await listBlockedImages(deps.db, { limit, offset })).map(toBlockedImageView),
    }),
  })
  app.post('/moderation/blocked_images', {
    config: WRITE,
    schema: {
      operationId: 'blockImage',
      summary: 'Block an image of another host',
      description:
        'Deletes the cached copy. No text shows the image until a moderator lifts the block; browsers can show their copy for ' +
        '5 more minutes. Does nothing if the image is blocked.',
      body: ExternalImageBlock,
    },
    handler: (req): Promise<void> => blockExternalImage(deps, requireViewer(req), req.body.url),
  })
  app.delete('/moderation/blocked_images', {
    config: { ...WRITE, errors: ['404 not_found'] },
    schema: {
      operationId: 'unblockImage',
      summary: 'Lift the block of an image of another host',
      querystring: ExternalImageBlock,
    },
    handler: (req): Promise<void> => unblockExternalImage(deps, requireViewer(req), req.query.url),
  })
}
