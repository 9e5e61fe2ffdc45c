// Pictures for texts: descriptions, changelogs, reports and messages (facts/catalogue.md 2.4).
import { requireScope, requireViewer } from '#http/auth.ts'
import { readRawBody, takeRawBodies } from '#http/raw-body.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { type ImageOwners, resolvePlace } from './image-place.ts'
import { IMAGE_BYTES_MAX, uploadImage } from './upload-image.ts'
import { ImageQuery, ImageView, toImageView } from './views.ts'

export function contentImageRoutes(app: App, deps: Deps, owners: ImageOwners): void {
  app.register(async (scope: App) => {
    takeRawBodies(scope)
    scope.post(
      '/v3/image',
      {
        config: { auth: { scope: [] } },
        schema: {
          operationId: 'createImage',
          summary: 'Upload a picture for a text',
          description: `The body is the picture, at most ${IMAGE_BYTES_MAX} bytes. The token needs the scope of the context: ${Object.entries(
            owners,
          )
            .map(([context, { scope: name }]) => `${context} ${name}`)
            .join(', ')}. Without the ID of a place the picture waits for a day until one names it.`,
          consumes: ['image/*'],
          querystring: ImageQuery,
          response: { 201: ImageView },
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const { context, ext } = req.query
        requireScope(viewer, owners[context].scope)
        const place = await resolvePlace(owners, viewer, req.query)
        await deps.files.assertAvailable()
        const bytes = await readRawBody(req.body, { maxBytes: IMAGE_BYTES_MAX, field: 'body' })
        const image = await uploadImage(deps, viewer, { context, place, bytes, ext })
        return reply.status(201).send(toImageView(image))
      },
    )
  })
}
