// Writes the people and organizations of the demo catalogue.

import { transaction } from '#cache/transaction.ts'
import type { Db } from '#db/db.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS, PROJECT_PERMISSIONS } from '#lib/permissions.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#main/deps.ts'
import type { DemoOrganization, DemoPerson } from './demo-catalogue.ts'
import { freeNames } from './free-names.ts'
import { insertRows } from './insert-rows.ts'
import { demoId } from './seed-ids.ts'

type SeedDeps = Pick<Deps, 'db' | 'cache'>

export type Written = { added: number; present: number }

/** The profile text of a demo account. It has neither an address nor a password: nobody signs in as it. */
export const DEMO_BIO = 'Demo account.'

const MEMBER_PERMISSIONS =
  PROJECT_PERMISSIONS.UPLOAD_VERSION | PROJECT_PERMISSIONS.EDIT_DETAILS | PROJECT_PERMISSIONS.EDIT_BODY
const OWNER_SPLIT = 100
const BATCH = 1000
/** Accounts are older than the oldest project, which is nine years old, by up to half a year. */
const OLDEST_DAYS = 9 * 365 + 20

/** Adds the people who are not there yet, a thousand at a time. */
export async function seedPeople(deps: SeedDeps, people: readonly DemoPerson[], until: Date): Promise<Written> {
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
    const rows = missing.map(({ username, bio, n }) => ({
      id: demoId('account', n),
      username: names.get(username) ?? username,
      bio: `${DEMO_BIO} ${bio}`.slice(0, 160),
      created: new Date(until.getTime() - (OLDEST_DAYS + ((n * 79) % 180)) * DAY_MS),
    }))
    await transaction(deps, async (tx, changed) => {
      await insertRows(tx, 'account', rows)
      changed.add('user', ...rows.map(({ id }) => id))
    })
  }
  return written
}

/** Adds the organizations that are not there yet, with their teams. */
export async function seedOrganizations(
  deps: SeedDeps,
  organizations: readonly DemoOrganization[],
  { accountOf, until }: { accountOf: (username: string) => string; until: Date },
): Promise<Written> {
  const all = organizations.map((organization, n) => ({ ...organization, id: demoId('organization', n), n }))
  const present = await listPresent(
    deps.db,
    'organization',
    all.map(({ id }) => id),
  )
  const missing = all.filter(({ id }) => !present.has(id))
  const names = await freeNames(
    deps.db,
    'organization',
    missing.map(({ slug }) => slug),
    64,
  )
  for (let start = 0; start < missing.length; start += BATCH) {
    const batch = missing.slice(start, start + BATCH)
    await transaction(deps, async (tx, changed) => {
      const teamOf = (n: number) => demoId('organizationTeam', n)
      await insertRows(
        tx,
        'team',
        batch.map(({ n }) => ({ id: teamOf(n) })),
      )
      await insertRows(
        tx,
        'team_member',
        batch.flatMap(({ n, owner, members }) => [
          {
            ...memberRow(teamOf(n), accountOf(owner), 'Owner'),
            is_owner: true,
            permissions: ALL_PROJECT_PERMISSIONS,
            organization_permissions: ALL_ORGANIZATION_PERMISSIONS,
            payouts_split: OWNER_SPLIT,
          },
          ...members.map(({ username, role }) => ({
            ...memberRow(teamOf(n), accountOf(username), role),
            organization_permissions: 0,
          })),
        ]),
      )
      await insertRows(
        tx,
        'organization',
        batch.map(({ id, n, slug, name, description }) => ({
          id,
          slug: names.get(slug) ?? slug,
          name,
          description,
          team_id: teamOf(n),
          created: new Date(until.getTime() - OLDEST_DAYS * DAY_MS),
        })),
      )
      changed.add('organization', ...batch.map(({ id }) => id))
    })
  }
  return { added: missing.length, present: present.size }
}

/** An accepted row of a team that owns nothing. */
export function memberRow(teamId: string, accountId: string, role: string) {
  return {
    team_id: teamId,
    account_id: accountId,
    role,
    is_owner: false,
    permissions: MEMBER_PERMISSIONS,
    organization_permissions: null as number | null,
    accepted: true,
    payouts_split: 0,
  }
}

/** The row of a project's owner. */
export function ownerRow(teamId: string, accountId: string) {
  return {
    ...memberRow(teamId, accountId, 'Owner'),
    is_owner: true,
    permissions: ALL_PROJECT_PERMISSIONS,
    payouts_split: OWNER_SPLIT,
  }
}

/** Which of these rows exist. */
export async function listPresent(
  db: Db,
  table: 'account' | 'organization' | 'project' | 'collection',
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom(table).select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}
