// Routes to appeal a decision, for members of the project, and to reject an appeal, for moderators.
import { requireMember } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProject, getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findAppealable } from '#features/catalogue/reviews/appeals.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { appealDecision } from './appeal-decision.ts'
import { rejectAppeal } from './reject-appeal.ts'
import { AppealInput, AppealRejection, checkRejection, parseAppeal } from './requests.ts'
import { ProjectAppealView, toAppealView } from './views.ts'

export function appealRoutes(app: App, deps: Deps): void {
  app.get('/v3/project/:id/appeal', {
    config: { auth: { scope: ['PROJECT_READ'] }, cache: 'private' },
    schema: {
      operationId: 'getAppeal',
      summary: 'Get whether the decision on a project can be appealed, and its appeal',
      description: 'Only for members of the project and moderators.',
      params: ProjectParams,
      response: { 200: ProjectAppealView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      return toAppealView(await findAppealable(deps.db, project.id))
    },
  })
  app.post('/v3/project/:id/appeal', {
    config: { auth: { scope: ['PROJECT_WRITE'] }, errors: ['409 conflict'] },
    schema: {
      operationId: 'appealDecision',
      summary: 'Appeal the decision that rejected or withheld a project',
      description:
        'Each decision can be appealed once. The project keeps its status and enters the moderation queue, where another moderator decides.',
      params: ProjectParams,
      body: AppealInput,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      await appealDecision(deps, viewer, { projectId: project.id, membership, text: parseAppeal(req.body) })
      return done(reply)
    },
  })
}

export function appealAnswerRoute(app: App, deps: Deps): void {
  app.post('/moderation/projects/:id/appeal/reject', {
    config: { auth: { scope: ['PROJECT_WRITE'] }, role: 'moderator' },
    schema: {
      operationId: 'rejectAppeal',
      summary: 'Reject the appeal of a project, which keeps its status',
      description:
        'A change of the status accepts the appeal. Moderators cannot reject an appeal against their own decision.',
      params: ProjectParams,
      body: AppealRejection,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { id: projectId } = await getProject(deps, viewer, req.params.id)
      await rejectAppeal(deps, viewer, { projectId, ...checkRejection(req.body) })
      return done(reply)
    },
  })
}
