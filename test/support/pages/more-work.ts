// More of everything that the pages for publishers, moderators and operators list, to count their statements again.
import { sql } from 'kysely'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { createInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import { makeZip } from '../factories/archives.ts'
import type { MadeProject, Person } from '../factories/factories.ts'
import { makeWaiting } from './moderation-pages.ts'
import type { WorkPeople } from './work-pages.ts'

/** Number of added items of each kind. */
const MORE = 12

export async function makeMoreWork(t: TestApp, people: WorkPeople): Promise<void> {
  const { rows } = await sql<{ id: string; slug: string; team_id: string }>`
    select id, slug, team_id from project where slug in ('lantern-of-the-deep', 'lantern')`.execute(t.deps.db)
  for (const { id, slug, team_id: teamId } of rows) await extend(t, { id, slug, teamId, owner: people.owner })
  for (let n = 0; n < MORE; n += 1) {
    const person = await t.make.account({ username: `more-${n}` })
    await addProjects(t, people, person, n)
    await addForModerators(t, people, person, n)
    await addForOperators(t, person, n)
  }
  await extendReviewed(t, people)
}

/** Adds members, versions with files and dependencies, and dependents to a project. */
async function extend(t: TestApp, project: MadeProject): Promise<void> {
  const versions = await t.deps.db.selectFrom('version').select('id').where('project_id', '=', project.id).execute()
  for (let n = 0; n < MORE; n += 1) {
    const about = { project: project.id, versions: versions.map(({ id }) => id), summary: `Advisory ${n}`, details: '' }
    await t.as(project.owner).post('/v3/advisory', about)
    const member = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: n, accepted: n % 3 > 0 })
    const other = await t.make.project({ name: `Needs and is needed ${n}` })
    const dependent = await t.make.version({ project: other })
    const status = n % 4 === 0 ? 'archived' : 'listed'
    const version = await t.make.version({ project, version_number: `9.${n}.0`, status })
    await t.make.file({ project, version, bytes: Buffer.from(`${project.id} ${n}`), filename: `more-${n}.jar` })
    for (const { id } of versions) {
      const bytes = Buffer.from(`${id} ${n}`)
      await t.make.file({ project, version: { id }, bytes, filename: `more-${n}.jar`, primary: false })
    }
    const rows = [
      ...versions.map(({ id }) => ({ dependent_id: id, project_id: other.id })),
      { dependent_id: dependent.id, project_id: project.id },
    ]
    await t.deps.db
      .insertInto('dependency')
      .values(rows.map((row) => ({ ...row, dependency_type: 'required' as const })))
      .execute()
  }
}

/** Adds projects in several states, drafts of versions, notifications and reports of users. */
async function addProjects(t: TestApp, { owner, reporter }: WorkPeople, other: Person, n: number): Promise<void> {
  const statuses = ['approved', 'draft', 'rejected', 'withheld']
  const project = await t.make.project({
    owner,
    name: `More ${n}`,
    status: statuses[n % statuses.length] ?? 'approved',
  })
  await t.make.version({ project, version_number: '1.0.0', game_versions: ['1.16.5'] })
  const draft = await t.make.version({ project, version_number: '2.0.0', status: 'draft' })
  const deletion = new Date(t.deps.now() + DAY_MS)
  await t.deps.db.updateTable('version').set({ draft_expires: deletion }).where('id', '=', draft.id).execute()
  await t.as(owner).post('/_internal/affiliate', { source_name: `Source ${n}` })
  const theirs = await t.make.project({ owner: other, name: `Theirs ${n}` })
  await t.make.version({ project: theirs })
  const invitation = { user_id: owner.id, role: 'Painter', permissions: 0, payouts_split: 0 }
  await t.as(other).post(`/v3/team/${theirs.teamId}/members`, invitation)
  await t.as(reporter).post(`/v3/project/${theirs.id}/follow`)
  const report = { report_type: 'spam', item_type: 'project', item_id: theirs.id, body: `Advertising ${n}` }
  await t.as(reporter).post('/v3/report', report)
}

