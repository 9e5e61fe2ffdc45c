// Resumable uploads: tus 1.0.0 at `/v3/upload`.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { openScope } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { EXPOSED_HEADERS } from '#platform/http/request-context.ts'
import { done, Empty, sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { appendToUpload } from './append-to-upload.ts'
import { createUpload } from './create-upload.ts'
import { deleteUpload } from './delete-upload.ts'
import {
  CAPABILITIES,
  EXPOSED_TUS_HEADERS,
  hasPart,
  readChecksum,
  readLength,
  readMetadata,
  readSize,
  requireTus,
  TUS_VERSION,
} from './headers.ts'
import { requireUploadScope } from './policy.ts'
import { getUpload, listUploads } from './queries.ts'
import { offsetHeaders, stateHeaders, UploadView, uploadView } from './views.ts'

const PATH = '/v3/upload'
const config = { auth: { scope: [] }, limitedTokens: 'versions' } as const
const NOTE = 'Needs the scope VERSION_CREATE or PROJECT_CREATE, and the header `Tus-Resumable: 1.0.0`.'

export function uploadRoutes(app: App, deps: Deps): void {
  openScope(app, (scope) => {
    // The handlers read the bodies.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_req, payload, done) => done(null, payload))
    scope.addHook('onRequest', (_req, reply, done) => {
      void reply.header('tus-resumable', TUS_VERSION)
      void reply.header('access-control-expose-headers', `${EXPOSED_HEADERS}, ${EXPOSED_TUS_HEADERS}`)
      done()
    })
    capabilities(scope)
    creation(scope, deps)
    reads(scope, deps)
    writes(scope, deps)
  })
}

function capabilities(scope: App): void {
  for (const url of [PATH, `${PATH}/:id`]) {
    scope.options(
      url,
      { config: { auth: 'public' }, schema: { hide: true, operationId: 'getUploadOptions' } },
      (_req, reply) => done(reply.headers(CAPABILITIES)),
    )
  }
}

function creation(scope: App, deps: Deps): void {
  scope.post(
    PATH,
    {
      config,
      schema: {
        operationId: 'createUpload',
        summary: 'Create a resumable upload (tus)',
        description:
          `${NOTE} The header \`Upload-Length\` is the length of the file; \`Upload-Defer-Length: 1\` announces it later. ` +
          '`Upload-Metadata` has `filename` in Base64. The body can be the first part, as `application/offset+octet-stream`.',
        consumes: ['application/offset+octet-stream'],
        response: { 201: Empty },
      },
    },
    async (req, reply) => {
      const viewer = requireUploader(req)
      const length = readLength(req.headers)
      const metadata = readMetadata(req.headers)
      const isPart = hasPart(req.headers)
      const checksum = readChecksum(req.headers)
      const part = isPart ? { ...bodyOf(req), offset: 0, length: undefined, checksum } : undefined
      const upload = await createUpload(deps, viewer, { length, metadata, part })
      // Relative, so that it also leads back through a proxy.
      void reply.header('location', `${PATH}/${upload.id}`)
      return sendRaw(reply.status(201).headers(offsetHeaders(upload)))
    },
  )
}

function reads(scope: App, deps: Deps): void {
  scope.get(
    PATH,
    {
      config,
      schema: {
        operationId: 'listUploads',
        summary: 'Get the uploads of the account that no version has used yet',
        response: { 200: Type.Array(UploadView) },
      },
    },
    async (req) => (await listUploads(deps, requireScopes(req))).map(uploadView),
  )
  scope.get(
    `${PATH}/:id`,
    {
      config,
      schema: {
        operationId: 'getUpload',
        summary: 'Get the stored length of an upload',
        description: `${NOTE} tus clients send HEAD, and read the headers \`Upload-Offset\` and \`Upload-Length\`.`,
        params: IdParams,
        response: { 200: UploadView },
      },
    },
    async (req, reply) => {
      const upload = await getUpload(deps, requireUploader(req), req.params.id)
      void reply.headers({ ...stateHeaders(upload), ...offsetHeaders(upload) })
      return uploadView(upload)
    },
  )
}

function writes(scope: App, deps: Deps): void {
  const append = async (
    req: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const viewer = requireUploader(req)
    if (!hasPart(req.headers)) throw invalidInput('The request needs a body', 'body')
    const offset = readSize(req.headers, 'upload-offset')
    if (offset === undefined) throw invalidInput('The header Upload-Offset is required', 'upload-offset')
    const length = readSize(req.headers, 'upload-length')
    const checksum = readChecksum(req.headers)
    const patch = { ...bodyOf(req), offset, length, checksum }
    return done(reply.headers(offsetHeaders(await appendToUpload(deps, viewer, req.params.id, patch))))
  }
  const remove = async (
    req: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    await deleteUpload(deps, requireUploader(req), req.params.id)
    return done(reply)
  }
  scope.patch(
    `${PATH}/:id`,
    {
      config,
      schema: {
        operationId: 'appendToUpload',
        summary: 'Add a part to an upload (tus)',
        description: `${NOTE} \`Upload-Offset\` is the stored length. \`Upload-Checksum\` has the checksum of the body in Base64.`,
        params: IdParams,
        consumes: ['application/offset+octet-stream'],
      },
    },
    append,
  )
  scope.delete(
    `${PATH}/:id`,
    {
      config,
      schema: { operationId: 'deleteUpload', summary: 'Delete an upload (tus)', description: NOTE, params: IdParams },
    },
    remove,
  )
  scope.post(
    `${PATH}/:id`,
    {
      config,
      schema: {
        operationId: 'overrideUploadMethod',
        summary: 'Add a part to an upload, or delete it, where only POST is possible (tus)',
        description: `${NOTE} The header \`X-HTTP-Method-Override\` is PATCH, DELETE or HEAD.`,
        params: IdParams,
        consumes: ['application/offset+octet-stream'],
      },
    },
    async (req, reply) => {
      const method = req.headers['x-http-method-override']
      if (method === 'PATCH') return append(req, reply)
      if (method === 'DELETE') return remove(req, reply)
      const upload = await getUpload(deps, requireUploader(req), req.params.id)
      if (method !== 'HEAD') {
        throw invalidInput('The header X-HTTP-Method-Override must be PATCH, DELETE or HEAD', 'x-http-method-override')
      }
      return done(reply.headers({ ...stateHeaders(upload), ...offsetHeaders(upload) }))
    },
  )
}

/** @throws ApiError 403 without the scopes, 412 for a client of another version. */
function requireUploader(req: FastifyRequest): Viewer {
  const viewer = requireScopes(req)
  requireTus(req.headers)
  return viewer
}

function requireScopes(req: FastifyRequest): Viewer {
  const viewer = requireViewer(req)
  requireUploadScope(viewer)
  return viewer
}

function bodyOf(req: FastifyRequest): { body: Readable; bodyLength: number | undefined } {
  const length = req.headers['content-length']
  return { body: (req.body ?? req.raw) as Readable, bodyLength: length === undefined ? undefined : Number(length) }
}
