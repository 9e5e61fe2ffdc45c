// Projects, organizations and members for tests of teams, written by SQL.

import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { SCOPES } from '#features/basics/access/scopes.ts'
import type { VersionStatus } from '#features/basics/access/version-status.ts'
import { newId } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import type { ProjectStatus } from '#taxonomy/project-status.ts'

export type Owned = { id: string; slug: string; teamId: string }
type Account = { id: string }
type Member = {
  role?: string
  is_owner?: boolean
  accepted?: boolean
  permissions?: number
  organization_permissions?: number | null
  ordering?: number
  payouts_split?: number
}

const TEXTS = { name: 'Lantern', summary: 'A small light', description: 'It shines.', license: 'MIT' }

export function teamFactories(db: Db) {
  /** A team row; accepted, without permissions, unless told otherwise. */
  async function member(teamId: string, account: Account, fields: Member = {}): Promise<void> {
    await db
      .insertInto('team_member')
      .values({ team_id: teamId, account_id: account.id, accepted: true, ...fields })
      .execute()
  }

  async function team(owner: Account | undefined, organizationPermissions: number | null): Promise<string> {
    const teamId = newId()
    await db.insertInto('team').values({ id: teamId }).execute()
    if (owner !== undefined) {
      const permissions = ALL_PROJECT_PERMISSIONS
      const bits = { permissions, organization_permissions: organizationPermissions }
      await member(teamId, owner, { role: 'Owner', is_owner: true, payouts_split: 100, ...bits })
    }
    return teamId
  }

  /** An organization with its owner. */
  async function organization(owner: Account): Promise<Owned> {
    const id = newId()
    const slug = `organization-${id.toLowerCase()}`
    const teamId = await team(owner, ALL_ORGANIZATION_PERMISSIONS)
    const texts = { name: 'Makers of lanterns', description: 'We make lanterns' }
    await db
      .insertInto('organization')
      .values({ id, slug, team_id: teamId, ...texts })
      .execute()
    return { id, slug, teamId }
  }

  /** Creates a project with its owner. A project of an organization has no owner. */
  async function project(
    owner: Account | undefined,
    fields: { status?: string; organization_id?: string } = {},
  ): Promise<Owned> {
    const id = newId()
    const slug = `project-${id.toLowerCase()}`
    const teamId = await team(owner, null)
    await db
      .insertInto('project')
      .values({
        id,
        slug,
        team_id: teamId,
        ...TEXTS,
        ...fields,
        status: (fields.status ?? 'approved') as ProjectStatus,
      })
      .execute()
    return { id, slug, teamId }
  }

  /** Creates many public projects without members, and returns their IDs. */
  async function projects(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId())
    await db
      .insertInto('team')
      .values(ids.map((id) => ({ id })))
      .execute()
    const status: ProjectStatus = 'approved'
    const rows = ids.map((id) => ({ id, slug: `project-${id.toLowerCase()}`, team_id: id, ...TEXTS, status }))
    await db.insertInto('project').values(rows).execute()
    return ids
  }

  /** A listed version, where a test asks what becomes of versions. */
  async function version(projectId: string, author: Account, status = 'listed'): Promise<string> {
    const id = newId()
    await db
      .insertInto('version')
      .values({
        id,
        project_id: projectId,
        author_id: author.id,
        name: 'First',
        version_number: '1.0.0',
        version_type: 'release',
        status: status as VersionStatus,
        loaders: ['fabric'],
        fields: JSON.stringify({ game_versions: ['1.20.1'] }),
      })
      .execute()
    return id
  }

  return { member, organization, project, projects, version }
}

export type TeamFactories = ReturnType<typeof teamFactories>

/** A team member as routes show them. */
export type MemberView = {
  team_id: string
  user: { id: string; username: string }
  role: string
  is_owner: boolean
  permissions: number | null
  organization_permissions: number | null
  accepted: boolean
  payouts_split: number | null
  ordering: number
  /** Revision of the team. */
  revision: number
}

/** The usernames of a list of members, in its order. */
export const names = (members: readonly MemberView[]): string[] => members.map(({ user }) => user.username)

/** The entry of one person in a list of members; throws when there is none. */
export function memberOf(members: readonly MemberView[], person: { id: string }): MemberView {
  const member = members.find(({ user }) => user.id === person.id)
  if (member === undefined) throw new Error('Not in this list of members')
  return member
}

/** The bits of one scope, or of all scopes but one. */
export function scopeBits(which: 'ONLY' | 'ALL_BUT', name: string): number {
  const wanted = SCOPES.filter((scope) => (scope.name === name) === (which === 'ONLY'))
  return wanted.reduce((bits, { value }) => bits + value, 0)
}