/** Adds projects under review, scans, threads, reports, saved replies and decisions. */
async function addForModerators(t: TestApp, { moderator }: WorkPeople, other: Person, n: number): Promise<void> {
  const waiting = await makeWaiting(t, other, `Waiting ${n}`)
  await t.as(moderator).put(`/_internal/moderation/projects/${waiting.id}/claim`)
  const { thread_id } = (await t.as(other).get(`/v3/project/${waiting.id}`)).json()
  await t.as(other).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: 'When is my turn?' } })
  const held = await t.make.version({ project: waiting, status: 'unknown', version_number: '2.0.0' })
  await t.deps.db
    .insertInto('version_scan')
    .values({ version_id: held.id, state: 'quarantine', reason: 'A', next_attempt: new Date(), requested: new Date() })
    .execute()
  const { rows } = await sql<{ id: string }>`select project_id as id from report where project_id is not null
    group by project_id order by count(*) desc limit 1`.execute(t.deps.db)
  const report = { report_type: 'malicious', item_type: 'project', item_id: rows[0]?.id, body: `I saw it too, ${n}` }
  await t.as(other).post('/v3/report', report)
  const reply = { topic: `Topic ${n}`, language: 'en', title: `Title ${n}`, body: 'Please add the sources.' }
  await t.as(moderator).post('/_internal/moderation/replies', reply)
}

/** Adds an invitation, a grant, a payout, a delivery, a job, a backup and an entry of the audit log. */
async function addForOperators(t: TestApp, person: Person, n: number): Promise<void> {
  const { db, pool } = t.deps
  const expires = new Date(Date.now() + DAY_MS)
  await createInvitation(t.deps, COMMAND, { uses: 5, expires, email: person.email, note: `For ${n}` })
  const grant = { token_id: null, address_range: `2001:db8:${n + 1}::/48`, requests_per_minute: 600, note: 'A mirror' }
  await db
    .insertInto('rate_limit_grant')
    .values({ id: newId(), ...grant })
    .execute()
  const payout = { external_id: `more-${n}`, account_id: person.id, amount: '5', status: 'success' } as const
  await db
    .insertInto('payout')
    .values({ id: newId(), ...payout })
    .execute()
  const delivery = { kind: 'notification', is_sent: false, response: '550 No', at: new Date(), account_id: person.id }
  await db.insertInto('mail_delivery').values(delivery).execute()
  await pool.query("select graphile_worker.add_job('files.remove', '{\"keys\":[]}')")
  const details = { id: `more-${n}`, name: `daily-${n}.tar`, rows: 9, files: 1, events: 7, bytes: 61, missing: 0 }
  await recordAudit(db, { action: 'backup.made', actor: COMMAND, details })
}

/** Adds versions, links and messages of several users to the project of the review. */
async function extendReviewed(t: TestApp, { moderator }: WorkPeople): Promise<void> {
  const { rows } = await sql<{ id: string; slug: string; team_id: string; username: string }>`
    select project.id, slug, team_id, username from project join team_member using (team_id)
    join account on account.id = account_id where username = 'quartzine' and status = 'processing'`.execute(t.deps.db)
  for (const { id, slug, team_id: teamId } of rows) {
    const { thread_id } = (await t.as(moderator).get(`/v3/project/${id}`)).json()
    for (let n = 0; n < MORE; n += 1) {
      const member = await t.make.account()
      await t.make.member({ teamId, accountId: member.id })
      await t.as(member).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: `Message ${n}` } })
      const project = { id, slug, teamId, owner: member }
      const version = await t.make.version({ project, version_number: `5.${n}.0` })
      const bytes = makeZip([{ name: `${id}-${n}.json`, data: '{}' }])
      await t.make.file({ project, version, bytes, filename: `more-${n}.jar` })
    }
  }
}
