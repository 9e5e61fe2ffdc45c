// Finds the last change of a project, for an editor whose changes are in conflict with it.
import { sql } from 'kysely'
import { ApiError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'

/** `by`: username; null if a moderator, an operator or a deleted user has made the change. */
export type LastEdit = { by: string | null; at: Date }

/** Returns the last change of these fields, or of any field. The audit log has it. */
export async function findLastEdit(
  db: Db,
  projectId: string,
  fields?: readonly string[],
): Promise<LastEdit | undefined> {
  const { rows } = await sql<LastEdit>`
    select member.username as by, entry.at from audit_entry entry
    left join lateral (select account.username from account
      where account.id = entry.actor_id and exists (
        select from project join team_member on team_member.account_id = account.id and team_member.accepted
          left join organization on organization.id = project.organization_id
        where project.id = ${projectId} and team_member.team_id in (project.team_id, organization.team_id))) member on true
    where entry.subject_kind = 'project' and entry.subject_id = ${projectId}
      and (entry.action = 'project.changed' and (${fields === undefined} or entry.details -> 'fields' ?| ${fields ?? []}::text[])
        or entry.action = 'project.status_changed' and (${fields === undefined} or 'status' = any(${fields ?? []}::text[])))
    order by entry.id desc limit 1`.execute(db)
  return rows[0]
}

/** Returns the error of an outdated edit with the last change in its details. */
export async function withLastEdit(db: Db, error: ApiError, projectId: string): Promise<ApiError> {
  const edit = await findLastEdit(db, projectId)
  if (edit === undefined) return error
  const details = { ...error.details, changed_by: edit.by, changed_at: edit.at.toISOString() }
  return new ApiError(error.kind, error.message, { details })
}
