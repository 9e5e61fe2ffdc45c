// Switches webhooks off that must not or cannot deliver, and notifies their owners.
import { type Selectable, sql } from 'kysely'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Webhook } from '#platform/db/schema.ts'

export type DisabledWebhook = Pick<
  Selectable<Webhook>,
  'id' | 'owner_kind' | 'project_id' | 'organization_id' | 'account_id' | 'host'
>

/** Switches a webhook off and notifies its owners. Its queued deliveries wait until it is switched on again. */
export async function disableWebhook(
  tx: Tx,
  changed: ChangeSet,
  webhook: DisabledWebhook,
  reason: 'failing' | 'gone' | 'secret_lost' | 'access_lost',
): Promise<void> {
  const { id, project_id, organization_id, account_id, owner_kind, host } = webhook
  await tx.updateTable('webhook').set({ active: false, disabled_reason: reason }).where('id', '=', id).execute()
  await recordAudit(tx, {
    action: 'webhook.disabled',
    actor: SYSTEM,
    subject: { kind: 'webhook', id },
    accountIds: account_id === null ? [] : [account_id],
    details: { owner: owner_kind, owner_id: project_id ?? organization_id, host, reason },
  })
  const owner = { project_id, organization_id, is_of_instance: owner_kind === 'instance' }
  await insertNotifications(tx, changed, await listOwnersOf(tx, webhook), {
    type: 'webhook_disabled',
    webhook_id: id,
    host,
    reason,
    ...owner,
  })
}

/** Returns the accounts that receive notifications about a webhook: its owners. */
async function listOwnersOf(db: Db, webhook: DisabledWebhook): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${webhook.account_id}::text as id where ${webhook.account_id}::text is not null
    union select id from account where ${webhook.owner_kind} = 'instance' and role = 'admin' and deletion_due is null
    union select account_id from team_member where accepted and is_owner and team_id in (
      select team_id from project where id = ${webhook.project_id}
      union all select organization.team_id from project join organization on organization.id = project.organization_id
        where project.id = ${webhook.project_id}
      union all select team_id from organization where id = ${webhook.organization_id})`.execute(db)
  return rows.map(({ id }) => id)
}
