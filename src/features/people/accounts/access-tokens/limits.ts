// Limits of fine-grained tokens: projects and organizations of which the account is a member, and networks.
import { isIP, isIPv6 } from 'node:net'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { listMemberships } from '#features/basics/access/memberships.ts'
import { isMember } from '#features/basics/access/project-policy.ts'
import { validationError } from '#lib/errors.ts'
import { Id, Nullable } from '#lib/schema/schema-parts.ts'
import type { Db } from '#platform/db/db.ts'

/** Maximum number of entries of each list. The database has the same limit. */
const ENTRIES_MAX = 100

const list = (description: string, item = Id()) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: ENTRIES_MAX, description }))

export const TokenLimits = Type.Object(
  {
    projects: list('IDs of projects of which the caller is a member'),
    organizations: list(
      'IDs of organizations of which the caller is a member. The token covers their present and future projects',
    ),
    addresses: list(
      'IP addresses and networks, such as `192.0.2.0/24`, from which the token works. Default: it works everywhere',
      Type.String({ maxLength: 64 }),
    ),
  },
  {
    title: 'TokenLimits',
    description:
      'With projects or organizations, the token acts as a member of these only, and never as a moderator or admin. With addresses, it works only from these',
  },
)
export type TokenLimits = Static<typeof TokenLimits>

/** The limits of a token in a response, with networks in their normal form. */
export const TokenLimitsView = Nullable(
  Type.Object({
    projects: Nullable(Type.Array(Type.String())),
    organizations: Nullable(Type.Array(Type.String())),
    addresses: Nullable(Type.Array(Type.String())),
  }),
)

export type LimitColumns = {
  project_ids: string[] | null
  organization_ids: string[] | null
  addresses: string[] | null
}

const UNLIMITED: LimitColumns = { project_ids: null, organization_ids: null, addresses: null }

/** Returns the columns of these limits, without duplicates. @throws ApiError `validation_error` naming the entry. */
export async function checkLimits(db: Db, accountId: string, limits: TokenLimits | null): Promise<LimitColumns> {
  if (limits === null) return UNLIMITED
  const { projects = [], organizations = [], addresses = [] } = limits
  if (projects.length + organizations.length + addresses.length === 0)
    throw validationError('limits', 'must contain projects, organizations or addresses')
  for (const [name, values] of Object.entries({ projects, organizations, addresses })) {
    if (values.length > ENTRIES_MAX) throw validationError(`limits.${name}`, `must have at most ${ENTRIES_MAX} entries`)
  }
  const memberships = await listMemberships(db, { id: accountId }, projects)
  for (const [index, id] of projects.entries()) {
    if (isMember(memberships.get(id) ?? {})) continue
    throw validationError(`limits.projects.${index}`, 'must be the ID of a project of which you are a member')
  }
  const own = await listOwnOrganizationIds(db, accountId, organizations)
  for (const [index, id] of organizations.entries()) {
    if (own.has(id)) continue
    throw validationError(
      `limits.organizations.${index}`,
      'must be the ID of an organization of which you are a member',
    )
  }
  for (const [index, address] of addresses.entries()) {
    if (isNetwork(address)) continue
    throw validationError(
      `limits.addresses.${index}`,
      'must be an IPv4 or IPv6 address, or a network such as 192.0.2.0/24 or 2001:db8::/32',
    )
  }
  return { project_ids: toColumn(projects), organization_ids: toColumn(organizations), addresses: toColumn(addresses) }
}

/** Returns the value of the column `addresses`, with networks in their normal form. */
export function networksColumn(addresses: readonly string[] | null) {
  return sql<
    string[] | null
  >`(select array_agg(distinct network(address::inet)) from unnest(${addresses}::text[]) address)`
}

function toColumn(values: readonly string[]): string[] | null {
  return values.length === 0 ? null : [...new Set(values)]
}

async function listOwnOrganizationIds(db: Db, accountId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('organization')
    .innerJoin('team_member', 'team_member.team_id', 'organization.team_id')
    .select('organization.id')
    .where('organization.id', 'in', ids)
    .where('team_member.account_id', '=', accountId)
    .where('team_member.accepted', '=', true)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Client addresses are never IPv4 addresses in IPv6 notation, so such a network would match nothing. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  if (rest.length > 0 || isIP(address) === 0 || address.includes('%') || /^::ffff:.*\./i.test(address)) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32))
}
