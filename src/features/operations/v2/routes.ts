// The v2 API: other request and response schemas for the same queries, policies, commands and caches as the v3 API.
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { followWrites } from '#features/catalogue/follows/routes.ts'
import { threadWrites } from '#features/catalogue/threads/routes.ts'
import { reportEdits } from '#features/community/reports/routes.ts'
import { teamRoutes } from '#features/community/teams/routes.ts'
import { deletionRoute } from '#features/operations/personal-data/routes.ts'
import { notificationWrites } from '#features/people/notifications/routes.ts'
import { userWrites } from '#features/people/users/routes.ts'
import { rejectRetired } from '#platform/http/retired.ts'
import type { App } from '#platform/http/server.ts'
import { tagged } from '#platform/http/tagged.ts'
import type { Deps } from '#ports/deps.ts'
import { hashRoutesV2 } from './catalogue/hash-routes.ts'
import { projectRoutesV2 } from './catalogue/project-routes.ts'
import { statisticsRoutesV2 } from './catalogue/statistics-routes.ts'
import { tagRoutesV2 } from './catalogue/tag-routes.ts'
import { versionRoutesV2 } from './catalogue/version-routes.ts'
import { reportCreationV2, reportRoutesV2, threadRoutesV2 } from './people/conversation-routes.ts'
import { memberRoutesV2 } from './people/member-routes.ts'
import { notificationRoutesV2 } from './people/notification-routes.ts'
import { userRoutesV2 } from './people/user-routes.ts'
import { fileWriteRoutesV2 } from './publishing/file-routes.ts'
import { projectWriteRoutesV2 } from './publishing/project-routes.ts'
import { versionWriteRoutesV2 } from './publishing/version-routes.ts'
import { v2Scope } from './scope.ts'
import { searchRoutesV2 } from './search/routes.ts'

export function v2Routes(app: App, deps: Deps & { confirmOwner: ConfirmOwner }): void {
  v2Scope(app, deps, (scope) => {
    tagged(scope, 'projects', (each) => {
      projectRoutesV2(each, deps)
      projectWriteRoutesV2(each, deps)
    })
    tagged(scope, 'versions', (each) => {
      versionRoutesV2(each, deps)
      versionWriteRoutesV2(each, deps)
    })
    tagged(scope, 'version files', (each) => {
      hashRoutesV2(each, deps)
      fileWriteRoutesV2(each, deps)
    })
    tagged(scope, 'search', (each) => searchRoutesV2(each, deps))
    tagged(scope, 'tags', (each) => tagRoutesV2(each, deps))
    tagged(scope, 'statistics', (each) => statisticsRoutesV2(each, deps))
    tagged(scope, 'users', (each) => {
      userRoutesV2(each, deps)
      userWrites(each, deps, '')
      deletionRoute(each, deps, '')
    })
    rejectRetired(
      scope,
      ['/user/:id/payouts', '/user/:id/payouts_fees'],
      'The v2 API no longer supports payouts. Use /v3/payout',
    )
    tagged(scope, 'follows', (each) => followWrites(each, deps, ''))
    tagged(scope, 'teams', (each) => {
      memberRoutesV2(each, deps)
      teamRoutes(each, deps, '')
    })
    tagged(scope, 'notifications', (each) => {
      notificationRoutesV2(each, deps)
      notificationWrites(each, deps, '')
    })
    tagged(scope, 'reports', (each) => {
      reportRoutesV2(each, deps)
      reportCreationV2(each, deps)
      reportEdits(each, deps, '')
    })
    tagged(scope, 'threads', (each) => {
      threadRoutesV2(each, deps)
      threadWrites(each, deps, '')
    })
  })
}
