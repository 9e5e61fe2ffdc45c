// The v2 API: the routes of the v3 API with other request and response schemas.

import Type from 'typebox'
import { statisticsRoutes } from '#features/basics/statistics/routes.ts'
import { followedRoute, followWrites } from '#features/catalogue/follows/routes.ts'
import type { CatalogueForms } from '#features/catalogue/forms.ts'
import { RandomQuery } from '#features/catalogue/projects/lookup/random.ts'
import { projectReads } from '#features/catalogue/projects/routes.ts'
import { threadReads, threadWrites } from '#features/catalogue/threads/routes.ts'
import { dependencyRoute } from '#features/catalogue/versions/dependencies/routes.ts'
import { sharedHashRoutes } from '#features/catalogue/versions/hashes/hash-routes.ts'
import { sharedUpdateRoutes } from '#features/catalogue/versions/hashes/update-routes.ts'
import { VersionListQuery } from '#features/catalogue/versions/lookup/list-requests.ts'
import { versionReadRoutes } from '#features/catalogue/versions/lookup/routes.ts'
import { memberRoutes } from '#features/community/members/routes.ts'
import { userProjectRoute } from '#features/community/organizations/user-routes.ts'
import { deletionRoute } from '#features/community/personal-data/routes.ts'
import { reportCreation, reportEdits, reportReads } from '#features/community/reports/routes.ts'
import { teamRoutes } from '#features/community/teams/routes.ts'
import { notificationReads, notificationWrites } from '#features/people/notifications/routes.ts'
import { userReads, userWrites } from '#features/people/users/routes.ts'
import type { UpdatingDeps } from '#features/people/users/update-user.ts'
import { rejectRetired, tagged } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { ProjectV2, projectBytes } from './catalogue/project-views.ts'
import { tagRoutesV2 } from './catalogue/tag-routes.ts'
import { VersionV2, versionBytes } from './catalogue/version-views.ts'
import { MEMBER, NOTIFICATION, THREAD, userFormV2 } from './people/views.ts'
import { projectWriteRoutesV2 } from './publishing/project-routes.ts'
import { versionWriteRoutesV2 } from './publishing/version-routes.ts'
import { v2Scope } from './scope.ts'
import { searchRoutesV2 } from './search/routes.ts'

const RandomQueryV2 = Type.Object({ count: Type.Optional(RandomQuery.properties.count) })
const VersionListQueryV2 = Type.Omit(VersionListQuery, ['loader_fields'])

type V2Deps = Deps & Pick<UpdatingDeps, 'confirmOwner' | 'endLostAccess'>

export function v2Routes(app: App, deps: V2Deps): void {
  v2Scope(app, deps, (scope) => {
    catalogueRoutes(scope, deps)
    peopleRoutes(scope, deps)
    rejectRetired(
      scope,
      ['/user/:id/payouts', '/user/:id/payouts_fees'],
      'The v2 API no longer supports payouts. Use /v3/payout',
    )
  })
}

function catalogueRoutes(scope: App, deps: V2Deps): void {
  const forms: CatalogueForms = {
    prefix: '',
    project: { schema: ProjectV2, toJson: (project) => projectBytes(deps, project) },
    version: { schema: VersionV2, toJson: (version) => versionBytes(deps, version) },
  }
  tagged(scope, 'projects', (each) => {
    projectReads(each, deps, forms, RandomQueryV2)
    dependencyRoute(each, deps, forms)
    projectWriteRoutesV2(each, deps)
  })
  tagged(scope, 'versions', (each) => {
    versionReadRoutes(each, deps, forms, VersionListQueryV2)
    versionWriteRoutesV2(each, deps)
  })
  tagged(scope, 'version files', (each) => {
    sharedHashRoutes(each, deps, forms)
    sharedUpdateRoutes(each, deps, forms)
  })
  tagged(scope, 'search', (each) => searchRoutesV2(each, deps))
  tagged(scope, 'tags', (each) => tagRoutesV2(each, deps))
  tagged(scope, 'statistics', (each) => statisticsRoutes(each, deps, ''))
  tagged(scope, 'users', (each) => {
    userProjectRoute(each, deps, forms)
    followedRoute(each, deps, forms)
  })
}

function peopleRoutes(scope: App, deps: V2Deps): void {
  tagged(scope, 'users', (each) => {
    userReads(each, deps, '', userFormV2(deps))
    userWrites(each, deps, '')
    deletionRoute(each, deps, '')
  })
  tagged(scope, 'follows', (each) => followWrites(each, deps, ''))
  tagged(scope, 'teams', (each) => {
    memberRoutes(each, deps, '', MEMBER)
    teamRoutes(each, deps, '')
  })
  tagged(scope, 'notifications', (each) => {
    notificationReads(each, deps, '', NOTIFICATION)
    notificationWrites(each, deps, '')
  })
  tagged(scope, 'reports', (each) => {
    reportReads(each, deps, '')
    reportCreation(each, deps, '', 200)
    reportEdits(each, deps, '')
  })
  tagged(scope, 'threads', (each) => {
    threadReads(each, deps, '', THREAD)
    threadWrites(each, deps, '')
  })
}
