// Whom news about a project is for.
import type { Db } from '#db/db.ts'
import type { ProjectFacts } from './policy.ts'

/** Accounts of the accepted members of the project's team and of its organization, each once. */
export async function listMemberIds(
  db: Db,
  project: Pick<ProjectFacts, 'team_id' | 'organization_id'>,
): Promise<string[]> {
  const members = await db
    .selectFrom('team_member')
    .leftJoin('organization', 'organization.team_id', 'team_member.team_id')
    .select('team_member.account_id')
    .distinct()
    .where('team_member.accepted', '=', true)
    .where((eb) =>
      eb.or([
        eb('team_member.team_id', '=', project.team_id),
        eb('organization.id', '=', project.organization_id ?? ''),
      ]),
    )
    .execute()
  return members.map(({ account_id }) => account_id)
}
