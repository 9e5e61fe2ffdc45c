// SQL conditions: whether the creator of a row may still do what the row does in their place.
import { type SqlBool, sql } from 'kysely'
import {
  MODERATOR_ORGANIZATION_PERMISSIONS,
  MODERATOR_PROJECT_PERMISSIONS,
  ORGANIZATION_PERMISSIONS,
  PROJECT_PERMISSIONS,
} from '#features/basics/access/permissions.ts'

const bitsOfModerator = (bits: number) => sql`case creator.role when 'moderator' then ${sql.lit(bits)} else 0 end`

const PROJECT_BITS = sql`coalesce(
  (select member.permissions from team_member member join project on project.team_id = member.team_id
    where project.id = webhook.project_id and member.account_id = creator.id and member.accepted),
  (select member.permissions from project join organization on organization.id = project.organization_id
    join team_member member on member.team_id = organization.team_id
    where project.id = webhook.project_id and member.account_id = creator.id and member.accepted),
  ${bitsOfModerator(MODERATOR_PROJECT_PERMISSIONS)})`

const ORGANIZATION_BITS = sql`coalesce(
  (select coalesce(member.organization_permissions, 0) from organization
    join team_member member on member.team_id = organization.team_id
    where organization.id = webhook.organization_id and member.account_id = creator.id and member.accepted),
  ${bitsOfModerator(MODERATOR_ORGANIZATION_PERMISSIONS)})`

/**
 * The account that created the webhook `webhook` may not manage it any more. False for webhooks of deleted projects, which
 * still receive that the project was removed.
 */
export const CREATOR_MAY_NOT_MANAGE = sql<SqlBool>`
  (webhook.project_id is null or exists (select from project where project.id = webhook.project_id))
  and not exists (select from account creator where creator.id = webhook.created_by and (creator.role = 'admin'
    or case webhook.owner_kind
      when 'user' then webhook.account_id = creator.id
      when 'project' then ${PROJECT_BITS} & ${sql.lit(PROJECT_PERMISSIONS.EDIT_DETAILS)} <> 0
      when 'organization' then ${ORGANIZATION_BITS} & ${sql.lit(ORGANIZATION_PERMISSIONS.EDIT_DETAILS)} <> 0
      else false end))`

/** The member who created the access token of a service account is still a member of its organization. */
export const MAKER_IS_MEMBER = sql<SqlBool>`exists (
  select from account service join organization on organization.id = service.service_of
    join team_member member on member.team_id = organization.team_id
  where service.id = personal_access_token.account_id and member.account_id = personal_access_token.created_by
    and member.accepted)`
