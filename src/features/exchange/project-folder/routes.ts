// The route that exports a project as a ZIP archive, which `depot import-project` reads.
import { Readable } from 'node:stream'
import { requireMember } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listProjectReadsByNames } from '#features/catalogue/projects/queries.ts'
import { attachment } from '#features/reading/downloads/attachment.ts'
import { notFound } from '#lib/errors.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { entriesOf } from './export-project.ts'
import { writeZip } from './write-zip.ts'

export function projectFolderRoutes(app: App, deps: Deps): void {
  app.get('/v3/project/:id/export', {
    config: {
      isTransfer: true,
      auth: { scope: ['PROJECT_READ', 'VERSION_READ'] },
      limitedTokens: 'resource',
      cost: COSTS.archive,
      withoutPage: 'For the command line of another instance',
    },
    schema: {
      operationId: 'exportProject',
      summary: 'Download a project with its published versions, files and images',
      description:
        'For members and moderators. Streams a ZIP archive with the folder that `depot export-project` writes and ' +
        '`depot import-project` reads. Omits drafts and scheduled versions. Does not count as a download.',
      params: ProjectParams,
      produces: ['application/zip'],
      response: {},
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      const rows = await listProjectReadsByNames(deps.db, [project.id], [])
      const row = rows.find(({ id }) => id === project.id)
      if (row === undefined) throw notFound('project')
      await deps.files.assertAvailable()
      void reply
        .type('application/zip')
        .header('cache-control', 'private, no-store')
        .header('x-content-type-options', 'nosniff')
        .header('content-disposition', attachment(`${row.slug || row.id}.zip`))
      if (req.method === 'HEAD') return sendRaw(reply, Readable.from([]))
      const entries = entriesOf(deps, row, { versions: 0, files: 0, images: 0 })
      return sendRaw(reply, writeZip(deps.files, entries, row.updated))
    },
  })
}
