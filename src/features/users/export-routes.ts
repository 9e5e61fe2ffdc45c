// The personal data export.
import Type from 'typebox'
import { ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { mountInternal } from '#http/mounts.ts'
import type { App } from '#http/server.ts'
import { AccessTokenView } from '../accounts/access-tokens/views.ts'
import { SessionView } from '../accounts/sessions/views.ts'
import { CollectionView } from '../collections/views.ts'
import { NotificationView } from '../notifications/views.ts'
import { OrganizationView } from '../organizations/views.ts'
import { BalanceView, HistoryView } from '../payouts/views.ts'
import { ProjectView } from '../projects/views.ts'
import { type ExportReader, exportData } from './export-data.ts'
import { OwnFacts, UserView } from './views.ts'

const tags = ['users']
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

export function exportRoutes(app: App, deps: ExportReader): void {
  mountInternal(app, (scope) => {
    scope.post(
      '/gdpr/export',
      {
        config: { auth: { scope: ['SESSION_ACCESS'] } },
        schema: {
          operationId: 'exportData',
          summary: "Everything that is kept of the caller's person",
          description: 'For sessions. Secrets are not in it.',
          tags,
          response: { 200: ExportView, ...ErrorAnswers },
        },
      },
      async (req, reply) => sendBytes(reply, await exportData(deps, requireViewer(req))),
    )
  })
}
