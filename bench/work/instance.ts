// The instance that the pages for publishers, moderators and operators are measured on: 20,000 public projects, 10,000 that
// wait for a review, an author with 500 projects, reports, conversations, quarantined versions, notifications, audit entries.
import { sql } from 'kysely'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { depot, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { fill, makeLarge } from '../kit/fill.ts'
import { author, PASSWORD } from '../kit/publish.ts'
import { ADMIN_KEY, call } from '../kit/servers.ts'

const PROJECTS = 20_000
const WAITING = 10_000
const AUTHORS = 3_000
const OWN_PROJECTS = 500
const THREADS = 2_000
const REPORTS = 3_000
const REPORTED = 400
const QUARANTINED = 600
const NOTIFICATIONS = 400
const ENTRIES = 50_000
/** Days of downloads, as many as an operator can report. */
const DAYS = 6

/** An admin, who is also the moderator, and the author. */
export const PEOPLE = {
  admin: { username: 'bench', password: PASSWORD },
  publisher: { username: 'publisher', password: PASSWORD },
}

/** IDs and paths that the pages need. */
export type Instance = {
  /** Path of the author's project with 2,000 versions. */
  project: string
  versionId: string
  /** A project that waits for a review. */
  waiting: string
  reportId: string
  userId: string
}

/** Fills the instance whose server is running. */
export async function makeInstance({ url }: RunningDepot, dataDir: string): Promise<Instance> {
  await author(dataDir)
  const { username, password } = PEOPLE.publisher
  await depot(dataDir, [
    'user',
    'create',
    '--username',
    username,
    '--email',
    'publisher@example.org',
    '--password',
    password,
  ])
  const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
  const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
  try {
    const db = createDb(pool)
    await fill(db, { projects: PROJECTS, versionsEach: 5 })
    const publisher = await giveOwners(db)
    await fill(db, { projects: WAITING, versionsEach: 1 })
    await makeQueue(db)
    await makeConversations(db)
    await makeRecords(db, publisher)
    await sql`analyze`.execute(db)
    await reportDownloads(url, db, publisher)
    return await findInstance(db, publisher)
  } finally {
    await pool.end()
    await database.stop()
  }
}

/** Spreads the projects over authors; the first of them has 500. Returns the ID of this author. */
async function giveOwners(db: Db): Promise<string> {
  await sql`insert into account (id, username) select 'a' || lpad(i::text, 7, '0'), 'author-' || i
    from generate_series(1, ${AUTHORS}::integer) i`.execute(db)
  const { rows } = await sql<{
    id: string
  }>`select id from account where username = ${PEOPLE.publisher.username}`.execute(db)
  const [{ id } = { id: '' }] = rows
  await sql`update team_member set permissions = ${ALL_PROJECT_PERMISSIONS}, account_id =
      case when place <= ${OWN_PROJECTS} then ${id} else 'a' || lpad((1 + place % ${AUTHORS})::text, 7, '0') end
    from (select team_id, (row_number() over (order by id))::integer as place from project) owned
    where owned.team_id = team_member.team_id`.execute(db)
  return id
}

async function makeQueue(db: Db): Promise<void> {
  await sql`update team_member set account_id = 'a' || lpad((1 + abs(hashtext(project.id)) % ${AUTHORS})::text, 7, '0')
    from project where project.team_id = team_member.team_id and team_member.account_id = 'benchma0'`.execute(db)
  await sql`update project set status = 'processing', requested_status = 'approved',
      queued = now() - abs(hashtext(project.id)) % 1000 * interval '1 hour'
    from team_member where project.team_id = team_member.team_id and not exists (
      select 1 from version where version.project_id = project.id and version_number = '1.2')`.execute(db)
  await sql`insert into version_scan (version_id, state, reason, next_attempt, requested, finished)
    select version.id, 'quarantine', 'Contains a password-protected archive.', now(), now(), now() from version
    join project on project.id = version.project_id and project.status = 'processing'
    order by version.id limit ${QUARANTINED}`.execute(db)
}

/** A conversation about each waiting project, the first ones with a message that waits for an answer; and reports. */
async function makeConversations(db: Db): Promise<void> {
  await sql`insert into thread (id, type, project_id) select random_id(), 'project', id from project`.execute(db)
  await sql`insert into thread_message (id, thread_id, author_id, body)
    select random_id(), thread.id, team_member.account_id, '{"type":"text","body":"Is there news?","private":false,"associated_images":[],"replying_to":null}'
    from thread join project on project.id = thread.project_id and project.status = 'processing'
    join team_member on team_member.team_id = project.team_id
    order by thread.id limit ${THREADS}`.execute(db)
  await sql`update thread set unanswered_since = now() from thread_message where thread_message.thread_id = thread.id`.execute(
    db,
  )
  await sql`insert into report (id, report_type, item_type, project_id, item_id, reporter_id, body)
    select random_id(), 'spam', 'project', item.id, item.id, 'a' || lpad((1 + i % ${AUTHORS})::text, 7, '0'), 'This is an advertisement.'
    from generate_series(1, ${REPORTS}::integer) i
    join (select id, row_number() over (order by id) as place from project where status = 'approved' limit ${REPORTED}) item
      on item.place = 1 + i % ${REPORTED}`.execute(db)
  await sql`insert into thread (id, type, report_id, unanswered_since) select random_id(), 'report', id, now() from report`.execute(
    db,
  )
}

async function makeRecords(db: Db, publisher: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`select project.id from project
    join team_member using (team_id) where team_member.account_id = ${publisher} order by project.id limit 1`.execute(
    db,
  )
  await makeLarge(db, rows[0]?.id ?? '')
  await sql`insert into notification (id, account_id, body, created)
    select random_id(), ${publisher}, jsonb_build_object('type', 'project_update', 'project_id', version.project_id, 'version_id', version.id),
      now() - row_number() over () * interval '1 hour'
    from (select id, project_id from version where version_number = '1.1' order by id limit ${NOTIFICATIONS}) version`.execute(
    db,
  )
  await sql`insert into audit_entry (at, action, actor_kind, actor_id, subject_kind, subject_id, details)
    select now() - i * interval '1 minute', 'project.created', 'account', 'a' || lpad((1 + i % ${AUTHORS})::text, 7, '0'),
      'project', 'p' || i, '{"fields": ["summary", "description"]}'
    from generate_series(1, ${ENTRIES}::integer) i`.execute(db)
}

/** A download of each project of the author on each day. */
async function reportDownloads(url: string, db: Db, publisher: string): Promise<void> {
  const { rows } = await sql<{ path: string }>`
    select '/data/' || version.project_id || '/versions/' || version.id || '/a.jar' as path
    from version join project on project.id = version.project_id join team_member using (team_id)
    where team_member.account_id = ${publisher} and version_number = '1.1'`.execute(db)
  for (let day = 0; day < DAYS; day += 1) {
    const at = new Date(Date.now() - day * DAY_MS).toISOString()
    const answer = await call(`${url}/_internal/admin/downloads`, {
      method: 'POST',
      body: JSON.stringify({ downloads: rows.map(({ path }) => ({ url: path, ip: `192.0.2.${day}`, at })) }),
      headers: { 'content-type': 'application/json', 'x-admin-key': ADMIN_KEY },
    })
    const { counted } = (await answer.json()) as { counted?: number }
    if (counted !== rows.length) throw new Error(`${counted} of ${rows.length} downloads were counted`)
  }
}

async function findInstance(db: Db, userId: string): Promise<Instance> {
  const { rows } = await sql<{ slug: string; version: string; waiting: string; report: string }>`select
      (select slug from project where id = made.id) as slug,
      (select id from version where project_id = made.id order by id limit 1) as version,
      (select id from project where status = 'processing' order by queued limit 1) as waiting,
      (select id from report order by id limit 1) as report
    from (select project.id from project join team_member using (team_id)
      where team_member.account_id = ${userId} order by project.id limit 1) made`.execute(db)
  const [found] = rows
  if (found === undefined) throw new Error('The instance is empty')
  const { slug, version, waiting, report } = found
  return { project: `/mod/${slug}`, versionId: version, waiting, reportId: report, userId }
}
