// The v2 route that deletes a file of a version.

import { HashParams } from '#features/catalogue/versions/hashes/requests.ts'
import { getFile } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { FileQueryV2, namedFile } from '../catalogue/hash-routes.ts'

export function fileWriteRoutesV2(app: App, deps: Deps): void {
  app.delete(
    '/version_file/:hash',
    {
      config: { auth: { scope: ['VERSION_WRITE'] } },
      schema: {
        operationId: 'deleteVersionFileV2',
        summary: 'Delete a file of a version, except its last file',
        params: HashParams,
        querystring: FileQueryV2,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      await deleteFile(deps, viewer, await getFile(deps, viewer, namedFile(req.params, req.query)))
      return done(reply)
    },
  )
}
