// The routes to take content down, to undo it, and to the files that are blocked, for moderators and operators.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams, PageQuery } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import { countBlockedFiles, listBlockedFiles } from './blocks.ts'
import { liftBlock } from './lift-block.ts'
import { BlockedFileParams, parseTakedown, TakedownInput } from './requests.ts'
import { previewTakedown, type TakedownDeps, takeDown } from './take-down.ts'
import { undoTakedown } from './undo-takedown.ts'
import { BlockedFilesView, TakedownView, toBlockedFileView, toTakedownView, UndoneView } from './views.ts'

const WRITE = {
  auth: { scope: ['PROJECT_WRITE', 'VERSION_WRITE', 'COLLECTION_WRITE', 'USER_WRITE'] },
  role: 'moderator',
} as const

export function takedownRoutes(app: App, deps: TakedownDeps): void {
  app.post('/moderation/takedown', {
    config: { ...WRITE, errors: ['404 not_found'] },
    schema: {
      operationId: 'takeDown',
      summary: 'Take content down',
      description:
        'Hides the content, blocks the contents of its files, and deletes nothing. With `dry_run`, only returns what the ' +
        'takedown would change. Adds entries to the audit log and notifies the members.',
      body: TakedownInput,
      response: { 200: TakedownView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const takedown = parseTakedown(req.body, deps.taxonomy)
      if (req.body.dry_run === true) return toTakedownView(await previewTakedown(deps, takedown), null)
      const done = await takeDown(deps, viewer, takedown)
      return toTakedownView(done, done.id)
    },
  })
  app.post('/moderation/takedown/:id/undo', {
    config: WRITE,
    schema: {
      operationId: 'undoTakedown',
      summary: 'Undo a takedown',
      description:
        'Restores what the takedown changed and nobody has changed since, and lifts the blocks of its files. After an ' +
        'hour, only operators can undo it.',
      params: IdParams,
      response: { 200: UndoneView },
    },
    handler: async (req) => ({ left: await undoTakedown(deps, requireViewer(req), parseId(req.params.id, 'id')) }),
  })
  blockedFileRoutes(app, deps)
}

function blockedFileRoutes(app: App, deps: TakedownDeps): void {
  app.get('/moderation/blocked_files', {
    config: { auth: { scope: ['VERSION_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listBlockedFiles',
      summary: 'List the blocked files',
      description: 'Newest first.',
      querystring: PageQuery,
      response: { 200: BlockedFilesView },
    },
    handler: async ({ query: { limit = 100, offset = 0 } }) => ({
      total: await countBlockedFiles(deps.db),
      files: (await listBlockedFiles(deps.db, { limit, offset })).map(toBlockedFileView),
    }),
  })
  app.delete('/moderation/blocked_files/:hash', {
    config: WRITE,
    schema: {
      operationId: 'unblockFile',
      summary: 'Lift the block of a file',
      description: 'Only for operators. Any project can then contain the file. Hidden content stays hidden.',
      params: BlockedFileParams,
    },
    handler: (req): Promise<void> => liftBlock(deps, requireViewer(req), req.params.hash),
  })
}
