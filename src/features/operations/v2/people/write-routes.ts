// What people write in the older API: it is the same in both, except that a report is answered with 200.
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { followRoutes } from '#features/catalogue/follows/routes.ts'
import { threadRoutes } from '#features/catalogue/threads/routes.ts'
import { createReport } from '#features/community/reports/create-report.ts'
import { getVisibleReport } from '#features/community/reports/queries.ts'
import { parseReport, ReportInput } from '#features/community/reports/requests.ts'
import { reportRoutes } from '#features/community/reports/routes.ts'
import { ReportView, toReportView } from '#features/community/reports/views.ts'
import { teamRoutes } from '#features/community/teams/routes.ts'
import { personalDataRoutes } from '#features/operations/personal-data/routes.ts'
import { notificationRoutes } from '#features/people/notifications/routes.ts'
import { userRoutes } from '#features/people/users/routes.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { sameRoutes } from '../same-routes.ts'

export function userWriteRoutesV2(app: App, deps: Deps & { confirmOwner: ConfirmOwner }): void {
  sameRoutes(app, ['updateUser', 'setUserIcon', 'deleteUserIcon'], (scope) => userRoutes(scope, deps))
  sameRoutes(app, ['deleteUser'], (scope) => personalDataRoutes(scope, deps))
}

export function followWriteRoutesV2(app: App, deps: Deps): void {
  sameRoutes(app, ['followProject', 'unfollowProject'], (scope) => followRoutes(scope, deps))
}

const TEAM_WRITES = ['inviteTeamMember', 'updateTeamMember', 'removeTeamMember', 'joinTeam', 'transferTeamOwnership']

export function teamWriteRoutesV2(app: App, deps: Deps): void {
  sameRoutes(app, TEAM_WRITES, (scope) => teamRoutes(scope, deps))
}

const NOTIFICATION_WRITES = [
  'markNotificationsRead',
  'deleteNotifications',
  'markNotificationRead',
  'deleteNotification',
]

export function notificationWriteRoutesV2(app: App, deps: Deps): void {
  sameRoutes(app, NOTIFICATION_WRITES, (scope) => notificationRoutes(scope, deps))
}

export function threadWriteRoutesV2(app: App, deps: Deps): void {
  sameRoutes(app, ['postThreadMessage', 'deleteThreadMessage'], (scope) => threadRoutes(scope, deps))
}

export function reportWriteRoutesV2(app: App, deps: Deps): void {
  sameRoutes(app, ['updateReport', 'deleteReport'], (scope) => reportRoutes(scope, deps))
  app.post(
    '/report',
    {
      config: { auth: { scope: ['REPORT_CREATE'] } },
      schema: {
        operationId: 'createReportV2',
        summary: 'Report a project, a version or a user',
        body: ReportInput,
        response: { 200: ReportView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const id = await createReport(deps, viewer, parseReport(req.body, deps.taxonomy))
      return toReportView(await getVisibleReport(deps.db, viewer, id))
    },
  )
}
