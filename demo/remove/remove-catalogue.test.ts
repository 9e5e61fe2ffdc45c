// `depot seed --remove` returns an instance to its previous state and preserves everything that other users created or
// joined.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { demoId } from '#demo/ids.ts'
import { removeCatalogue } from '#demo/remove/remove-catalogue.ts'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { ensurePlaceholder, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { StoreInUseError } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { signIn } from '#test/support/http/account-steps.ts'
import { everyAddress, everyAnswer, everyRow } from '#test/support/http/every-response.ts'

const t = await testApp()
after(() => t.close())

const PROJECTS = 8

/** Counted rows move by adding to them; what they say together is compared. */
const MOVING = ['catalogue_change', 'author', 'audit_entry', 'demo_item', 'demo_catalogue']

async function storedKeys(): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of t.deps.files.list?.() ?? []) keys.push(key)
  return keys.sort()
}

async function countEvents(): Promise<number> {
  let count = 0
  for (const kind of EVENT_KINDS) {
    await t.deps.analytics.readEvents(kind, async (lines) => {
      count += lines.length
    })
  }
  return count
}

async function state() {
  const rows = await everyRow(t.deps.db)
  for (const table of MOVING) rows.delete(table)
  const { rows: counted } = await sql`select sum(projects)::int as projects, sum(versions)::int as versions,
    sum(files)::int as files, sum(authors)::int as authors from catalogue_change`.execute(t.deps.db)
  await t.searchable()
  const answers = await everyAnswer(t.anyone, [...(await everyAddress(t.deps.db)), '/v3/search?limit=100'])
  return { rows, counted, keys: await storedKeys(), events: await countEvents(), answers }
}

const demoRows = async () =>
  (
    await sql<{ n: number }>`select (select count(*)::int from demo_item) + (select count(*)::int from demo_catalogue)
      as n`.execute(t.deps.db)
  ).rows[0]?.n

test('restores the previous state: rows, files, images, search, events and every response', async () => {
  const mira = await t.make.account({ username: 'mira' })
  const project = await t.make.project({ owner: mira, slug: 'lantern' })
  await t.make.version({ project })
  // Deleting accounts creates the placeholder.
  await ensurePlaceholder(t.deps.db)
  const was = await state()
  await seedCatalogue(t.deps, PROJECTS)
  assert.ok((await countEvents()) > 1000)
  const seeded = await everyRow(t.deps.db)
  const dryRun = await removeCatalogue(t.deps, { isDryRun: true })
  assert.deepEqual(await everyRow(t.deps.db), seeded)
  const shown: number[] = []
  const report = await removeCatalogue(t.deps, { onProgress: (done, total) => void shown.push(done / total) })
  await t.runJobs()
  const { kept, events } = report
  assert.deepEqual([report.projects, kept, events.isLeft], [PROJECTS, { projects: [], organizations: [] }, false])
  assert.ok(report.people > 0 && report.organizations > 0 && report.collections > 0)
  assert.deepEqual(dryRun, report)
  assert.equal(shown.at(-1), 1)
  assert.deepEqual(await state(), was)
  assert.equal(await demoRows(), 0)
  const { rows: entries } = await sql<{ action: string }>`select action from audit_entry order by id`.execute(t.deps.db)
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['demo.written', 'demo.removed'],
  )
  assert.equal((await removeCatalogue(t.deps)).projects, 0, 'nothing is left for a second run')
})

