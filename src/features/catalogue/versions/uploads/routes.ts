// Resumable uploads: tus 1.0.0 at `/v3/upload`.

import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { ID_PATTERN } from '#lib/ids.ts'
import { openScope } from '#platform/http/mounts.ts'
import { pathId } from '#platform/http/query-values.ts'
import { EXPOSED_HEADERS } from '#platform/http/request-context.ts'
import { done, Empty } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { CAPABILITIES, EXPOSED_TUS_HEADERS } from './headers.ts'
import { getUpload, listUploads } from './queries.ts'
import { acceptParts, requireScopes, requireUploader, type UploadHandlers, uploadHandlers } from './tus-routes.ts'
import { offsetHeaders, stateHeaders, UploadView, uploadView } from './views.ts'

const PATH = '/v3/upload'
const config = {
  auth: { scope: [] },
  limitedTokens: 'versions',
  withoutPage: 'For programs; the script of the upload page has its own route',
} as const
/** Errors of the operations that store bytes. */
const PART_ERRORS = [
  '400 LimitReached',
  '412 invalid_input',
  '413 invalid_input',
  '415 invalid_input',
  '460 invalid_input',
  '500 file_hosting_error',
] as const
/** An upload whose ID has the wrong form does not exist, like any other unknown upload. */
const UploadParams = pathId('ID', ID_PATTERN, ['AABBCCDD'])
const NOTE = 'Needs the scope VERSION_CREATE or PROJECT_CREATE, and the header `Tus-Resumable: 1.0.0`.'

export function uploadRoutes(app: App, deps: Deps): void {
  openScope(app, (scope) => {
    acceptParts(scope)
    scope.addHook('onRequest', (_req, reply, done) => {
      void reply.header('access-control-expose-headers', `${EXPOSED_HEADERS}, ${EXPOSED_TUS_HEADERS}`)
      done()
    })
    const handlers = uploadHandlers(deps, PATH)
    capabilities(scope)
    creation(scope, handlers)
    reads(scope, deps)
    writes(scope, handlers)
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

function creation(scope: App, handlers: UploadHandlers): void {
  scope.post(PATH, {
    config: { ...config, errors: PART_ERRORS },
    schema: {
      operationId: 'createUpload',
      summary: 'Create a resumable upload (tus)',
      description:
        `${NOTE} The header \`Upload-Length\` is the length of the file; \`Upload-Defer-Length: 1\` announces it later. ` +
        '`Upload-Metadata` has `filename` in Base64. The body can be the first part, as `application/offset+octet-stream`.',
      consumes: ['application/offset+octet-stream'],
      response: { 201: Empty },
    },
    handler: handlers.create,
  })
}

function reads(scope: App, deps: Deps): void {
  scope.get(PATH, {
    config,
    schema: {
      operationId: 'listUploads',
      summary: 'Get the uploads of the account that no version has used yet',
      response: { 200: Type.Array(UploadView) },
    },
    handler: async (req) => (await listUploads(deps, requireScopes(req))).map(uploadView),
  })
  scope.get(`${PATH}/:id`, {
    config: { ...config, errors: ['412 invalid_input'] },
    schema: {
      operationId: 'getUpload',
      summary: 'Get the stored length of an upload',
      description: `${NOTE} tus clients send HEAD, and read the headers \`Upload-Offset\` and \`Upload-Length\`.`,
      params: UploadParams,
      response: { 200: UploadView },
    },
    handler: async (req, reply) => {
      const upload = await getUpload(deps, requireUploader(req), req.params.id)
      void reply.headers({ ...stateHeaders(upload), ...offsetHeaders(upload) })
      return uploadView(upload)
    },
  })
}

function writes(scope: App, { append, remove, state }: UploadHandlers): void {
  scope.patch(`${PATH}/:id`, {
    config: { ...config, errors: PART_ERRORS },
    schema: {
      operationId: 'appendToUpload',
      summary: 'Add a part to an upload (tus)',
      description: `${NOTE} \`Upload-Offset\` is the stored length. \`Upload-Checksum\` has the checksum of the body in Base64.`,
      params: UploadParams,
      consumes: ['application/offset+octet-stream'],
    },
    handler: append,
  })
  scope.delete(`${PATH}/:id`, {
    config: { ...config, errors: ['412 invalid_input'] },
    schema: { operationId: 'deleteUpload', summary: 'Delete an upload (tus)', description: NOTE, params: UploadParams },
    handler: remove,
  })
  scope.post(`${PATH}/:id`, {
    config: { ...config, errors: PART_ERRORS },
    schema: {
      operationId: 'overrideUploadMethod',
      summary: 'Add a part to an upload, or delete it, where only POST is possible (tus)',
      description: `${NOTE} The header \`X-HTTP-Method-Override\` is PATCH, DELETE or HEAD.`,
      params: UploadParams,
      consumes: ['application/offset+octet-stream'],
    },
    handler: async (req, reply) => {
      const method = req.headers['x-http-method-override']
      if (method === 'PATCH') return append(req, reply)
      if (method === 'DELETE') return remove(req, reply)
      if (method === 'HEAD') return state(req, reply)
      requireUploader(req)
      throw invalidInput('The header X-HTTP-Method-Override must be PATCH, DELETE or HEAD', 'x-http-method-override')
    },
  })
}
