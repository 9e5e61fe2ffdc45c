import { countRows } from '#platform/db/db.ts'

// Creates a service account of an organization.

import { PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { defaultProjectPermissions } from '#features/basics/access/team-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordEvents } from '#features/basics/events/record-event.ts'
import { findViewerIn, lockOrganization } from '#features/community/organizations/queries.ts'
import { assertUsernameFree, usernameTaken } from '#features/people/users/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { USERNAME } from '#lib/text/text-rules.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { asMember, requireManager } from './policy.ts'
import type { ServiceAccount } from './queries.ts'

/** Maximum number of service accounts of an organization. */
const SERVICE_ACCOUNTS_MAX = 20

/**
 * Creates an account without any way to sign in. It is a member of the organization and can upload versions, if its creator
 * can; the members can change its permissions like those of any member.
 * @throws ApiError 404, 403, `validation_error` and `conflict` naming `username`, `limit_reached`.
 */
export async function createServiceAccount(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'log' | 'metrics'>,
  viewer: Viewer,
  { organization: name, username }: { organization: string; username: string },
): Promise<ServiceAccount> {
  const id = newId()
  const created = new Date(deps.now())
  await transaction(deps, async (tx, changed) => {
    const organization = await lockOrganization(tx, name, 'change')
    const member = await findViewerIn(tx, viewer, organization)
    requireManager(asMember(viewer), member)
    if (!USERNAME.test(username))
      throw validationError('username', 'must be 1 to 39 letters, digits, dots, underscores or hyphens')
    await assertUsernameFree({ db: tx, now: deps.now }, username)
    const count = await countRows(tx.selectFrom('account').where('service_of', '=', organization.id))
    if (count >= SERVICE_ACCOUNTS_MAX) {
      throw new ApiError(
        'limit_reached',
        `An organization can have at most ${SERVICE_ACCOUNTS_MAX} service accounts. Delete one first.`,
      )
    }
    await tx
      .insertInto('account')
      .values({ id, username, service_of: organization.id, created })
      .execute()
      .catch(onUnique({ account_username_key: usernameTaken }))
    const permissions = defaultProjectPermissions(asMember(viewer), member) & PROJECT_PERMISSIONS.UPLOAD_VERSION
    const rights = { permissions, organization_permissions: 0, payouts_split: 0, ordering: 0 }
    await tx
      .insertInto('team_member')
      .values({ team_id: organization.team_id, account_id: id, role: 'Service account', accepted: true, ...rights })
      .execute()
    await recordAudit(tx, {
      action: 'service_account.created',
      actor: actorOf(viewer),
      subject: { kind: 'organization', id: organization.id },
      accountIds: [id],
      details: { username },
    })
    const data = { user_id: id, organization_id: organization.id }
    await recordEvents(tx, [{ kind: 'account.created', subject: { kind: 'user', id }, data }])
    changed.add('team', organization.team_id)
    changed.add('user', id)
  })
  recordEvent(deps, 'service_account.created', { account_id: id })
  return { id, username, created, tokens: [] }
}
