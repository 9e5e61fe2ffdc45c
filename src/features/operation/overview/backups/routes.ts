// Operator routes of backups. Only a command restores one.
import Type from 'typebox'
import { operatorOf } from '#features/basics/audit/actor.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { downloadBackup } from './download-backup.ts'
import { loadBackups } from './load-backups.ts'
import { loadBackupTarget } from './load-target.ts'
import { requestBackup, requestVerification } from './request-backup.ts'
import { BackupParams } from './requests.ts'
import { BackupTargetView, BackupView } from './views.ts'

const BACKUPS_SHOWN = 100

/** A backup changes no content. */
const onDemand = { auth: 'operator', whenReadOnly: 'answers' } as const

type BackupDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'commands' | 'log'>

export function backupRoutes(app: App, deps: BackupDeps): void {
  app.get('/admin/backups', {
    config: { auth: 'operator' },
    schema: {
      operationId: 'listBackups',
      summary: 'List the backups in the audit log, newest first',
      response: { 200: Type.Array(BackupView, { maxItems: BACKUPS_SHOWN }) },
    },
    handler: () => loadBackups(deps.db, BACKUPS_SHOWN),
  })
  app.get('/admin/backups/target', {
    config: { auth: 'operator' },
    schema: {
      operationId: 'getBackupTarget',
      summary: 'Get the place of scheduled backups, its content, and the last verification',
      response: { 200: BackupTargetView },
    },
    handler: () => loadBackupTarget(deps),
  })
  app.post('/admin/backups', {
    config: { ...onDemand, errors: ['400 invalid_input'] },
    schema: { operationId: 'makeBackup', summary: 'Make a backup at BACKUP_TARGET in the background' },
    handler: async (req) => requestBackup(deps, operatorOf(req)),
  })
  app.post('/admin/backups/:name/verify', {
    config: { ...onDemand, errors: ['400 invalid_input', '404 not_found', '409 conflict'] },
    schema: {
      operationId: 'verifyBackup',
      summary: 'Restore a backup into a scratch folder and compare it, in the background',
      description: 'The result is in the audit log. Encrypted backups are verified by a command, where their key is.',
      params: BackupParams,
    },
    handler: async (req) => requestVerification(deps, operatorOf(req), req.params.name),
  })
  app.get('/admin/backups/archive', {
    config: { auth: 'operator', errors: ['409 conflict'] },
    schema: {
      operationId: 'downloadBackup',
      summary: 'Download a complete backup that is encrypted for BACKUP_RECIPIENT',
      description:
        'Depot makes the backup while it sends it. If it fails, the connection ends before the end of the file.',
      produces: ['application/octet-stream'],
      response: {},
    },
    handler: (req, reply) => downloadBackup(deps, { actor: operatorOf(req), reply }),
  })
}
