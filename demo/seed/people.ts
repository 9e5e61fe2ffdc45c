// Writes the people and organizations of the demo catalogue.

import { bytesOf, demoAvatar, demoIcon, hostImage } from '#demo/catalogue/images.ts'
import type { DemoOrganization, DemoPerson } from '#demo/catalogue/people.ts'
import { demoId, demoRandom } from '#demo/ids.ts'
import { addMissing, markItems, type Written } from '#demo/items.ts'
import { freeNames } from '#demo/seed/free-names.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { storeFirst } from '#demo/seed/store-first.ts'
import {
  ALL_ORGANIZATION_PERMISSIONS,
  ALL_PROJECT_PERMISSIONS,
  PROJECT_PERMISSIONS,
} from '#features/basics/access/permissions.ts'
import type { Deps } from '#ports/deps.ts'

type SeedDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'config'>

/** Prefix of the profile text of demo accounts. Most have no email address and no password, so nobody can sign in. */
export const DEMO_BIO = 'Demo account.'

const MEMBER_PERMISSIONS =
  PROJECT_PERMISSIONS.UPLOAD_VERSION | PROJECT_PERMISSIONS.EDIT_DETAILS | PROJECT_PERMISSIONS.EDIT_BODY

/** Adds missing people. */
export function seedPeople(deps: SeedDeps, people: readonly DemoPerson[], mark: string): Promise<Written> {
  const all = people.map((person, n) => ({ ...person, n, id: demoId('account', n) }))
  return addMissing(deps.db, 'account', all, async (missing) => {
    const wanted = missing.map(({ username }) => username)
    const names = await freeNames(deps.db, 'account', wanted)
    const avatars = missing.map(({ id, hasAvatar, n }) =>
      hasAvatar ? hostImage(demoAvatar(demoRandom('avatar', n)), `${id}-${mark}`) : undefined,
    )
    const rows = missing.map(({ id, username, bio, created }, i) => ({
      id,
      username: names.get(username) ?? username,
      bio: `${DEMO_BIO} ${bio}`.slice(0, 160),
      avatar_url: avatars[i]?.key ?? null,
      raw_avatar_url: avatars[i]?.rawKey ?? null,
      created,
    }))
    const bytes = avatars.flatMap((avatar) => (avatar === undefined ? [] : bytesOf(avatar)))
    await storeFirst(deps, bytes, async (tx, changed) => {
      await insertRows(tx, 'account', rows)
      await markItems(tx, 'account', rows)
      changed.add('user', ...rows.map(({ id }) => id))
    })
  })
}

/** Adds missing organizations with their teams. */
export function seedOrganizations(
  deps: SeedDeps,
  organizations: readonly DemoOrganization[],
  { accountOf, mark }: { accountOf: (username: string) => string; mark: string },
): Promise<Written> {
  const all = organizations.map((organization, n) => ({ ...organization, n, id: demoId('organization', n) }))
  return addMissing(deps.db, 'organization', all, async (missing) => {
    const wanted = missing.map(({ slug }) => slug)
    const names = await freeNames(deps.db, 'organization', wanted)
    const prepared = missing.map(({ id, n, slug, name, description, owner, members, created }) => {
      const { bytes, color } = demoIcon(demoRandom('emblem', n), 'organization')
      const icon = hostImage(bytes, `${id}-${mark}`)
      const teamId = demoId('organizationTeam', n)
      const urls = { icon_url: icon.key, raw_icon_url: icon.rawKey, color }
      return {
        icon,
        row: { id, slug: names.get(slug) ?? slug, name, description, team_id: teamId, created, ...urls },
        team: [
          {
            ...ownerRow(teamId, { accountId: accountOf(owner), created }),
            organization_permissions: ALL_ORGANIZATION_PERMISSIONS as number | null,
          },
          ...members.map(({ username, role }) => ({
            ...memberRow(teamId, { accountId: accountOf(username), role, created }),
            organization_permissions: 0,
          })),
        ],
      }
    })
    const rows = prepared.map(({ row }) => row)
    const bytes = prepared.flatMap(({ icon }) => bytesOf(icon))
    await storeFirst(deps, bytes, async (tx, changed) => {
      const teams = rows.map(({ team_id }) => ({ id: team_id }))
      const members = prepared.flatMap(({ team }) => team)
      await insertRows(tx, 'team', teams)
      await insertRows(tx, 'team_member', members)
      await insertRows(tx, 'organization', rows)
      await markItems(tx, 'organization', rows)
      changed.add('organization', ...rows.map(({ id }) => id))
    })
  })
}

type MemberFacts = { accountId: string; role: string; created: Date }

/** Returns the row of an accepted member who is not the owner. */
export function memberRow(teamId: string, { accountId, role, created }: MemberFacts) {
  return {
    team_id: teamId,
    account_id: accountId,
    role,
    is_owner: false,
    permissions: MEMBER_PERMISSIONS,
    organization_permissions: null as number | null,
    accepted: true,
    payouts_split: 0,
    created,
  }
}

/** Returns the row of the owner of a project. */
export function ownerRow(teamId: string, { accountId, created }: Omit<MemberFacts, 'role'>) {
  const row = memberRow(teamId, { accountId, role: 'Owner', created })
  return { ...row, is_owner: true, permissions: ALL_PROJECT_PERMISSIONS, payouts_split: 100 }
}
