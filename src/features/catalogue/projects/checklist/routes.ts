// The route to the checklist of a project.
import Type from 'typebox'
import { requireMember } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { notFound } from '#lib/errors.ts'
import type { App } from '#platform/http/server.ts'
import { getProjectAsMember, type ProjectReader } from '../lookup/project-cache.ts'
import { checklistOf, listChecklistFacts } from './checklist.ts'
import { ChecklistItemView } from './views.ts'

export function checklistRoute(app: App, deps: ProjectReader): void {
  app.get('/v3/project/:id/checklist', {
    config: { auth: { scope: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'private' },
    schema: {
      operationId: 'getChecklist',
      summary: 'List what a project needs before its review',
      description: 'Only for members of the project and moderators. Submitting the project checks the needed items.',
      params: ProjectParams,
      response: { 200: Type.Array(ChecklistItemView) },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      const facts = (await listChecklistFacts(deps.db, [project.id])).get(project.id)
      if (facts === undefined) throw notFound('project')
      return checklistOf(facts)
    },
  })
}
