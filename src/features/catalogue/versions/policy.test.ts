// The visibility rule of versions and its form in SQL return the same result in every case.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listMemberships } from '#features/basics/access/memberships.ts'
import { VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { canSeeVersion, versionVisibleTo } from './policy.ts'

const { t } = await teamApp()

test('the policy and its SQL twin agree on every status of version and project, and every membership', async () => {
  const team = teamFactories(t.deps.db)
  const owner = await t.make.account()
  const person = await t.make.account()
  const [pending, accepted] = [await team.organization(owner), await team.organization(owner)]
  await team.member(pending.teamId, person, { accepted: false, permissions: 0, organization_permissions: 0 })
  await team.member(accepted.teamId, person, { permissions: 0, organization_permissions: 0 })
  for (const status of PROJECT_STATUSES) {
    const outside = await t.make.project({ owner, status })
    const invited = await t.make.project({ owner, status })
    const joined = await t.make.project({ owner, status })
    await team.member(invited.teamId, person, { accepted: false })
    await team.member(joined.teamId, person)
    const owned = await Promise.all(
      [pending, accepted].map(({ id }) => t.make.project({ owner, status, organization_id: id })),
    )
    for (const project of [outside, invited, joined, ...owned]) {
      for (const versionStatus of VERSION_STATUSES) await t.make.version({ project, status: versionStatus })
    }
  }
  const rows = await t.deps.db
    .selectFrom('version')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['version.id', 'version.status', 'project.id as project_id', 'project.status as project_status'])
    .select(['project.team_id', 'project.organization_id'])
    .execute()
  assert.equal(rows.length, PROJECT_STATUSES.length * VERSION_STATUSES.length * 5)
  const base = {
    emailVerified: true,
    scopes: 0,
    caller: '127.0.0.1',
    address: '127.0.0.1',
    token: { kind: 'session', id: 'x' },
  } as const
  const viewers: (Viewer | null)[] = [
    null,
    { ...base, id: person.id, role: 'developer' },
    { ...base, id: owner.id, role: 'moderator' },
    { ...base, id: 'nobody00', role: 'admin' },
    { ...base, id: 'nobody00', role: 'developer' },
  ]
  for (const viewer of viewers) {
    const memberships =
      viewer === null
        ? new Map()
        : await listMemberships(t.deps.db, viewer, [...new Set(rows.map(({ project_id }) => project_id))])
    const bySql = await t.deps.db
      .selectFrom('version')
      .innerJoin('project', 'project.id', 'version.project_id')
      .select('version.id')
      .where(versionVisibleTo(viewer))
      .execute()
    const seen = new Set(bySql.map(({ id }) => id))
    for (const { id, status, project_id, project_status, team_id, organization_id } of rows) {
      const project = { id: project_id, status: project_status, team_id, organization_id }
      const expected = canSeeVersion(viewer, { id, status, project }, memberships.get(project_id) ?? {})
      assert.equal(seen.has(id), expected, `${viewer?.role} ${status} in ${project_status}`)
    }
  }
})
