import type { FastifyReply } from 'fastify'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Sends a backup while a command makes it. It is always encrypted, because it contains the instance with its secrets.
 * @throws ApiError `conflict` without BACKUP_RECIPIENT
 */
export async function downloadBackup(
  { db, config, now, commands, log }: Pick<Deps, 'db' | 'config' | 'now' | 'commands' | 'log'>,
  { actor, reply }: { actor: Actor; reply: FastifyReply },
): Promise<FastifyReply> {
  if (config.backup.recipients.length === 0)
    throw new ApiError('conflict', 'Set BACKUP_RECIPIENT: only an encrypted backup can be downloaded')
  await recordAudit(db, { action: 'backup.downloaded', actor })
  const ended = new AbortController()
  reply.raw.on('close', () => ended.abort())
  const archive = commands.open(['backup', '-'], ended.signal).on('error', (err) => {
    if (!ended.signal.aborted) log.warn({ err }, 'A backup for a download failed')
  })
  const name = `depot-${new Date(now()).toISOString().slice(0, 10)}.tar.age`
  return reply
    .type('application/octet-stream')
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'private, no-store')
    .send(archive)
}
