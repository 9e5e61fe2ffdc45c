// The routes of a project's gallery. What is said of a picture stands in the query; the body is the picture.
import Type, { type Static } from 'typebox'
import { projectPermissions, requireProjectPermission } from '#features/access/project-policy.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import { readRawBody, takeRawBodies } from '#http/raw-body.ts'
import type { App } from '#http/server.ts'
import { Ordering } from '#lib/schema-parts.ts'
import { URL_LENGTH_MAX } from '#lib/text-rules.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { getProjectAsMember, type ProjectReader } from '../lookup/project-cache.ts'
import { addPicture, GALLERY_BYTES_MAX, type PictureText, removePicture, updatePicture } from './gallery.ts'

const config = { auth: { scope: ['PROJECT_WRITE'] } } as const
const about = { params: IdParams }
const path = '/v3/project/:id/gallery'

const Caption = Type.Optional(
  Type.String({ minLength: 1, maxLength: 255, description: 'The caption; `name` and `title` are the same' }),
)
const texts = {
  name: Caption,
  title: Caption,
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'A text below the caption' })),
  featured: Type.Optional(Type.Boolean({ description: 'At most one picture is featured: this one replaces another' })),
  ordering: Type.Optional(Ordering),
}
const NewPictureQuery = Type.Object({
  ext: Type.String({ maxLength: 16, description: 'png, jpg, jpeg, gif or webp' }),
  ...texts,
})
const UrlQuery = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: 'Which picture: the `url` that answers show',
  }),
})
const PictureQuery = Type.Object({ ...UrlQuery.properties, ...texts })

export function galleryRoutes(app: App, deps: Deps): void {
  app.register(async (plain) => {
    const scope = plain as App
    takeRawBodies(scope)
    scope.post(
      path,
      {
        config,
        schema: {
          operationId: 'addGalleryPicture',
          summary: 'Add a picture to the gallery',
          description: `The body is the picture itself, at most ${GALLERY_BYTES_MAX} bytes.`,
          consumes: ['image/*'],
          querystring: NewPictureQuery,
          ...about,
        },
      },
      async (req, reply) => {
        const projectId = await editableProjectId(deps, requireViewer(req), req.params.id)
        await deps.files.assertAvailable()
        const bytes = await readRawBody(req.body, { maxBytes: GALLERY_BYTES_MAX, field: 'image' })
        await addPicture(deps, { projectId, bytes, ext: req.query.ext.toLowerCase(), text: pictureText(req.query) })
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
        summary: 'Edit a gallery picture',
        querystring: PictureQuery,
        ...about,
      },
    },
    async (req, reply) => {
      const projectId = await editableProjectId(deps, requireViewer(req), req.params.id)
      await updatePicture(deps, { projectId, url: req.query.url, text: pictureText(req.query) })
      return done(reply)
    },
  )
  app.delete(
    path,
    {
      config,
      schema: {
        operationId: 'removeGalleryPicture',
        summary: 'Remove a gallery picture',
        querystring: UrlQuery,
        ...about,
      },
    },
    async (req, reply) => {
      const projectId = await editableProjectId(deps, requireViewer(req), req.params.id)
      await removePicture(deps, { projectId, url: req.query.url })
      return done(reply)
    },
  )
}

async function editableProjectId(reader: ProjectReader, viewer: Viewer, name: string): Promise<string> {
  const { project, membership } = await getProjectAsMember(reader, viewer, name)
  requireProjectPermission(projectPermissions(viewer, membership), 'EDIT_DETAILS')
  return project.id
}

/** `title` is another name of `name`, which wins. */
function pictureText(query: Omit<Static<typeof PictureQuery>, 'url'>): PictureText {
  const { name = query.title, description, featured, ordering } = query
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(featured === undefined ? {} : { featured }),
    ...(ordering === undefined ? {} : { ordering }),
  }
}
