// Edits several members of a team in one transaction.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { requireRevision } from '#platform/cache/revisions.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeamOf } from './change-team.ts'
import { withCurrentMembers } from './current-team.ts'
import { applyChange } from './edit-member.ts'
import { requireTeamPermission } from './policy.ts'
import type { MemberChange } from './requests.ts'

export type MembersEdit = {
  teamId: string
  members: readonly { accountId: string; fields: MemberChange }[]
  /** Revision of the team on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * Edits members and invitees like `editMember`. The permissions of the caller are those before the edit.
 * @throws ApiError like `editMember`, naming `members.N` or a field in it; 400 for an account that is named twice or is not
 * in the team. Then nothing is saved.
 */
export async function editMembers(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  viewer: Viewer,
  edit: MembersEdit,
): Promise<void> {
  requireDifferentAccounts(edit)
  const { teamId } = edit
  await withCurrentMembers(deps, viewer, { teamId, edit: () => saveMembers(deps, viewer, edit) })
}

async function saveMembers(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { teamId, members, revision }: MembersEdit,
): Promise<void> {
  const targetIds = members.map(({ accountId }) => accountId)
  await changeTeamOf(deps, viewer, { teamId, targetIds }, async (tx, teamFor) => {
    const team = teamFor(viewer.id)
    requireTeamPermission(team, 'EDIT_MEMBER')
    requireRevision(team, revision)
    for (const [index, { accountId, fields }] of members.entries()) {
      await applyChange(tx, viewer, teamFor(accountId), fields).catch((error: unknown) => {
        throw error instanceof ApiError ? errorOf(index, error) : error
      })
    }
  })
}

function requireDifferentAccounts({ members }: MembersEdit): void {
  const seen = new Set<string>()
  for (const [index, { accountId }] of members.entries()) {
    if (seen.has(accountId)) throw validationError(`members.${index}.user_id`, 'is named twice')
    seen.add(accountId)
  }
}

/** Returns the error of one member with its place in the body. */
function errorOf(index: number, error: ApiError): ApiError {
  const place = `members.${index}`
  const { field, message } = { field: undefined, message: error.message, ...error.details }
  if (error.kind === 'not_found') return validationError(`${place}.user_id`, 'is not a member of this team')
  if (error.kind === 'validation_error') return validationError(`${place}.${String(field)}`, String(message))
  return new ApiError(error.kind, error.message, { details: { field: place, message: error.message } })
}
