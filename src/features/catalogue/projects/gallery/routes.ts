// The gallery of a project.

import { requireViewer } from '#platform/http/auth/auth.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { ProjectParams } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getProjectAsMember } from '../lookup/project-cache.ts'
import { addGalleryImage } from './add-gallery-image.ts'
import { removePicture } from './remove-picture.ts'
import { GALLERY_BYTES_MAX, NewPictureQuery, PictureQuery, pictureText, UrlQuery } from './requests.ts'
import { updatePicture } from './update-picture.ts'

const config = { auth: { scope: ['PROJECT_WRITE'] } } as const
const about = { params: ProjectParams }
const path = '/v3/project/:id/gallery'

export function galleryRoutes(app: App, deps: Deps): void {
  app.register(async (plain) => {
    const scope = plain as App
    leaveBodiesUnparsed(scope)
    scope.post(
      path,
      {
        config: { ...config, cost: COSTS.largePicture },
        schema: {
          operationId: 'addGalleryPicture',
          summary: 'Add an image to the gallery',
          description: `The body is the image itself, at most ${GALLERY_BYTES_MAX} bytes.`,
          consumes: ['image/*'],
          querystring: NewPictureQuery,
          ...about,
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
        await deps.files.assertAvailable()
        await addGalleryImage(deps, viewer, {
          projectId: project.id,
          membership,
          readBytes: () => readRawBody(req.body, { maxBytes: GALLERY_BYTES_MAX, field: 'image' }),
          ext: req.query.ext.toLowerCase(),
          text: pictureText(req.query),
        })
        return done(reply)
      },
    )
  })
  app.patch(
    path,
    {
      config,
      schema: {
        operationId: 'updateGalleryPicture',
        summary: 'Edit a gallery image',
        querystring: PictureQuery,
        ...about,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      const { url, ...query } = req.query
      await updatePicture(deps, viewer, { projectId: project.id, membership, url, text: pictureText(query) })
      return done(reply)
    },
  )
  app.delete(
    path,
    {
      config,
      schema: {
        operationId: 'removeGalleryPicture',
        summary: 'Delete a gallery image',
        querystring: UrlQuery,
        ...about,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      await removePicture(deps, viewer, { projectId: project.id, membership, url: req.query.url })
      return done(reply)
    },
  )
}
