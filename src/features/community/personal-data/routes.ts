// Routes to export and delete the data of a user.

import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { confirmedOperator } from '#features/people/accounts/administration/confirmed-operator.ts'
import { checkReason, UserExport } from '#features/people/accounts/administration/requests.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type DeletingDeps, deleteAccount } from './delete-account.ts'
import { type ExportReader, exportData } from './export-data.ts'
import { exportUser } from './export-user.ts'
import { AccountDeletion } from './requests.ts'
import { ExportView } from './views.ts'

export function personalDataRoutes(app: App, deps: DeletingDeps): void {
  exportRoute(app, deps)
  deletionRoute(app, deps)
}

function exportRoute(app: App, deps: ExportReader): void {
  mountInternal(app, (scope) => {
    scope.post('/gdpr/export', {
      config: {
        isTransfer: true,
        auth: { scope: ['SESSION_ACCESS'] },
        cost: COSTS.everything,
        whenReadOnly: 'answers',
      },
      schema: {
        operationId: 'exportData',
        summary: 'Export all data stored about the caller',
        description: 'Requires a session. Omits passwords and other secrets.',
        response: { 200: ExportView },
      },
      handler: async (req, reply) => sendBytes(reply, await exportData(deps, requireViewer(req))),
    })
  })
}

/** An operator exports the data of a user who cannot sign in. */
export function userExportRoute(app: App, deps: ExportReader & { confirmOwner: ConfirmOwner }): void {
  mountInternal(app, (scope) => {
    scope.post('/admin/user/:id/export', {
      config: { isTransfer: true, auth: 'operator', cost: COSTS.everything, errors: ['401 invalid_credentials'] },
      schema: {
        operationId: 'exportUserData',
        summary: 'Export all data stored about a user who cannot sign in',
        description: 'Returns what the user would export: no passwords and other secrets, and no texts of others.',
        params: UserParams,
        body: UserExport,
        response: { 200: ExportView },
      },
      handler: async (req, reply) => {
        const reason = checkReason(req.body.reason)
        const actor = await confirmedOperator(deps, req)
        return sendBytes(reply, await exportUser(deps, actor, { name: req.params.id, reason }))
      },
    })
  })
}

/** `prefix`: the v2 API has the same route. */
export function deletionRoute(app: App, deps: DeletingDeps, prefix = '/v3'): void {
  app.delete(`${prefix}/user/:id`, {
    config: { auth: { scope: ['USER_DELETE'] }, cost: COSTS.password, errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'deleteUser',
      summary: 'Delete an account',
      description:
        'Users can delete their own account, admins any account. Transfers its projects, versions, organizations and ' +
        'applications to a placeholder account, and deletes everything else.',
      params: UserParams,
      body: AccountDeletion,
    },
    handler: async (req) => {
      const { reason, ...proof } = req.body ?? {}
      const stated = reason === undefined ? undefined : checkReason(reason)
      await deleteAccount(deps, requireViewer(req), { name: req.params.id, proof, reason: stated })
    },
  })
}
