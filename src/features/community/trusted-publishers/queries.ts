// Rows of trusted publishers.
import { type Selectable, sql } from 'kysely'
import { CREATOR_IS_MEMBER } from '#features/basics/access/publishers.ts'
import type { Db } from '#platform/db/db.ts'
import type { TrustedPublisher } from '#platform/db/schema.ts'

export type PublisherRow = Selectable<TrustedPublisher>
/** The columns that decide whether a build matches. `works`: the account that added the publisher is still a member. */
export type PublisherFacts = PublisherRow & { works: boolean }

/** The project or the organization that owns a publisher. */
export type PublisherOwner =
  | { project_id: string; organization_id: null }
  | { project_id: null; organization_id: string }

const works = sql<boolean>`publisher.stopped is null and ${CREATOR_IS_MEMBER}`.as('works')

/** Returns the publishers of a project or an organization, oldest first. */
export function listPublishers(db: Db, owner: PublisherOwner): Promise<PublisherFacts[]> {
  return db
    .selectFrom('trusted_publisher as publisher')
    .selectAll()
    .select(works)
    .where((eb) =>
      owner.project_id === null
        ? eb('organization_id', '=', owner.organization_id)
        : eb('project_id', '=', owner.project_id),
    )
    .orderBy('created')
    .orderBy('id')
    .execute()
}

/** A build names at most this many publishers; further ones are ignored. */
const CANDIDATES_MAX = 1_000

/**
 * Returns the publishers that could match a repository: by its ID or its name.
 * @param projectId only publishers of this project or of its organization.
 */
export async function listCandidates(
  db: Db,
  { issuer, repository, repositoryId, projectId }: CandidateQuery,
): Promise<PublisherFacts[]> {
  return (
    db
      .selectFrom('trusted_publisher as publisher')
      .selectAll()
      .select(works)
      .where('issuer', '=', issuer)
      .where((eb) =>
        eb.or([
          eb('repository_id', '=', repositoryId ?? ''),
          eb(sql<string>`lower(repository)`, '=', repository.toLowerCase()),
        ]),
      )
      .$if(projectId !== undefined, (query) =>
        query.where((eb) =>
          eb.or([
            eb('project_id', '=', projectId ?? ''),
            eb(
              'organization_id',
              '=',
              eb
                .selectFrom('project')
                .select('project.organization_id')
                .where('project.id', '=', projectId ?? ''),
            ),
          ]),
        ),
      )
      // Publishers that strangers add for the repository do not displace the proven ones beyond the limit.
      .orderBy(sql`proven is null`)
      .orderBy('created')
      .orderBy('id')
      .limit(CANDIDATES_MAX)
      .execute()
  )
}

type CandidateQuery = {
  issuer: string
  repository: string
  repositoryId: string | undefined
  projectId: string | undefined
}

/** Returns the project with this ID or slug. An ID takes precedence. */
export async function findProjectId(db: Db, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`select id from project where id = ${name} or slug = ${name.toLowerCase()}
    order by (id = ${name}) desc limit 1`.execute(db)
  return rows[0]?.id
}

/** Returns the accounts that a change of a publisher concerns: the accepted members who own the project or organization. */
export async function listOwnerIds(db: Db, { project_id, organization_id }: PublisherOwner): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`
    select distinct account_id from team_member where accepted and is_owner and team_id in (
      select team_id from project where id = ${project_id}
      union all select organization.team_id from project join organization on organization.id = project.organization_id
        where project.id = ${project_id}
      union all select team_id from organization where id = ${organization_id})`.execute(db)
  return rows.map(({ account_id }) => account_id)
}
