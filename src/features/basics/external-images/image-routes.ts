// Serves images of other hosts: the stored copy, a placeholder while the source does not respond, or 404, for which browsers
// show the alternative text.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSignedPath } from '#lib/access/signed-url.ts'
import { notFound } from '#lib/errors.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import type { ExternalImages, StoredRow } from './external-images.ts'
import { ExternalImageParams } from './requests.ts'

/** A block of a moderator takes effect in browsers after this time. */
const CACHED_SECONDS = 300
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
const PLACEHOLDER =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="20"><rect width="64" height="20" rx="3" fill="#888" fill-opacity=".25"/></svg>'

export function externalImageRoute(app: App, deps: Pick<Deps, 'files'>, images: ExternalImages): void {
  app.get('/external/:signature/:encoded', {
    config: { auth: 'public', budget: 'asset', errors: ['304'] },
    schema: { operationId: 'siteExternalImage', hide: true, params: ExternalImageParams },
    handler: async (req, reply) => {
      const url = readSignedPath(await images.key(), req.params)
      if (url === undefined) throw notFound('image')
      const shown = await images.read(url)
      const first = shown.state === 'stored' ? await openImage(deps, shown.row) : undefined
      // The file is missing after the store was moved or restored.
      const image = shown.state === 'stored' && first === undefined ? await images.renew(url) : shown
      if (image.state === 'absent') throw notFound('image')
      const opened = first ?? (image.state === 'stored' ? await openImage(deps, image.row) : undefined)
      if (image.state === 'waiting' || opened === undefined) return sendPlaceholder(reply)
      return sendImage(req, reply, { row: image.row, opened })
    },
  })
}

const openImage = ({ files }: Pick<Deps, 'files'>, { storage_key }: StoredRow) => files.open(storage_key)

type Opened = NonNullable<Awaited<ReturnType<typeof openImage>>>

function sendImage(
  req: FastifyRequest,
  reply: FastifyReply,
  { row, opened }: { row: StoredRow; opened: Opened },
): never {
  const etag = `"${row.storage_key.slice(row.storage_key.lastIndexOf('/') + 1)}"`
  void protect(reply).header('etag', etag).header('cache-control', `public, max-age=${CACHED_SECONDS}`)
  if (isUnchanged(req, reply, etag)) {
    opened.stream.destroy()
    return sendRaw(reply)
  }
  return sendRaw(reply.type(row.content_type).header('content-length', opened.sizeBytes), opened.stream)
}

function sendPlaceholder(reply: FastifyReply): never {
  return sendRaw(protect(reply).header('cache-control', 'public, max-age=5').type('image/svg+xml'), PLACEHOLDER)
}

const protect = (reply: FastifyReply): FastifyReply =>
  reply.header('x-content-type-options', 'nosniff').header('content-security-policy', INERT)
