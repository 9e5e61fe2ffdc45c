import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { type ExportReader, exportAccount } from './export-data.ts'

/** Returns for an operator what a user would export, and records the reason. @throws ApiError 404. */
export async function exportUser(
  reader: ExportReader,
  actor: Actor,
  { name, reason }: { name: string; reason: string },
): Promise<Buffer> {
  const account = await getAccountByName(reader.db, name, { withLeaving: true })
  const data = await exportAccount(reader, account)
  const subject = { kind: 'user', id: account.id } as const
  await recordAudit(reader.db, { action: 'account.data_exported', actor, subject, details: { reason } })
  return data
}
