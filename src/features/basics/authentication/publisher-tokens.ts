// Finds the viewer of a trusted publisher's token. Builds send few requests, so the result is not cached: a publisher that
// was removed, or whose account left the project, stops working with the next request.
import { sql } from 'kysely'
import { CREATOR_IS_MEMBER } from '#features/basics/access/publishers.ts'
import { scopeBitsOf } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { addressKey } from '#lib/address-key.ts'
import type { Db } from '#platform/db/db.ts'
import type { TokenUser } from './token-use.ts'

const SCOPES = scopeBitsOf(['VERSION_CREATE', 'VERSION_READ', 'VERSION_WRITE'])

type PublisherRow = {
  id: string
  publisher_id: string
  account_id: string
  email_verified: boolean
  suspended: boolean
  project_id: string | null
  organization_id: string | null
}

/**
 * Returns the viewer: the account that added the publisher, limited to the publisher's project or organization and to
 * publishing versions. One statement.
 */
export async function findPublisherToken(
  db: Db,
  { hash, now, req }: { hash: Buffer; now: number; req: TokenUser },
): Promise<Viewer | 'invalid' | 'suspended'> {
  const at = new Date(now)
  const { rows } = await sql<PublisherRow>`
    select token.id, token.publisher_id, account.id as account_id, account.email_verified,
      account.suspended_at is not null and coalesce(account.suspended_until > ${at}, true) as suspended,
      coalesce(token.project_id, publisher.project_id) as project_id,
      case when token.project_id is null then publisher.organization_id end as organization_id
    from publisher_token token
      join trusted_publisher publisher on publisher.id = token.publisher_id
      join account on account.id = publisher.created_by and account.deletion_due is null
    where token.token_hash = ${hash} and token.expires > ${at} and publisher.stopped is null and ${CREATOR_IS_MEMBER}
      and (token.project_id is null or publisher.project_id is not null or exists (select from project
        where project.id = token.project_id and project.organization_id = publisher.organization_id))`.execute(db)
  const [row] = rows
  if (row === undefined) return 'invalid'
  if (row.suspended) return 'suspended'
  return {
    id: row.account_id,
    role: 'developer',
    emailVerified: row.email_verified,
    scopes: SCOPES,
    caller: addressKey(req.clientAddress),
    address: req.clientAddress,
    token: { kind: 'publisher', id: row.id, publisherId: row.publisher_id },
    limits: {
      projects: row.project_id === null ? [] : [row.project_id],
      organizations: row.organization_id === null ? [] : [row.organization_id],
    },
  }
}
