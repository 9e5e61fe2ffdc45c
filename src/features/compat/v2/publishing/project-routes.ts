// v2 routes that create and edit projects. Deletion, icons and galleries are the same as in the v3 API.

import { requirePermission } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { sendDone } from '#features/catalogue/dry-run/dry-run.ts'
import { DryRunQuery } from '#features/catalogue/dry-run/views.ts'
import { BulkQuery } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { updateProjects } from '#features/catalogue/projects/edit/update-projects.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { sharedProjectRoutes } from '#features/catalogue/projects/routes.ts'
import { createProject } from '#features/catalogue/publishing/create-project.ts'
import { receiveProjectForm } from '#features/catalogue/publishing/project-form.ts'
import { setEnvironments } from '#features/catalogue/versions/lifecycle/set-environments.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { leaveFormsUnparsed } from '#platform/http/bodies/multipart.ts'
import { openScope } from '#platform/http/mounts.ts'
import { parseIdList } from '#platform/http/query-values.ts'
import { Empty } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { ProjectV2, projectBytes } from '../catalogue/project-views.ts'
import { changeSides, type Sides } from '../catalogue/sides.ts'
import { withFieldNames } from '../error-names.ts'
import {
  ProjectBulkPatchV2,
  ProjectDataV2,
  ProjectPatchV2,
  projectFieldNames,
  sidesToWrite,
  toBulkPatch,
  toProjectData,
  toProjectPatch,
} from './project-requests.ts'
import { receiveTranslated } from './receive.ts'
import { ProjectSchedule, scheduleFieldNames } from './version-requests.ts'

const WRITE = { auth: { scope: ['PROJECT_WRITE'] }, limitedTokens: 'resource' } as const

export function projectWriteRoutesV2(app: App, deps: Deps): void {
  creation(app, deps)
  edit(app, deps)
  bulkEdit(app, deps)
  schedule(app, deps)
  sharedProjectRoutes(app, deps, '')
}

function creation(app: App, deps: Deps): void {
  openScope(app, (scope) => {
    // The handler reads the form part by part.
    scope.removeAllContentTypeParsers()
    leaveFormsUnparsed(scope)
    scope.post('/project', {
      config: {
        isTransfer: true,
        auth: { scope: ['PROJECT_CREATE'] },
        limitedTokens: 'resource',
        formData: { schema: ProjectDataV2 },
        cost: COSTS.archive,
      },
      schema: {
        operationId: 'createProjectV2',
        summary: 'Create a project with versions and files, or a draft without versions',
        querystring: DryRunQuery,
        consumes: ['multipart/form-data'],
        response: { 200: ProjectV2, 204: Empty },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const create = (using: Deps) =>
          createProject(using, viewer, (describe) =>
            receiveTranslated(using, {
              receive: (first) => receiveProjectForm(using, req, first),
              translate: (data, parts) => toProjectData(data, { taxonomy: deps.taxonomy, parts }),
              describe,
              names: projectFieldNames,
            }),
          )
        if (isDryRun(req)) return sendDone(reply, deps, create)
        return sendBytes(reply, projectBytes(deps, await create(deps)).bytes)
      },
    })
  })
}

function edit(app: App, deps: Deps): void {
  app.patch('/project/:id', {
    config: WRITE,
    schema: {
      operationId: 'updateProjectV2',
      summary: 'Edit a project',
      description:
        'Changed sides are written to every listed version. This also requires the scope `VERSION_WRITE` and the ' +
        'permission to edit versions.',
      params: ProjectParams,
      querystring: DryRunQuery,
      body: ProjectPatchV2,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      const patch = toProjectPatch(req.body, deps.taxonomy)
      const shown: Sides = JSON.parse(projectBytes(deps, project).bytes.toString())
      const sides = sidesToWrite(req.body, shown)
      if (sides !== undefined) {
        requireScope(viewer, 'VERSION_WRITE')
        requirePermission(viewer, membership, 'UPLOAD_VERSION')
      }
      const change: Parameters<typeof updateProject>[2] = {
        project,
        membership,
        patch,
        alongside: async (tx, changed) =>
          sides !== undefined &&
          setEnvironments(tx, changed, {
            projectId: project.id,
            next: (current) => changeSides(current, sides),
            taxonomy: deps.taxonomy,
          }),
      }
      return withFieldNames(projectFieldNames, () =>
        sendDone(reply, deps, (using) => updateProject(using, viewer, change)),
      )
    },
  })
}

function bulkEdit(app: App, deps: Deps): void {
  app.patch('/projects', {
    config: { ...WRITE, errors: ['400 decoding_error', '404 not_found'] },
    schema: {
      operationId: 'updateProjectsV2',
      summary: 'Edit categories and links of many projects. If one edit fails, no project is changed',
      querystring: BulkQuery,
      body: ProjectBulkPatchV2,
    },
    handler: async (req, reply) => {
      const ids = parseIdList(req.query.ids)
      const viewer = requireViewer(req)
      const patch = toBulkPatch(req.body, deps.taxonomy)
      return sendDone(reply, deps, (using) => updateProjects(using, viewer, { ids, patch }))
    },
  })
}

function schedule(app: App, deps: Deps): void {
  app.post('/project/:id/schedule', {
    config: WRITE,
    schema: {
      operationId: 'scheduleProjectV2',
      summary: 'Schedule a status change of a project',
      params: ProjectParams,
      querystring: DryRunQuery,
      body: ProjectSchedule,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      const { time, requested_status } = req.body
      const patch = { status: 'scheduled', scheduled_at: time, requested_status } as const
      return withFieldNames(scheduleFieldNames, () =>
        sendDone(reply, deps, (using) => updateProject(using, viewer, { project, membership, patch })),
      )
    },
  })
}
