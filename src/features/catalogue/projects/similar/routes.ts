// The route to projects that are similar to a name or an icon.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { App } from '#platform/http/server.ts'
import { listVisibleProjects, type ProjectReader } from '../lookup/project-cache.ts'
import { listSimilarProjects } from './queries.ts'
import { SimilarQuery } from './requests.ts'
import { SimilarProjectsView, toSimilarProjectView } from './views.ts'

export function similarRoute(app: App, deps: ProjectReader): void {
  app.get('/v3/project/similar', {
    config: {
      auth: { scope: ['PROJECT_READ'] },
      limitedTokens: 'resource',
      cache: 'private',
      errors: ['400 decoding_error'],
    },
    schema: {
      operationId: 'listSimilarProjects',
      summary: 'List projects with a similar name or icon',
      description:
        'Contains approved and archived projects and those of which the caller is a member; for moderators, every project.',
      querystring: SimilarQuery,
      response: { 200: SimilarProjectsView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { name, project_id } = req.query
      const projectId = project_id === undefined ? undefined : parseId(project_id, 'project_id')
      if (projectId !== undefined && (await listVisibleProjects(deps, viewer, [projectId])).length === 0)
        throw invalidInput('project_id must be the ID of a project that you can see', 'project_id')
      const rows = await listSimilarProjects(deps.db, viewer, { name, projectId })
      return { projects: rows.map((row) => toSimilarProjectView(row, deps)) }
    },
  })
}
