// What a person may ask for about their own data: all of it, and its deletion.
import Type from 'typebox'
import { AccessTokenView } from '#features/accounts/access-tokens/views.ts'
import { SessionView } from '#features/accounts/sessions/views.ts'
import { CollectionView } from '#features/collections/views.ts'
import { NotificationView } from '#features/notifications/views.ts'
import { OrganizationView } from '#features/organizations/views.ts'
import { BalanceView, HistoryView } from '#features/payouts/views.ts'
import { ProjectView } from '#features/projects/views.ts'
import { OwnFacts, UserView } from '#features/users/views.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { mountInternal } from '#http/mounts.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { deleteAccount } from './delete-account.ts'
import { type ExportReader, exportData } from './export-data.ts'

const Rows = Type.Array(Type.Object({}, { additionalProperties: Type.Unknown() }))
const ExportView = Type.Object(
  {
    user: UserView,
    account: OwnFacts,
    projects: Type.Array(ProjectView),
    orgs: Type.Array(OrganizationView),
    collections: Type.Array(CollectionView),
    notifs: Type.Array(NotificationView),
    sessions: Type.Array(SessionView),
    pats: Type.Array(AccessTokenView),
    teams: Rows,
    versions: Rows,
    follows: Rows,
    reports: Rows,
    messages: Rows,
    oauth_clients: Rows,
    oauth_authorizations: Rows,
    oauth_tokens: Rows,
    affiliate_codes: Rows,
    uploaded_images: Rows,
    released_scans: Rows,
    balance: BalanceView,
    payouts: HistoryView,
  },
  { title: 'DataExport' },
)

export function personalDataRoutes(app: App, deps: Deps): void {
  exportRoute(app, deps)
  deletionRoute(app, deps)
}

function exportRoute(app: App, deps: ExportReader): void {
  mountInternal(app, (scope) => {
    scope.post(
      '/gdpr/export',
      {
        config: { auth: { scope: ['SESSION_ACCESS'] } },
        schema: {
          operationId: 'exportData',
          summary: "Everything that is kept of the caller's person",
          description: 'For sessions. Secrets are not in it.',
          response: { 200: ExportView },
        },
      },
      async (req, reply) => sendBytes(reply, await exportData(deps, requireViewer(req))),
    )
  })
}

function deletionRoute(app: App, deps: Deps): void {
  app.delete(
    '/v3/user/:id',
    {
      config: { auth: { scope: ['USER_DELETE'] } },
      schema: {
        operationId: 'deleteUser',
        summary: 'Delete an account',
        description:
          'The own account, any for admins. What it owns goes to a placeholder account; nothing else remains.',
        params: IdParams,
      },
    },
    async (req, reply) => {
      await deleteAccount(deps, requireViewer(req), req.params.id)
      return done(reply)
    },
  )
}
