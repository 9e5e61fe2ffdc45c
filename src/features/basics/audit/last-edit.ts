// Finds the last change of a resource, for an editor whose changes are in conflict with it.
import { sql } from 'kysely'
import { ApiError } from '#lib/errors.ts'
import { isOutdated } from '#platform/cache/revisions.ts'
import type { Db } from '#platform/db/db.ts'

/** `by`: username; null if a moderator, an operator or a deleted user has made the change. */
export type LastEdit = { by: string | null; at: Date }

export type EditedSubject = { kind: 'project' | 'organization' | 'collection' | 'pack'; id: string }

/** Returns the last change of these fields, or of any field. The audit log has it. */
export async function findLastEdit(
  db: Db,
  { kind, id }: EditedSubject,
  fields?: readonly string[],
): Promise<LastEdit | undefined> {
  const editors = {
    project: sql`select team_member.account_id from project left join organization on organization.id = project.organization_id
      join team_member on team_member.accepted and team_member.team_id in (project.team_id, organization.team_id)
      where project.id = ${id}`,
    organization: sql`select team_member.account_id from organization join team_member using (team_id)
      where organization.id = ${id} and team_member.accepted`,
    collection: sql`select account_id from collection where id = ${id}`,
    pack: sql`select account_id from pack where id = ${id}`,
  }
  const { rows } = await sql<LastEdit>`
    select editor.username as by, entry.at from audit_entry entry
    left join account editor on editor.id = entry.actor_id and editor.id in (${editors[kind]})
    where entry.subject_kind = ${kind} and entry.subject_id = ${id}
      and (entry.action = ${`${kind}.changed`} and (${fields === undefined} or entry.details -> 'fields' ?| ${fields ?? []}::text[])
        or entry.action = ${`${kind}.status_changed`} and (${fields === undefined} or 'status' = any(${fields ?? []}::text[])))
    order by entry.id desc limit 1`.execute(db)
  return rows[0]
}

/** Runs an edit. The error of an outdated edit has the last change in its details. */
export async function namingLastEdit(db: Db, subject: EditedSubject, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const edit = isOutdated(error) ? await findLastEdit(db, subject) : undefined
    if (!isOutdated(error) || edit === undefined) throw error
    const details = { ...error.details, changed_by: edit.by, changed_at: edit.at.toISOString() }
    throw new ApiError(error.kind, error.message, { details })
  }
}
