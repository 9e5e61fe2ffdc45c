// Routes that clean up several accounts, and that undo it, for moderators and operators.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type CleanupDeps, cleanUp, planCleanup } from './clean-up.ts'
import { listCleanups } from './queries.ts'
import { CLEANUP_UNDO_MS, CleanupInput, parseCleanup } from './requests.ts'
import { undoCleanup } from './undo-cleanup.ts'
import { CleanupListView, CleanupView, toCleanupListView, toCleanupView, UndoneCleanupView } from './views.ts'

const WRITE = { auth: { scope: ['PROJECT_WRITE', 'COLLECTION_WRITE', 'USER_WRITE'] }, role: 'moderator' } as const

export function cleanupRoutes(app: App, deps: CleanupDeps): void {
  app.post('/moderation/cleanups', {
    config: { ...WRITE, cost: COSTS.password, errors: ['401 invalid_credentials', '409 conflict'] },
    schema: {
      operationId: 'cleanUpAccounts',
      summary: 'Suspend several accounts and remove their content',
      description:
        'Can be undone as a whole for an hour; then Depot deletes what is hidden and ends everything that acts for the ' +
        'accounts. Moderators can use `spam` for accounts of the role developer without an approved project. For everything ' +
        'else, an operator confirms the password. With `dry_run`, only returns what the cleanup would change.',
      body: CleanupInput,
      response: { 200: CleanupView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const cleanup = parseCleanup(req.body)
      if (req.body.dry_run === true) return toCleanupView(await planCleanup(deps, viewer, cleanup), null)
      const done = await cleanUp(deps, viewer, { ...cleanup, proof: req.body })
      return toCleanupView(done, done.id)
    },
  })
  app.get('/moderation/cleanups', {
    config: { auth: { scope: ['USER_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listCleanups',
      summary: 'List the cleanups of accounts that can still be undone',
      description: 'Newest first, at most 100.',
      response: { 200: CleanupListView },
    },
    handler: async () => toCleanupListView(await listCleanups(deps.db, new Date(deps.now() - CLEANUP_UNDO_MS))),
  })
  app.post('/moderation/cleanups/:id/undo', {
    config: { ...WRITE, errors: ['409 conflict'] },
    schema: {
      operationId: 'undoCleanup',
      summary: 'Undo a cleanup of accounts',
      description: 'Within an hour. What somebody has changed since stays as it is.',
      params: IdParams,
      response: { 200: UndoneCleanupView },
    },
    handler: (req) => undoCleanup(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
