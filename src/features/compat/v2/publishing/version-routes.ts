// v2 routes that publish and edit versions. Deletion and added files are the same as in the v3 API.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { sendDone } from '#features/catalogue/dry-run/dry-run.ts'
import { DryRunQuery } from '#features/catalogue/dry-run/views.ts'
import { findProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { versionDeletionRoute } from '#features/catalogue/versions/lifecycle/routes.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersion, getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { createVersion } from '#features/catalogue/versions/publish/create-version.ts'
import { fileUploadRoute } from '#features/catalogue/versions/publish/routes.ts'
import { receiveForm } from '#features/catalogue/versions/publish/version-form.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { parseId } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { leaveFormsUnparsed } from '#platform/http/bodies/multipart.ts'
import { openScope } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { Empty } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { isPackPart, PACK_LOADER } from '../catalogue/pack-loaders.ts'
import { VersionV2, versionBytes } from '../catalogue/version-views.ts'
import { withFieldNames } from '../error-names.ts'
import { receiveTranslated, type Translate } from './receive.ts'
import {
  isPackVersion,
  parseVersionDataV2,
  scheduleFieldNames,
  toVersionData,
  toVersionPatch,
  VersionDataV2,
  VersionPatchV2,
  VersionSchedule,
  versionFieldNames,
} from './version-requests.ts'

export function versionWriteRoutesV2(app: App, deps: Deps): void {
  creation(app, deps)
  edits(app, deps)
  versionDeletionRoute(app, deps, '')
  fileUploadRoute(app, deps, '')
}

function creation(app: App, deps: Deps): void {
  openScope(app, (scope) => {
    // The handler reads the form part by part.
    scope.removeAllContentTypeParsers()
    leaveFormsUnparsed(scope)
    scope.post('/version', {
      config: {
        isTransfer: true,
        auth: { scope: ['VERSION_CREATE'] },
        limitedTokens: 'versions',
        formData: { schema: VersionDataV2 },
        cost: COSTS.archive,
      },
      schema: {
        operationId: 'createVersionV2',
        summary: 'Publish a version with its files',
        description:
          'If the name of a form part or a file ends in `.mrpack`, the version is a pack and `loaders` are the loaders inside it.',
        querystring: DryRunQuery,
        consumes: ['multipart/form-data'],
        response: { 200: VersionV2, 204: Empty },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const create = (using: Deps) =>
          createVersion(using, viewer, (describe) =>
            receiveTranslated(using, {
              receive: (first) => receiveForm(using, req, first),
              translate: translateVersion(using),
              describe,
              names: versionFieldNames,
            }),
          )
        if (isDryRun(req)) return sendDone(reply, deps, create)
        const version = await getVersion(deps, viewer, await create(deps))
        return sendBytes(reply, versionBytes(deps, version).bytes)
      },
    })
  })
}

function translateVersion(deps: Deps): Translate {
  return async (data, parts) => {
    const version = parseVersionDataV2(data)
    const project = version.project_id === undefined ? undefined : await findProject(deps, version.project_id)
    return toVersionData(version, {
      isPack: isPackVersion(version) || parts.some(isPackPart),
      environment: project?.environment ?? undefined,
      taxonomy: deps.taxonomy,
    })
  }
}

function edits(app: App, deps: Deps): void {
  const config = { auth: { scope: ['VERSION_WRITE'] }, limitedTokens: 'versions' } as const
  app.patch('/version/:id', {
    config,
    schema: {
      operationId: 'updateVersionV2',
      summary: 'Edit a version',
      params: IdParams,
      querystring: DryRunQuery,
      body: VersionPatchV2,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      const { loaders } = viewOf(version)
      const patch = toVersionPatch(req.body, { isPack: loaders.includes(PACK_LOADER) })
      const change = { id: version.id, membership, patch }
      return withFieldNames(versionFieldNames, () =>
        sendDone(reply, deps, (using) => updateVersion(using, viewer, change)),
      )
    },
  })
  app.post('/version/:id/schedule', {
    config,
    schema: {
      operationId: 'scheduleVersionV2',
      summary: 'Schedule a status change of a version',
      params: IdParams,
      querystring: DryRunQuery,
      body: VersionSchedule,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      const { time, requested_status } = req.body
      const patch = { status: 'scheduled', scheduled_at: time, requested_status } as const
      const change = { id: version.id, membership, patch }
      return withFieldNames(scheduleFieldNames, () =>
        sendDone(reply, deps, (using) => updateVersion(using, viewer, change)),
      )
    },
  })
}
