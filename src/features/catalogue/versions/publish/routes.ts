// Routes to publish a version and to add files to a version.

import { parseId } from '#lib/ids.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { leaveFormsUnparsed } from '#platform/http/bodies/multipart.ts'
import { openScope } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getVersionAsMember } from '../lookup/version-cache.ts'
import { VersionView } from '../views.ts'
import { addFiles } from './add-files.ts'
import { createVersion } from './create-version.ts'
import { FilesData, parseFilesData, VersionData } from './requests.ts'
import { receiveForm } from './version-form.ts'

export function versionUploadRoutes(app: App, deps: Deps): void {
  openScope(app, (scope) => {
    // The handlers read the forms part by part.
    scope.removeAllContentTypeParsers()
    leaveFormsUnparsed(scope)
    scope.post(
      '/v3/version',
      {
        config: { auth: { scope: ['VERSION_CREATE'] }, formData: { schema: VersionData }, cost: COSTS.archive },
        schema: {
          operationId: 'createVersion',
          summary: 'Publish a version with its files',
          consumes: ['multipart/form-data'],
          response: { 201: VersionView },
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const version = await createVersion(deps, viewer, (describe) => receiveForm(deps, req, describe))
        return sendBytes(reply.status(201), version.bytes)
      },
    )
  })
  fileUploadRoute(app, deps)
}

/** `prefix`: the v2 API has the same route. */
export function fileUploadRoute(app: App, deps: Deps, prefix = '/v3'): void {
  openScope(app, (scope) => {
    scope.removeAllContentTypeParsers()
    leaveFormsUnparsed(scope)
    scope.post(
      `${prefix}/version/:id/file`,
      {
        config: {
          auth: { scope: ['VERSION_WRITE'] },
          formData: { schema: FilesData, isOptional: true },
          cost: COSTS.archive,
        },
        schema: {
          operationId: 'addVersionFiles',
          summary: 'Add files to a version',
          params: IdParams,
          consumes: ['multipart/form-data'],
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
        await addFiles(deps, viewer, {
          versionId: version.id,
          membership,
          receive: () => receiveForm(deps, req, parseFilesData, { isDataOptional: true }),
        })
        return done(reply)
      },
    )
  })
}
