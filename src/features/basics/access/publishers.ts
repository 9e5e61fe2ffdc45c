// The condition under which trusted publishers work.
import { sql } from 'kysely'

/**
 * SQL condition: the account that added the publisher `publisher` is an accepted member of its project, of the
 * organization of its project, or of its organization. It starts with the teams, because an account can be a member of
 * thousands.
 */
export const CREATOR_IS_MEMBER = sql<boolean>`exists (
  select from (
    select project.team_id from project where project.id = publisher.project_id
    union all
    select organization.team_id from project join organization on organization.id = project.organization_id
      where project.id = publisher.project_id
    union all
    select organization.team_id from organization where organization.id = publisher.organization_id) owner
  join team_member on team_member.team_id = owner.team_id and team_member.account_id = publisher.created_by
  where team_member.accepted)`
