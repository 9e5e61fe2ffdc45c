// The route that chooses versions for a list of projects, versions and files.
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { IdsQuery, parseIds } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { toJson } from './answer.ts'
import { COMPARED_MAX, findCompatibility } from './compatibility.ts'
import { lockRoutes } from './locks/routes.ts'
import { requireWritable, storeLock } from './locks/store-lock.ts'
import { ResolveBody, ResolveQuery } from './requests.ts'
import { resolveItems } from './resolve-items.ts'
import { AnswerView, CompatibilityView } from './views.ts'

/** A large request needs up to 100 MB. */
const RUNNING_MAX = 2
const WAITING_MAX = 64

export function resolveRoutes(app: App, deps: Deps): void {
  const limiter = createLimiter({ running: RUNNING_MAX, waiting: WAITING_MAX })
  app.post('/v3/resolve', {
    config: { auth: 'public', cost: COSTS.resolve, whenReadOnly: 'answers', errors: ['400 decoding_error'] },
    schema: {
      operationId: 'resolveItems',
      summary: 'Choose versions for projects and for everything that they require',
      description:
        'Returns for each item the version to install, and every version that the chosen versions require, each once. Without a ' +
        'conflict, the versions are those of an update check with the same filter. Earlier items get their newest possible version ' +
        'first. Without `loaders` or `game_versions`, the requirements of a single item match those of its version. ' +
        'The answer is the same for every caller: hidden objects do not exist. With `store=true`, the answer is stored under ' +
        '`lock` until 90 days after it was last read; in read-only mode, this fails.',
      querystring: ResolveQuery,
      body: ResolveBody,
      response: { 200: AnswerView },
    },
    handler: async (req, reply) => {
      if (req.query.store === true) await requireWritable(deps)
      const answer = await limiter.run(() => resolveItems(deps, req.body), callerOf(req))
      if (req.query.store === true) await storeLock(deps, answer)
      return sendBytes(reply, toJson(answer, deps.config))
    },
  })
  app.get('/v3/projects/compatibility', {
    config: { auth: 'public', cost: COSTS.resolve, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'findCompatibility',
      summary: 'Find the game versions and loaders that fit several projects',
      description:
        `For 1 to ${COMPARED_MAX} projects, by ID or slug. Their dependencies do not count: \`POST /v3/resolve\` chooses versions with them. ` +
        'Projects whose types do not run on a loader, such as resource packs next to mods, fit every loader.',
      querystring: IdsQuery,
      response: { 200: CompatibilityView },
    },
    handler: (req) => findCompatibility(deps, parseIds(req.query.ids)),
  })
  lockRoutes(app, deps)
}
