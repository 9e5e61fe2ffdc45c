// The requests of tus: for programs at `/v3/upload`, and for the script of the upload page.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { invalidInput } from '#lib/errors.ts'
import { done, sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { appendToUpload } from './append-to-upload.ts'
import { createUpload } from './create-upload.ts'
import { deleteUpload } from './delete-upload.ts'
import {
  hasPart,
  readChecksum,
  readLength,
  readMetadata,
  readSize,
  rejectConcatenation,
  requireTus,
  TUS_VERSION,
} from './headers.ts'
import { requireUploadScope } from './policy.ts'
import { getUpload } from './queries.ts'
import { offsetHeaders, stateHeaders } from './views.ts'

type UploadRequest = FastifyRequest<{ Params: { id: string } }>
export type UploadHandlers = ReturnType<typeof uploadHandlers>

/** Prepares a scope for the handlers, which read the bodies. */
export function acceptParts(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_req, payload, done) => done(null, payload))
  scope.addHook('onRequest', (_req, reply, done) => {
    void reply.header('tus-resumable', TUS_VERSION)
    done()
  })
}

/** @param path of the uploads, below the public URL. */
export function uploadHandlers(deps: Deps, path: string) {
  const base = new URL(deps.config.http.baseUrl).pathname.replace(/\/$/, '')
  return {
    create: async (req: FastifyRequest, reply: FastifyReply): Promise<null> => {
      const viewer = requireUploader(req)
      rejectConcatenation(req.headers)
      const length = readLength(req.headers)
      const metadata = readMetadata(req.headers)
      const isPart = hasPart(req.headers)
      const checksum = readChecksum(req.headers)
      const part = isPart ? { ...bodyOf(req), offset: 0, length: undefined, checksum } : undefined
      const upload = await createUpload(deps, viewer, { length, metadata, part })
      // Without a host, so that it also leads back through a proxy.
      void reply.header('location', `${base}${path}/${upload.id}`)
      return sendRaw(reply.status(201).headers(offsetHeaders(upload)))
    },
    append: async (req: UploadRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const viewer = requireUploader(req)
      if (!hasPart(req.headers)) throw invalidInput('The request needs a body', 'body')
      const offset = readSize(req.headers, 'upload-offset')
      if (offset === undefined) throw invalidInput('The header Upload-Offset is required', 'upload-offset')
      const length = readSize(req.headers, 'upload-length')
      const checksum = readChecksum(req.headers)
      const patch = { ...bodyOf(req), offset, length, checksum }
      return done(reply.headers(offsetHeaders(await appendToUpload(deps, viewer, req.params.id, patch))))
    },
    remove: async (req: UploadRequest, reply: FastifyReply): Promise<FastifyReply> => {
      await deleteUpload(deps, requireUploader(req), req.params.id)
      return done(reply)
    },
    /** Sends the headers of the state, without a body. */
    state: async (req: UploadRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const upload = await getUpload(deps, requireUploader(req), req.params.id)
      return done(reply.headers({ ...stateHeaders(upload), ...offsetHeaders(upload) }))
    },
  }
}

/** @throws ApiError 403 without the scopes, 412 for a client of another version. */
export function requireUploader(req: FastifyRequest): Viewer {
  const viewer = requireScopes(req)
  requireTus(req.headers)
  return viewer
}

/** @throws ApiError 403 without the scopes. */
export function requireScopes(req: FastifyRequest): Viewer {
  const viewer = requireViewer(req)
  requireUploadScope(viewer)
  return viewer
}

function bodyOf(req: FastifyRequest): { body: Readable; bodyLength: number | undefined } {
  const length = req.headers['content-length']
  return { body: (req.body ?? req.raw) as Readable, bodyLength: length === undefined ? undefined : Number(length) }
}
