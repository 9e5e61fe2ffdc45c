// Routes that ask and answer alike in both versions of the API. They are registered a second time and not written twice,
// so that no rule of theirs can differ.
import type { FastifySchema } from 'fastify'
import type { App } from '#platform/http/server.ts'

const METHODS = ['get', 'post', 'patch', 'delete'] as const
const NEWER = '/v3'

type RouteAbout = { schema?: FastifySchema & { operationId?: string } }
type Register = (plugin: (scope: App) => Promise<void> | void) => unknown
type AddRoute = (url: string, about: RouteAbout, handler: unknown) => unknown

/**
 * Registers those of `routes` that `operations` name, without the prefix of the newer version and with `V2` behind the
 * name of each. The server does not start when one of them is missing.
 */
export function sameRoutes(app: App, operations: readonly string[], routes: (scope: App) => void): void {
  const missing = new Set(operations)
  routes(selecting(app, missing, new Set(operations)))
  app.addHook('onReady', async () => {
    if (missing.size > 0) throw new Error(`There is no operation ${[...missing].join(', ')}`)
  })
}

/** The scope, to which only the wanted routes are added. */
function selecting(app: App, missing: Set<string>, wanted: ReadonlySet<string>): App {
  const add =
    (method: (typeof METHODS)[number]): AddRoute =>
    (url, about, handler) => {
      const operationId = about.schema?.operationId ?? ''
      if (!wanted.has(operationId) || !url.startsWith(NEWER)) return
      missing.delete(operationId)
      const schema = { ...about.schema, operationId: `${operationId}V2` }
      return (app[method] as AddRoute)(url.slice(NEWER.length), { ...about, schema }, handler)
    }
  const register: Register = (plugin) =>
    app.register(async (scope) => plugin(selecting(scope as unknown as App, missing, wanted)))
  const instead = new Map<string | symbol, unknown>([
    ...METHODS.map((method) => [method, add(method)] as const),
    ['register', register],
  ])
  return new Proxy(app, {
    get: (target, name) => {
      if (instead.has(name)) return instead.get(name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