test('resources that other users created or joined stay, without traces of demo accounts', async () => {
  const { signIns } = await seedCatalogue(t.deps, PROJECTS)
  const otto = await t.make.account({ username: 'otto' })
  const lantern = (await t.anyone.get('/v3/project/lantern')).json()
  const [joined, published, organizationProject] = [demoId('project', 0), demoId('project', 2), demoId('project', 3)]
  const { rows: teams } = await sql<{ id: string; team_id: string; slug: string }>`select id, team_id, slug from project
    where id in (${joined}, ${published}, ${organizationProject}) order by id`.execute(t.deps.db)
  const teamOf = (id: string) => teams.find((team) => team.id === id)?.team_id ?? ''
  await t.deps.db
    .insertInto('team_member')
    .values({ team_id: teamOf(joined), account_id: otto.id, accepted: true })
    .execute()
  await t.make.version({ project: { id: published, slug: '', teamId: teamOf(published), owner: otto } })
  await t.as(otto).post(`/v3/project/${published}/follow`)
  const session = (await signIn(t, 'demo-publisher', signIns[0]?.password ?? '')).json().session
  const publisher = t.as({ token: session })
  assert.equal((await publisher.post(`/v3/project/${lantern.id}/follow`)).statusCode, 204)
  const own = await t.make.project({ owner: { ...otto, id: demoId('account', 0) }, slug: 'of-the-publisher' })
  const dryRun = await removeCatalogue(t.deps, { isDryRun: true })
  const report = await removeCatalogue(t.deps)
  await t.runJobs()
  assert.deepEqual(dryRun, report)
  const slugs = teams.filter(({ id }) => id === joined || id === published).map(({ slug }) => slug)
  assert.deepEqual(report.kept.projects.toSorted(), slugs.toSorted())
  assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).statusCode, 404, 'made by an account of the demo')
  assert.equal((await t.anyone.get(`/v3/project/${lantern.id}`)).json().followers, lantern.followers)
  assert.equal((await publisher.get('/v3/user')).statusCode, 401)
  assert.equal((await t.anyone.get('/v3/user/demo-publisher')).statusCode, 404)
  for (const id of [joined, published]) {
    const kept = (await t.anyone.get(`/v3/project/${id}`)).json()
    assert.equal(kept.followers, id === published ? 1 : 0)
    const [version] = (await t.anyone.get(`/v3/project/${id}/version`)).json().toReversed()
    assert.equal(version.author_id, PLACEHOLDER_ID)
    assert.equal((await t.anyone.get(new URL(version.files[0].url).pathname)).statusCode, 200)
  }
  const { rows } = await sql<{ wrong: number }>`select count(*)::int as wrong from project
    where followers <> (select count(*) from follow where project_id = project.id)`.execute(t.deps.db)
  assert.equal(rows[0]?.wrong, 0)
  assert.equal(await demoRows(), 0)
})

test('while a server runs, the server removes the events, and a new demo waits until it has finished', async () => {
  await seedCatalogue(t.deps, PROJECTS)
  // Downloads of the test before may still be on their way.
  await t.deps.events.flush()
  const before = await countEvents()
  const analytics = { ...t.deps.analytics, identity: () => Promise.reject(new StoreInUseError('held')) }
  const report = await removeCatalogue({ ...t.deps, analytics })
  assert.equal(report.events.isLeft, true)
  assert.equal(await countEvents(), before)
  await assert.rejects(seedCatalogue({ ...t.deps, analytics }, PROJECTS), /removes the events of demo projects/)
  await t.runJobs()
  assert.equal(await demoRows(), 0)
  assert.ok((await countEvents()) < before)
})

test('the next run completes an interrupted removal, and a demo written in the meantime keeps its files', async () => {
  await seedCatalogue(t.deps, PROJECTS)
  const analytics = { ...t.deps.analytics, forgetProjects: () => Promise.reject(new Error('cut off')) }
  await assert.rejects(removeCatalogue({ ...t.deps, analytics }), /cut off/)
  await removeCatalogue(t.deps)
  await seedCatalogue(t.deps, 3)
  await t.runJobs()
  const { rows } = await sql<{ storage_key: string }>`select storage_key from file join version
    on version.id = version_id join demo_item on demo_item.kind = 'project' and demo_item.id = project_id`.execute(
    t.deps.db,
  )
  assert.ok(rows.length > 0)
  for (const { storage_key } of rows) assert.ok((await t.deps.files.stat(storage_key)) !== undefined, storage_key)
})

test('it is rejected while the demo is written, and while one of its accounts is an admin', async () => {
  const runs = await Promise.allSettled([seedCatalogue(t.deps, PROJECTS), removeCatalogue(t.deps)])
  assert.equal(runs.filter(({ status }) => status === 'rejected').length, 1)
  await seedCatalogue(t.deps, 3)
  await sql`update account set role = 'admin' where id = ${demoId('account', 1)}`.execute(t.deps.db)
  await assert.rejects(removeCatalogue(t.deps), /demo account demo-moderator is an admin/)
  assert.ok(((await demoRows()) ?? 0) > 0)
})
