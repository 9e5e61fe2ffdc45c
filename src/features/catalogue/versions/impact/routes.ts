// The routes that report the consequences of a withdrawal or a deletion, for members of the project.

import { requireMember } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { parseId } from '#lib/ids.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getReport, reportImpact } from './report-impact.ts'
import { ImpactBody, JobParams } from './requests.ts'
import { ImpactView, JobView, ReportView } from './views.ts'

const config = { auth: { scope: ['PROJECT_READ'] }, limitedTokens: 'resource' } as const

export function impactRoutes(app: App, deps: Deps): void {
  app.post('/v3/project/:id/impact', {
    config,
    schema: {
      operationId: 'reportImpact',
      summary: 'List the projects and packs that a withdrawal or a deletion would break',
      description:
        'For members and moderators. Considers the newest version of each direct dependent. With more than 200 direct ' +
        'dependents, the response is 202 with the ID of a job.',
      params: ProjectParams,
      body: ImpactBody,
      response: { 200: ImpactView, 202: JobView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      const result = await reportImpact(deps, project.id, req.body)
      return 'job' in result ? reply.status(202).send(result) : reply.status(200).send(result.report)
    },
  })
  app.get('/v3/project/:id/impact/:job', {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'getImpactReport',
      summary: 'Get the result of a job that computes an impact report',
      params: JobParams,
      response: { 200: ReportView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      const result = await getReport(deps.db, project.id, parseId(req.params.job, 'job'))
      return { state: result === null ? ('running' as const) : ('done' as const), result }
    },
  })
}
