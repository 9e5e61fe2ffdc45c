// The list of accounts, their approval and related accounts, for moderators and operators.
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { approveAccounts } from './approve-accounts.ts'
import { seesEmails } from './policy.ts'
import { listFilteredAccounts } from './queries.ts'
import { listRelated } from './related.ts'
import { ACCOUNTS_MAX, AccountsQuery, ApprovalInput, toAccountFilter } from './requests.ts'
import { AccountListView, ApprovedView, RelatedView, toListedAccountView, toRelatedView } from './views.ts'

export function accountListRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now'>): void {
  app.get('/moderation/users', {
    config: { auth: { scope: ['USER_READ'] }, role: 'moderator', errors: ['400 validation_error'] },
    schema: {
      operationId: 'listAccounts',
      summary: 'List accounts',
      description: 'Only operators receive email addresses and can search for them.',
      querystring: AccountsQuery,
      response: { 200: AccountListView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { sort = 'newest', limit = ACCOUNTS_MAX, offset = 0, ...query } = req.query
      const reading = { searchesEmail: seesEmails(viewer), now: new Date(deps.now()) }
      const page = { filter: toAccountFilter(query), sort, limit, offset }
      const { accounts, total } = await listFilteredAccounts(deps.db, page, reading)
      return { total, users: accounts.map((account) => toListedAccountView(viewer, account, deps.now())) }
    },
  })
  app.post('/moderation/approvals', {
    config: { auth: { scope: ['USER_WRITE'] }, role: 'moderator' },
    schema: {
      operationId: 'approveAccounts',
      summary: 'Approve accounts that wait',
      description:
        'Only if `approve_accounts` is set, new accounts wait. Accounts that do not wait stay as they are. Notifies the users by email.',
      body: ApprovalInput,
      response: { 200: ApprovedView },
    },
    handler: async (req) => ({ count: await approveAccounts(deps, requireViewer(req), req.body.users) }),
  })
  app.get('/moderation/users/:id/related', {
    config: { auth: { scope: ['USER_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listRelatedAccounts',
      summary: 'List accounts that might belong to the same person',
      params: UserParams,
      response: { 200: RelatedView },
    },
    handler: async (req) => {
      const { id } = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      const related = await listRelated(deps.db, id, new Date(deps.now()))
      return toRelatedView(requireViewer(req), related, deps.now())
    },
  })
}
