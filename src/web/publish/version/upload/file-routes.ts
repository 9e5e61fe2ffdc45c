// The files that the script of the upload page sends: tus as at `/v3/upload`, with the session of the browser. A request needs
// the header Tus-Resumable, which no form can send, and browsers must report that a page of this site sent it.
import cookie from '@fastify/cookie'
import { unauthenticated } from '#features/basics/authentication/access-control.ts'
import { acceptParts, uploadHandlers } from '#features/catalogue/versions/uploads/tus-routes.ts'
import { forbidden } from '#lib/errors.ts'
import { openScope } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import { PATHS } from '#web/kit/paths.ts'
import { findViewer, type WebDeps } from '#web/kit/request.ts'
import { isCrossSite } from '#web/kit/safety.ts'

const FILE = `${PATHS.uploadedFiles}/:id`

export function uploadedFileRoutes(app: App, web: WebDeps): void {
  const { deps, tokens } = web
  const { create, append, remove, state } = uploadHandlers(deps, PATHS.uploadedFiles)
  const config = { auth: 'public', budget: 'page' } as const
  const schemaOf = (operationId: string) => ({ operationId, hide: true, params: IdParams })
  openScope(app, async (scope) => {
    await scope.register(cookie)
    acceptParts(scope)
    // After the check of the read-only mode, and before the body is read.
    scope.addHook('preValidation', async (req) => {
      if (isCrossSite(req, deps.config)) throw forbidden('This request was sent from another site')
      req.viewer = await findViewer(tokens, req, web.cookie.read(req))
      if (req.viewer === null) throw unauthenticated('The session has ended')
    })
    scope.addHook('onSend', (_req, reply, payload, done) => {
      // Other sites must not read the responses, unlike those of the API.
      void reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers')
      done(null, payload)
    })
    const schema = { operationId: 'publishFile', hide: true }
    scope.post(PATHS.uploadedFiles, { config, schema }, create)
    scope.head(FILE, { config, schema: schemaOf('publishFileOffset') }, state)
    scope.patch(FILE, { config, schema: schemaOf('publishFilePart') }, append)
    scope.delete(FILE, { config, schema: schemaOf('publishFileDeletion') }, remove)
  })
}
