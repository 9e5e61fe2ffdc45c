// Routes to publish a version and to add files to a version.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { parseId } from '#lib/ids.ts'
import { openFormScope } from '#platform/http/bodies/multipart.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { done, Empty } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { sendDryRun } from '../../dry-run/dry-run.ts'
import { lookAtVersion } from '../../dry-run/look.ts'
import { DryRunQuery, DryRunView } from '../../dry-run/views.ts'
import { getVersion, getVersionAsMember } from '../lookup/version-cache.ts'
import { VersionView } from '../views.ts'
import { addFiles } from './add-files.ts'
import { createVersion } from './create-version.ts'
import { FilesData, parseFilesData, VersionData } from './requests.ts'
import { receiveForm } from './version-form.ts'

export function versionUploadRoutes(app: App, deps: Deps): void {
  openFormScope(app, (scope) => {
    scope.post('/v3/version', {
      config: {
        isTransfer: true,
        auth: { scope: ['VERSION_CREATE'] },
        limitedTokens: 'versions',
        formData: { schema: VersionData },
        cost: COSTS.archive,
        errors: ['500 file_hosting_error'],
      },
      schema: {
        operationId: 'createVersion',
        summary: 'Publish a version with its files',
        description:
          'Send multipart/form-data whose first part is `data` (JSON). Without files, you can send this object as application/json instead.',
        querystring: DryRunQuery,
        consumes: ['multipart/form-data', 'application/json'],
        response: { 200: DryRunView, 201: VersionView },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const create = (using: Deps) => createVersion(using, viewer, (describe) => receiveForm(using, req, describe))
        if (isDryRun(req)) return sendDryRun(reply, deps, create, lookAtVersion)
        const version = await getVersion(deps, viewer, await create(deps))
        return sendBytes(reply.status(201), version.bytes)
      },
    })
  })
  fileUploadRoute(app, deps)
}

/** `prefix`: the v2 API has the same route. */
export function fileUploadRoute(app: App, deps: Deps, prefix = '/v3'): void {
  openFormScope(app, (scope) => {
    scope.post(`${prefix}/version/:id/file`, {
      config: {
        isTransfer: true,
        auth: { scope: ['VERSION_WRITE'] },
        limitedTokens: 'versions',
        formData: { schema: FilesData, isOptional: true },
        cost: COSTS.archive,
      },
      schema: {
        operationId: 'addVersionFiles',
        summary: 'Add files to a version',
        params: IdParams,
        querystring: DryRunQuery,
        consumes: ['multipart/form-data', 'application/json'],
        response: { 200: DryRunView, 204: Empty },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
        const add = (using: Deps) =>
          addFiles(using, viewer, {
            versionId: version.id,
            membership,
            receive: () => receiveForm(using, req, parseFilesData, { isDataOptional: true }),
          })
        if (isDryRun(req)) return sendDryRun(reply, deps, add, lookAtVersion)
        await add(deps)
        return done(reply)
      },
    })
  })
}
