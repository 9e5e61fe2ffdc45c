// Uploads of images for descriptions, changelogs, reports and messages.

import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { openScope } from '#platform/http/mounts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type ImageOwners, resolveTarget } from './image-target.ts'
import { ImageQuery } from './requests.ts'
import { IMAGE_BYTES_MAX, uploadImage } from './upload-image.ts'
import { ImageView } from './views.ts'

export function contentImageRoutes(app: App, deps: Deps, owners: ImageOwners): void {
  const scopes = Object.entries(owners)
    .map(([context, owner]) => `${context} ${owner.scope}`)
    .join(', ')
  openScope(app, (scope) => {
    leaveBodiesUnparsed(scope)
    scope.post('/v3/image', {
      config: {
        auth: { scope: [] },
        cost: COSTS.largePicture,
        errors: ['400 LimitReached', '400 decoding_error', '404 not_found'],
      },
      schema: {
        operationId: 'createImage',
        summary: 'Upload an image for use in a text',
        description:
          `The body is the image, at most ${IMAGE_BYTES_MAX} bytes. The token must have the scope of the context: ` +
          `${scopes}. Depot deletes an image that no text uses within one day.`,
        consumes: ['application/octet-stream'],
        querystring: ImageQuery,
        response: { 201: ImageView },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const { context, ext } = req.query
        requireScope(viewer, owners[context].scope)
        const target = await resolveTarget(owners, viewer, req.query)
        await deps.files.assertAvailable()
        const bytes = await readRawBody(req.body, { maxBytes: IMAGE_BYTES_MAX, field: 'body' })
        return reply.status(201).send(await uploadImage(deps, viewer, { context, target, bytes, ext }))
      },
    })
  })
}
