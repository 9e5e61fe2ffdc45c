// The icon routes of every resource that has an icon.

import { OrganizationParams, ProjectParams, UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { openScope } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type IconOwner, replaceIcon, setIcon } from './icons.ts'
import { ExtQuery } from './requests.ts'

/** Path parameters by noun. All other resources have an ID. */
const NAMED_BY: Readonly<Record<string, typeof IdParams>> = {
  Project: ProjectParams,
  Organization: OrganizationParams,
  User: UserParams,
}

/** Registers `PATCH` and `DELETE {path}/{id}/icon`. `prefix` replaces `/v3` in the path. */
export function iconRoutes(app: App, deps: Deps, owner: IconOwner, prefix = '/v3'): void {
  const { noun } = owner
  const path = owner.path.replace('/v3', prefix)
  const resource = `${/^[AEIO]/.test(noun) ? 'an' : 'a'} ${noun.toLowerCase()}`
  const { limitedTokens } = owner
  const config = { auth: { scope: owner.scopes }, ...(limitedTokens === undefined ? {} : { limitedTokens }) }
  const params = NAMED_BY[noun] ?? IdParams
  openScope(app, (scope) => {
    leaveBodiesUnparsed(scope)
    scope.patch(`${path}/:id/icon`, {
      config: { ...config, cost: COSTS.picture, errors: owner.errors ?? [] },
      schema: {
        operationId: `set${noun}Icon`,
        summary: `Set the icon of ${resource}`,
        description: `The body is the image, at most ${owner.maxBytes} bytes.`,
        consumes: ['application/octet-stream'],
        params,
        querystring: ExtQuery,
      },
      handler: async (req) => {
        const viewer = requireViewer(req)
        const id = await owner.authorize(viewer, req.params.id)
        await deps.files.assertAvailable()
        const bytes = await readRawBody(req.body, { maxBytes: owner.maxBytes, field: 'icon' })
        await setIcon(deps, owner, { id, viewer, bytes, ext: req.query.ext.toLowerCase() })
      },
    })
  })
  app.delete(`${path}/:id/icon`, {
    config,
    schema: { operationId: `delete${noun}Icon`, summary: `Delete the icon of ${resource}`, params },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const id = await owner.authorize(viewer, req.params.id)
      await replaceIcon(deps, owner, { id, viewer, icon: null })
    },
  })
}
