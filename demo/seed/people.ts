// Writes the people and organizations of the demo catalogue.

import { bytesOf, demoAvatar, demoIcon, hostImage } from '#demo/catalogue/images.ts'
import type { DemoOrganization, DemoPerson } from '#demo/catalogue/people.ts'
import { createRandom } from '#demo/catalogue/random.ts'
import { demoId } from '#demo/ids.ts'
import { listPresent, markItems } from '#demo/items.ts'
import { freeNames } from '#demo/seed/free-names.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { storeFirst } from '#demo/seed/store-first.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS, PROJECT_PERMISSIONS } from '#lib/access/permissions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

type SeedDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'config'>

export type Written = { added: number; present: number }

/** Prefix of the profile text of demo accounts. Most have no email address and no password, so nobody can sign in. */
export const DEMO_BIO = 'Demo account.'

const MEMBER_PERMISSIONS =
  PROJECT_PERMISSIONS.UPLOAD_VERSION | PROJECT_PERMISSIONS.EDIT_DETAILS | PROJECT_PERMISSIONS.EDIT_BODY
const OWNER_SPLIT = 100
const BATCH = 500
/** Indexes of the random streams for images; those of projects begin at 0. */
const AVATARS = 10_000_000
const EMBLEMS = 20_000_000

/** Adds missing people, some hundred at a time. */
export async function seedPeople(
  deps: SeedDeps,
  people: readonly DemoPerson[],
  { seed, mark }: { seed: number; mark: string },
): Promise<Written> {
  const written = { added: 0, present: 0 }
  for (let start = 0; start < people.length; start += BATCH) {
    const batch = people.slice(start, start + BATCH).map((person, i) => ({ ...person, n: start + i }))
    const ids = batch.map(({ n }) => demoId('account', n))
    const present = await listPresent(deps.db, 'account', ids)
    const missing = batch.filter((_, i) => !present.has(ids[i] ?? ''))
    written.present += present.size
    written.added += missing.length
    if (missing.length === 0) continue
    const names = await freeNames(
      deps.db,
      'account',
      missing.map(({ username }) => username),
      39,
    )
    const draw = async ({ username, bio, created, hasAvatar, n }: (typeof missing)[number]) => {
      const id = demoId('account', n)
      const avatar = hasAvatar
        ? hostImage(deps.config, demoAvatar(createRandom(seed, AVATARS + n)), `${id}-${mark}`)
        : undefined
      const row = {
        id,
        username: names.get(username) ?? username,
        bio: `${DEMO_BIO} ${bio}`.slice(0, 160),
        avatar_url: avatar?.url ?? null,
        raw_avatar_url: avatar?.rawUrl ?? null,
        created,
      }
      return { row, bytes: avatar === undefined ? [] : bytesOf(avatar) }
    }
    const accounts = await Promise.all(missing.map(draw))
    const bytes = accounts.flatMap((account) => account.bytes)
    await storeFirst(deps, bytes, async (tx, changed) => {
      const rows = accounts.map(({ row }) => row)
      const made = rows.map(({ id }) => id)
      await insertRows(tx, 'account', rows)
      await markItems(tx, 'account', made)
      changed.add('user', ...made)
    })
  }
  return written
}

/** Adds missing organizations with their teams. */
export async function seedOrganizations(
  deps: SeedDeps,
  organizations: readonly DemoOrganization[],
  { accountOf, seed, mark }: { accountOf: (username: string) => string; seed: number; mark: string },
): Promise<Written> {
  const all = organizations.map((organization, n) => ({ ...organization, id: demoId('organization', n), n }))
  const present = await listPresent(
    deps.db,
    'organization',
    all.map(({ id }) => id),
  )
  const draw = async (organization: (typeof all)[number]) => {
    const { bytes: png, color } = demoIcon(createRandom(seed, EMBLEMS + organization.n), 'organization')
    return { ...organization, color, icon: hostImage(deps.config, png, `${organization.id}-${mark}`) }
  }
  const missing = await Promise.all(all.filter(({ id }) => !present.has(id)).map(draw))
  const names = await freeNames(
    deps.db,
    'organization',
    missing.map(({ slug }) => slug),
    64,
  )
  const teamOf = (n: number) => demoId('organizationTeam', n)
  for (let start = 0; start < missing.length; start += BATCH) {
    const batch = missing.slice(start, start + BATCH)
    const bytes = batch.flatMap(({ icon }) => bytesOf(icon))
    await storeFirst(deps, bytes, async (tx, changed) => {
      await insertRows(
        tx,
        'team',
        batch.map(({ n }) => ({ id: teamOf(n) })),
      )
      await insertRows(
        tx,
        'team_member',
        batch.flatMap(({ n, owner, members, created }) => [
          {
            ...memberRow(teamOf(n), { accountId: accountOf(owner), role: 'Owner', created }),
            is_owner: true,
            permissions: ALL_PROJECT_PERMISSIONS,
            organization_permissions: ALL_ORGANIZATION_PERMISSIONS,
            payouts_split: OWNER_SPLIT,
          },
          ...members.map(({ username, role }) => ({
            ...memberRow(teamOf(n), { accountId: accountOf(username), role, created }),
            organization_permissions: 0,
          })),
        ]),
      )
      await insertRows(
        tx,
        'organization',
        batch.map(({ id, n, slug, name, description, created, color, icon }) => ({
          id,
          slug: names.get(slug) ?? slug,
          name,
          description,
          team_id: teamOf(n),
          icon_url: icon.url,
          raw_icon_url: icon.rawUrl,
          color,
          created,
        })),
      )
      const made = batch.map(({ id }) => id)
      await markItems(tx, 'organization', made)
      changed.add('organization', ...made)
    })
  }
  return { added: missing.length, present: present.size }
}

export type MemberFacts = { accountId: string; role: string; created: Date }

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
  return {
    ...memberRow(teamId, { accountId, role: 'Owner', created }),
    is_owner: true,
    permissions: ALL_PROJECT_PERMISSIONS,
    payouts_split: OWNER_SPLIT,
  }
}

/** Sets the password hash and the role of an account without a password, and returns its username. */
export async function giveSignIn(
  deps: Pick<Deps, 'db' | 'cache'>,
  { id, role, passwordHash }: { id: string; role: DemoPerson['role']; passwordHash: string },
): Promise<string | undefined> {
  return transaction(deps, async (tx, changed) => {
    const given = await tx
      .updateTable('account')
      .set({ password_hash: passwordHash, role, email_verified: true })
      .where('id', '=', id)
      .where('password_hash', 'is', null)
      .returning('username')
      .executeTakeFirst()
    changed.add('user', id)
    return given?.username
  })
}
