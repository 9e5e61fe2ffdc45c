// The route that creates a project with its first versions.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { sendDryRun } from '#features/catalogue/dry-run/dry-run.ts'
import { lookAtNewProject } from '#features/catalogue/dry-run/look.ts'
import { DryRunQuery, DryRunView } from '#features/catalogue/dry-run/views.ts'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { openFormScope } from '#platform/http/bodies/multipart.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createProject } from './create-project.ts'
import { receiveProjectForm } from './project-form.ts'
import { ProjectData } from './requests.ts'

export function publishingRoutes(app: App, deps: Deps): void {
  openFormScope(app, (scope) => {
    scope.post('/v3/project', {
      config: {
        isTransfer: true,
        auth: { scope: ['PROJECT_CREATE'] },
        limitedTokens: 'resource',
        formData: { schema: ProjectData },
        cost: COSTS.archive,
        errors: ['400 LimitReached'],
      },
      schema: {
        operationId: 'createProject',
        summary: 'Create a project with versions and files, or a draft without them',
        description:
          'Send multipart/form-data whose first part is `data` (JSON). For a draft without files, you can send this object as application/json instead.',
        consumes: ['multipart/form-data', 'application/json'],
        querystring: DryRunQuery,
        response: { 200: DryRunView, 201: ProjectView },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        let slug: string | undefined
        const create = (using: Deps) =>
          createProject(using, viewer, async (describe) => {
            const received = await receiveProjectForm(using, req, describe)
            slug = received.description.columns.slug
            return received
          })
        if (isDryRun(req)) {
          const look = lookAtNewProject(() => slug)
          return sendDryRun(reply, deps, create, look)
        }
        const project = await create(deps)
        return sendBytes(reply.status(201), project.bytes)
      },
    })
  })
}
