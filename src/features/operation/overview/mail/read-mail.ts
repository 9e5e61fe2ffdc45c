import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { findDelivery } from './queries.ts'
import { isWritten, type WrittenMailView } from './views.ts'

/**
 * Reads an email that an instance without a mail server wrote to a file. Each reading is in the audit log, because emails
 * contain links that act for their recipient.
 * @throws ApiError 404 if the email was not written to a file, or if the file is not on this server any more
 */
export async function readMail(
  { db, config: { mail } }: Pick<Deps, 'db' | 'config'>,
  actor: Actor,
  id: number,
): Promise<WrittenMailView> {
  const delivery = await findDelivery(db, id)
  if (delivery === undefined || mail.kind !== 'outbox' || !isWritten(delivery)) throw notFound('email')
  const { kind, account_id: accountId, response: file, at } = delivery
  const content = await readFile(join(mail.folder, file)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw notFound('email')
    throw error
  })
  const { default: PostalMime } = await import('postal-mime')
  const { to = [], subject = '', text = '' } = await PostalMime.parse(content)
  const about = accountId === null ? {} : { subject: { kind: 'user', id: accountId } as const }
  await recordAudit(db, { action: 'mail.read', actor, ...about, details: { kind, file } })
  const addresses = to.map(({ address = '' }) => address).join(', ')
  return { id, file, at: at.toISOString(), to: addresses, subject, text: text.trim() }
}
