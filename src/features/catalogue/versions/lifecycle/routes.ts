// Routes to edit and delete a version.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { BulkQuery } from '#features/catalogue/projects/edit/requests.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { parseId } from '#lib/ids.ts'
import { withBody } from '#platform/http/edit-body.ts'
import { expectedRevision, IdParams, IfMatch, parseIdList } from '#platform/http/query-values.ts'
import { done, Empty } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { sendDone, sendDryRun } from '../../dry-run/dry-run.ts'
import { lookAtVersion } from '../../dry-run/look.ts'
import { DryRunQuery, DryRunView } from '../../dry-run/views.ts'
import { getVersionAsMember } from '../lookup/version-cache.ts'
import { deleteVersion } from './delete-version.ts'
import { VersionBulkPatch, VersionPatch } from './requests.ts'
import { updateVersion } from './update-version.ts'
import { updateVersions } from './update-versions.ts'

export function versionEditRoutes(app: App, deps: Deps): void {
  versionDeletionRoute(app, deps)
  bulkRoute(app, deps)
  app.patch('/v3/version/:id', {
    attachValidation: true,
    config: { auth: { scope: ['VERSION_WRITE'] }, limitedTokens: 'versions', errors: ['500 file_hosting_error'] },
    schema: {
      operationId: 'updateVersion',
      summary: 'Edit a version',
      params: IdParams,
      querystring: DryRunQuery,
      headers: IfMatch,
      body: VersionPatch,
      response: { 200: DryRunView, 204: Empty },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      return withBody(req, VersionPatch, async (patch: VersionPatch, found) => {
        const run = async (using: Deps): Promise<void> => {
          const { version, membership } = await getVersionAsMember(using, viewer, parseId(req.params.id, 'id'))
          const revision = found === undefined ? expectedRevision(req) : undefined
          await updateVersion(using, viewer, { id: version.id, membership, patch, found, revision })
        }
        if (isDryRun(req)) return sendDryRun(reply, deps, run, lookAtVersion)
        await run(deps)
        return done(reply)
      })
    },
  })
}

function bulkRoute(app: App, deps: Deps): void {
  app.patch('/v3/versions', {
    config: {
      auth: { scope: ['VERSION_WRITE'] },
      limitedTokens: 'versions',
      errors: ['400 decoding_error', '404 not_found'],
    },
    schema: {
      operationId: 'updateVersions',
      summary: 'Edit the status and simple fields of several versions in one transaction',
      querystring: BulkQuery,
      body: VersionBulkPatch,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseIdList(req.query.ids)
      return sendDone(reply, deps, (using) => updateVersions(using, viewer, { ids, patch: req.body }))
    },
  })
}

/** `prefix`: the v2 API has the same route. */
export function versionDeletionRoute(app: App, deps: Deps, prefix = '/v3'): void {
  app.delete(`${prefix}/version/:id`, {
    config: { auth: { scope: ['VERSION_DELETE'] }, limitedTokens: 'resource' },
    schema: {
      operationId: 'deleteVersion',
      summary: 'Delete a version with its files',
      params: IdParams,
      querystring: DryRunQuery,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      return sendDone(reply, deps, (using) => deleteVersion(using, viewer, { id: version.id, membership }))
    },
  })
}
