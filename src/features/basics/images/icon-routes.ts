// The routes of an icon, the same for everything that has one.

import { requireViewer } from '#platform/http/auth/auth.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { IdParams, OrganizationParams, ProjectParams, UserParams } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type IconOwner, replaceIcon, setIcon } from './icons.ts'
import { ExtQuery } from './requests.ts'

/** What stands in the path, by noun; an ID unless it is said here. */
const NAMED_BY: Readonly<Record<string, typeof IdParams>> = {
  Project: ProjectParams,
  Organization: OrganizationParams,
  User: UserParams,
}

/** Registers `PATCH` and `DELETE {path}/{id}/icon`. */
export function iconRoutes(app: App, deps: Deps, owner: IconOwner): void {
  const { path, noun } = owner
  const named = `${/^[AEIO]/.test(noun) ? 'an' : 'a'} ${noun.toLowerCase()}`
  const config = { auth: { scope: owner.scopes } }
  const params = NAMED_BY[noun] ?? IdParams
  app.register(async (plain) => {
    const scope = plain as App
    leaveBodiesUnparsed(scope)
    scope.patch(
      `${path}/:id/icon`,
      {
        config: { ...config, cost: COSTS.picture },
        schema: {
          operationId: `set${noun}Icon`,
          summary: `Set the icon of ${named}`,
          description: `The body is the image itself, at most ${owner.maxBytes} bytes.`,
          consumes: ['image/*'],
          params,
          querystring: ExtQuery,
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const id = await owner.authorize(viewer, req.params.id)
        await deps.files.assertAvailable()
        const bytes = await readRawBody(req.body, { maxBytes: owner.maxBytes, field: 'icon' })
        await setIcon(deps, owner, { id, viewer, bytes, ext: req.query.ext.toLowerCase() })
        return done(reply)
      },
    )
  })
  app.delete(
    `${path}/:id/icon`,
    {
      config,
      schema: {
        operationId: `delete${noun}Icon`,
        summary: `Remove the icon of ${named}`,
        params,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await owner.authorize(viewer, req.params.id)
      await replaceIcon(deps, owner, { id, viewer, icon: null })
      return done(reply)
    },
  )
}
