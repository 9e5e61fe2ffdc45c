import type { TagName } from './openapi/texts.ts'
import type { App } from './server.ts'

/** Registers routes with a tag of the API description. A route can declare another tag. */
export function tagged(app: App, tag: TagName, routes: (scope: App) => void): void {
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      if (route.schema?.hide !== true) route.schema = { tags: [tag], ...route.schema }
    })
    routes(scope as App)
  })
}
