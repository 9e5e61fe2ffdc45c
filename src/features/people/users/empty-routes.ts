// Routes that the desktop application of the reference calls, for features that Depot does not have. They return no content.

import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { requirePreferenceReader } from './policy.ts'
import { getCachedUser } from './user-cache.ts'
import { NoPreferences, NoUsers } from './views.ts'

const config = {
  auth: { scope: ['USER_READ'] },
  cache: 'private',
  withoutPage: 'Always empty; existing clients call it',
} as const
const description = 'Always empty; existing clients call this route'

/** Registers the routes for friends, blocked users and preferences. */
export function emptyRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'config'>): void {
  app.get('/v3/friends', {
    config,
    schema: {
      operationId: 'listFriends',
      summary: "List the caller's friends",
      description,
      response: { 200: NoUsers },
    },
    handler: () => [],
  })
  app.get('/v3/blocks', {
    config,
    schema: {
      operationId: 'listBlockedUsers',
      summary: 'List the users that the caller has blocked',
      description,
      response: { 200: NoUsers },
    },
    handler: () => [],
  })
  app.get('/v3/user/:id/preferences', {
    config,
    schema: {
      operationId: 'getUserPreferences',
      summary: 'Get the preferences of a user',
      description,
      params: UserParams,
      response: { 200: NoPreferences },
    },
    handler: async (req) => {
      requirePreferenceReader(requireViewer(req), await getCachedUser(deps, req.params.id))
      return {}
    },
  })
}
