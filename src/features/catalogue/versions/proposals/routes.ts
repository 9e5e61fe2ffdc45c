// Routes for proposals.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { openFormScope } from '#platform/http/bodies/multipart.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getVersionAsMember } from '../lookup/version-cache.ts'
import { receiveForm } from '../publish/version-form.ts'
import { proposeForFiles, proposeForVersion } from './propose-version.ts'
import { ProposalData } from './requests.ts'
import { ProposalsView, toProposalsView } from './views.ts'

export function proposalRoutes(app: App, deps: Deps): void {
  app.get('/v3/version/:id/proposals', {
    config: { auth: { scope: ['VERSION_READ'] }, limitedTokens: 'versions' },
    schema: {
      operationId: 'getVersionProposals',
      summary: 'Get proposals for the fields of a version',
      description:
        'The sources of a field are the manifest in the primary file, the name of the file and the previous version.',
      params: IdParams,
      response: { 200: ProposalsView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      const of = { versionId: version.id, projectId: version.project.id, membership }
      return toProposalsView(await proposeForVersion(deps, viewer, of))
    },
  })
  openFormScope(app, (scope) => {
    scope.post('/v3/version/proposals', {
      config: {
        auth: { scope: ['VERSION_CREATE'] },
        limitedTokens: 'versions',
        formData: { schema: ProposalData },
        cost: COSTS.archive,
        withoutPage: 'Pages check a form when they receive it',
      },
      schema: {
        operationId: 'proposeVersion',
        summary: 'Get proposals for a version with these files, without storing anything',
        description:
          'The files are parts of the form, or finished uploads that `file_parts` names; without parts, you can send the description as application/json.',
        consumes: ['multipart/form-data', 'application/json'],
        response: { 200: ProposalsView },
      },
      handler: async (req) => {
        const viewer = requireViewer(req)
        return toProposalsView(await proposeForFiles(deps, viewer, (describe) => receiveForm(deps, req, describe)))
      },
    })
  })
}
