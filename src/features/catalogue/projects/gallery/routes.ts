// Routes for the gallery of a project.

import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { openScope } from '#platform/http/mounts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getProjectAsMember } from '../lookup/project-cache.ts'
import { addGalleryImage } from './add-gallery-image.ts'
import { removeGalleryImage, updateGalleryImage } from './edit-gallery.ts'
import { GALLERY_BYTES_MAX, ImageQuery, NewImageQuery, toGalleryImageFields, UrlQuery } from './requests.ts'

const config = { auth: { scope: ['PROJECT_WRITE'] }, limitedTokens: 'resource' } as const
const about = { params: ProjectParams }

export function galleryRoutes(app: App, deps: Deps, prefix: string): void {
  const path = `${prefix}/project/:id/gallery`
  openScope(app, (scope) => {
    leaveBodiesUnparsed(scope)
    scope.post(path, {
      config: { ...config, cost: COSTS.largePicture, errors: ['500 file_hosting_error'] },
      schema: {
        operationId: 'addGalleryPicture',
        summary: 'Add an image to the gallery',
        description: `The body is the image: at most ${GALLERY_BYTES_MAX / 1024 ** 2} MiB.`,
        consumes: ['application/octet-stream'],
        querystring: NewImageQuery,
        ...about,
      },
      handler: async (req) => {
        const viewer = requireViewer(req)
        const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
        await deps.files.assertAvailable()
        await addGalleryImage(deps, viewer, {
          projectId: project.id,
          membership,
          readBytes: () => readRawBody(req.body, { maxBytes: GALLERY_BYTES_MAX, field: 'image' }),
          ext: req.query.ext.toLowerCase(),
          fields: toGalleryImageFields(req.query),
        })
      },
    })
  })
  app.patch(path, {
    config,
    schema: {
      operationId: 'updateGalleryPicture',
      summary: 'Edit a gallery image, or restore a deleted one',
      description: 'An image that was deleted in the last 10 minutes is restored, also without any field.',
      querystring: ImageQuery,
      ...about,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      const { url, ...query } = req.query
      const fields = toGalleryImageFields(query)
      await updateGalleryImage(deps, viewer, { projectId: project.id, membership, url, fields })
    },
  })
  app.delete(path, {
    config,
    schema: {
      operationId: 'removeGalleryPicture',
      summary: 'Delete a gallery image',
      description:
        'The image leaves the gallery immediately. Its files are deleted after 10 minutes; until then, `PATCH` with its URL restores it.',
      querystring: UrlQuery,
      ...about,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      await removeGalleryImage(deps, viewer, { projectId: project.id, membership, url: req.query.url })
    },
  })
}
