import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { demoId, demoPartId } from '#demo/ids.ts'
import { DEMO_BIO } from '#demo/seed/people.ts'
import { type SeedReport, seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { reconcileDownloads } from '#features/reading/downloads/reconcile-downloads.ts'
import { StoreInUseError } from '#ports/analytics-store/analytics-store.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError, signIn } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())

const PROJECTS = 60
let signIns: SeedReport['signIns'] = []
/** The first people have sign-ins. */
const FIRST_OTHER = 2

async function count(table: 'account' | 'organization' | 'project' | 'version' | 'file' | 'follow' | 'collection') {
  const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(t.deps.db)
  return rows[0]?.count
}
/** Returns everything written, except values that change on their own. */
async function everything(): Promise<string> {
  const { rows } = await sql<{ all: string }>`select jsonb_build_array(
    (select jsonb_agg(to_jsonb(project) - 'random_key' order by id) from project),
    (select jsonb_agg(version order by id) from version),
    (select jsonb_agg(to_jsonb(team_member) - 'created' order by team_id, account_id) from team_member),
    (select jsonb_agg(follow order by account_id, project_id) from follow),
    (select jsonb_agg(collection order by id) from collection))::text as all`.execute(t.deps.db)
  return rows[0]?.all ?? ''
}

test('names that real people and projects have stay theirs, and a run that was cut off is taken up by the next', async () => {
  const real = await t.make.account({ username: 'Selma703' })
  const first = demoId('project', 0)
  const files = {
    ...t.deps.files,
    putAll: async (items: Parameters<typeof t.deps.files.putAll>[0]) => {
      if (items.some(({ key }) => key.includes(demoPartId('version', 55, 0)))) throw new Error('The disk is full')
      return t.deps.files.putAll(items)
    },
  }
  await assert.rejects(seedCatalogue({ ...t.deps, files }, PROJECTS), /disk is full/)
  const half = (await count('project')) ?? 0
  assert.ok(half > 0 && half < PROJECTS, `${half} projects before the disk was full`)
  const report = await seedCatalogue(t.deps, PROJECTS)
  signIns = report.signIns
  assert.deepEqual(report.projects, { added: PROJECTS - half, present: half })
  assert.equal((await t.anyone.get('/v3/user/selma703')).json().id, real.id)
  assert.equal((await t.anyone.get('/v3/user/selma703-demo')).json().id, demoId('account', FIRST_OTHER))
  assert.equal((await t.anyone.get(`/v3/project/${first}`)).statusCode, 200)
})

test('a second run adds nothing and changes nothing, a larger one adds the difference', async () => {
  const before = await everything()
  const { projects, people, organizations, collections, versions } = await seedCatalogue(t.deps, PROJECTS)
  const added = [projects, people, organizations, collections].map((part) => part.added)
  assert.deepEqual([...added, versions], [0, 0, 0, 0, 0])
  assert.equal(projects.present, PROJECTS)
  assert.equal(await everything(), before)
  const more = await seedCatalogue(t.deps, PROJECTS + 5)
  assert.deepEqual(more.projects, { added: 5, present: PROJECTS })
  assert.equal(await count('project'), PROJECTS + 5)
  assert.equal((await seedCatalogue(t.deps, 3)).projects.added, 0)
})

test('everything written can be read over HTTP, including files with correct hashes', async () => {
  const versionId = demoPartId('version', 0, 0)
  const version = (await t.anyone.get(`/v3/version/${versionId}`)).json()
  const [file] = version.files
  const answer = await t.anyone.get(new URL(file.url).pathname)
  assert.equal(answer.statusCode, 200)
  assert.equal(createHash('sha512').update(answer.rawPayload).digest('hex'), file.hashes.sha512)
  assert.equal((await t.anyone.get(`/v3/version_file/${file.hashes.sha1}`)).json().id, versionId)
  const { rows } = await sql<{ id: string }>`select id from project order by id`.execute(t.deps.db)
  const ids = JSON.stringify(rows.map(({ id }) => id))
  const projects = (await t.anyone.get('/v3/projects', { query: { ids } })).json()
  assert.ok(projects.length >= PROJECTS * 0.8)
  for (const project of projects)
    assert.ok(project.versions.length > 0 && project.game_versions.length > 0, project.slug)
  const collection = (await t.anyone.get(`/v3/collection/${demoId('collection', 0)}`)).json()
  assert.ok(collection.projects.length >= 3)
})

test('projects, users and organizations have images that the server sends, and projects have galleries', async () => {
  const { rows } = await sql<{ url: string }>`select icon_url as url from project where icon_url is not null
    union all select avatar_url from account where avatar_url is not null
    union all select icon_url from organization
    union all select url from gallery_item`.execute(t.deps.db)
  assert.ok(rows.length > PROJECTS * 1.5, `${rows.length} pictures`)
  for (const { url } of rows) {
    const answer = await t.anyone.get(new URL(imageUrl(t.deps.config, url)).pathname)
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/png'])
  }
  const { gallery, description } = (await t.anyone.get(`/v3/project/${demoId('project', 2)}`)).json()
  assert.equal(gallery.length, 4)
  assert.equal(gallery.filter(({ featured }: { featured: boolean }) => featured).length, 1)
  assert.doesNotMatch(description, /\{picture\}/)
  const [, image] = /!\[[^\]]*\]\((\/data\/[^)]+)\)/.exec(description) ?? assert.fail(description)
  const page = await t.anyone.get(`/project/${demoId('project', 2)}`, { headers: { accept: 'text/html' } })
  const shown = page.statusCode === 200 ? page : await t.anyone.get(String(page.headers.location))
  assert.ok(shown.body.includes(`<img src="${t.deps.config.files.baseUrl}${image}"`), shown.body)
})

test('no date is after the first run, or before something that it depends on', async () => {
  const { rows } = await sql<{ wrong: number; newest: Date }>`select
    (select count(*) from follow join account on account.id = account_id join project on project.id = project_id
      where follow.created < greatest(account.created, project.published) or follow.created > until)
    + (select count(*) from gallery_item join project on project.id = project_id
      where gallery_item.created < project.published or gallery_item.created > until)
    + (select count(*) from version join project on project.id = project_id
      where date_published < project.published or date_published > until)
    + (select count(*) from team_member join account on account.id = account_id where team_member.created < account.created
      and is_owner) as wrong,
    (select max(updated) from project) as newest
    from demo_catalogue`.execute(t.deps.db)
  const [found] = rows
  assert.equal(found?.wrong, 0)
  assert.ok(t.deps.now() - (found?.newest.getTime() ?? 0) < 4 * 24 * 3_600_000, 'something happened in the last days')
})

test('the publisher and the moderator sign in with the passwords of the run that made them', async () => {
  assert.deepEqual(
    signIns.map(({ username, role }) => [username, role]),
    [
      ['demo-publisher', 'developer'],
      ['demo-moderator', 'moderator'],
    ],
  )
  for (const { username, password, role } of signIns) {
    const { statusCode, ...answer } = await signIn(t, username, password)
    assert.equal(statusCode, 200)
    const user = (await t.as({ token: answer.json().session }).get('/v3/user')).json()
    assert.deepEqual([user.username, user.role], [username, role])
  }
  assert.deepEqual((await seedCatalogue(t.deps, 3)).signIns, [], 'they keep their passwords')
})

test('everything that was made is named as such', async () => {
  for (const table of ['account', 'organization', 'project', 'collection'] as const) {
    const { rows } = await sql<{ made: number; marked: number }>`select
      (select count(*) from demo_item where kind = ${table}) as made,
      (select count(*) from ${sql.table(table)} join demo_item on demo_item.kind = ${table} and demo_item.id = ${sql.table(table)}.id) as marked`.execute(
      t.deps.db,
    )
    assert.ok((rows[0]?.made ?? 0) > 0)
    assert.equal(rows[0]?.made, rows[0]?.marked, table)
  }
})

test('each file of the store belongs to a row, each row has its file, and nothing is left claimed', async () => {
  const { rows } = await sql<{ storage_key: string; size_bytes: number }>`
    select storage_key, size_bytes from file`.execute(t.deps.db)
  for (const { storage_key, size_bytes } of rows)
    assert.deepEqual(await t.deps.files.stat(storage_key), { sizeBytes: size_bytes })
  const { rows: claims } = await sql`select 1 from upload_claim`.execute(t.deps.db)
  assert.equal(claims.length, 0)
})

test('counters say what the rows say', async () => {
  const { rows } = await sql<{ wrong: number; counted: unknown; recounted: unknown }>`select
    (select count(*) from project where followers <> (select count(*) from follow where project_id = project.id)
      or downloads <> (select sum(downloads) from version where project_id = project.id)) as wrong,
    (select to_jsonb(c) from (select sum(projects) as projects, sum(versions) as versions, sum(files) as files,
      sum(authors) as authors from catalogue_change) c) as counted,
    (select to_jsonb(r) from catalogue_recount() r) as recounted`.execute(t.deps.db)
  assert.equal(rows[0]?.wrong, 0)
  assert.deepEqual(rows[0]?.counted, rows[0]?.recounted)
  assert.ok(((await count('follow')) ?? 0) > 50)
})

test('demo accounts are marked, and signing in to them or resetting their password fails', async () => {
  const { rows } = await sql<{ username: string; bio: string }>`
    select username, bio from account where id = ${demoId('account', 3)}`.execute(t.deps.db)
  const { username = '', bio = '' } = rows[0] ?? {}
  assert.ok(bio.startsWith(DEMO_BIO))
  for (const password of ['', 'demo', 'password']) assert.ok((await signIn(t, username, password)).statusCode >= 400)
  assertError(await signIn(t, username, 'lantern glass orbit 77'), 401, 'invalid_credentials')
  const mailsBefore = (await t.mails()).length
  await t.anyone.post('/_internal/auth/password/reset', { username })
  await t.runJobs()
  assert.equal((await t.mails()).length, mailsBefore)
})

test('some projects wait for a review and some are drafts, all of them new and nothing that others depend on', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const { total, projects } = (await t.as(moderator).get('/_internal/moderation/projects')).json()
  assert.ok(total >= 1)
  assert.ok(projects.every(({ ownership }: { ownership: unknown }) => ownership !== null))
  const { rows } = await sql<{
    status: string
    downloads: number
    followers: number
    approved: Date | null
    named: number
  }>`
    select status, downloads, followers, approved,
      (select count(*) from dependency where dependency.project_id = project.id) as named
    from project where status in ('draft', 'processing')`.execute(t.deps.db)
  assert.deepEqual([...new Set(rows.map(({ status }) => status))].sort(), ['draft', 'processing'])
  for (const { downloads, followers, approved, named } of rows)
    assert.deepEqual([downloads, followers, approved, named], [0, 0, null, 0])
  assertError(await t.anyone.get(`/v3/project/${projects[0].slug}`), 404, 'not_found')
})

test('only one of two concurrent runs does the work', async () => {
  const runs = await Promise.allSettled([seedCatalogue(t.deps, PROJECTS + 10), seedCatalogue(t.deps, PROJECTS + 10)])
  const [done, refused] = runs.toSorted((a, b) => (a.status < b.status ? -1 : 1))
  assert.ok(done?.status === 'fulfilled' && refused?.status === 'rejected')
  assert.match(String(refused.reason), /Another command is writing or removing/)
  assert.equal(await count('project'), PROJECTS + 10)
})

test('the newest downloads match months of events, and counters, events and imports agree', async () => {
  const days = 120
  const project = demoId('project', 2)
  const session = await t.as({ token: (await signIn(t, 'demo-publisher', signIns[0]?.password ?? '')).json().session })
  const end = new Date(Math.ceil(t.deps.now() / 86_400_000) * 86_400_000)
  const asked = await session.post('/v3/analytics', {
    time_range: {
      start: new Date(end.getTime() - days * 86_400_000).toISOString(),
      end: end.toISOString(),
      resolution: { slices: days },
    },
    return_metrics: { project_downloads: {}, project_views: {} },
    project_ids: [project],
  })
  assert.equal(asked.statusCode, 200, asked.body)
  const daily = asked
    .json()
    .map((slice: { views?: number; downloads?: number }[]) =>
      slice.reduce((sum, { views = 0, downloads = 0 }) => sum + views + downloads, 0),
    )
  assert.ok(daily.filter((count: number) => count > 0).length > 50, 'on most days')
  assert.ok(Math.max(...daily) > 1.5 * (daily.reduce((a: number, b: number) => a + b, 0) / days), 'with peaks')
  const drift = await reconcileDownloads({ ...t.deps, store: t.deps.analytics })
  assert.deepEqual(drift, { projects: 0, versions: 0 })
  const { rows } = await sql<{ wrong: number }>`select count(*) as wrong from demo_item
    where kind = 'project' and not has_events`.execute(t.deps.db)
  assert.equal(rows[0]?.wrong, 0)
})

test('if the event store belongs to a server, the server adds the rest', async () => {
  const analytics = { ...t.deps.analytics, identity: () => Promise.reject(new StoreInUseError('held')) }
  const report = await seedCatalogue({ ...t.deps, analytics }, PROJECTS + 20)
  assert.deepEqual(report.events, { added: 0, isLeft: true })
  const left = async () =>
    (
      await sql<{ n: number }>`select count(*) as n from demo_item where kind = 'project' and not has_events`.execute(
        t.deps.db,
      )
    ).rows[0]?.n
  assert.ok(((await left()) ?? 0) > 0)
  await t.runJobs()
  assert.equal(await left(), 0)
  assert.deepEqual(await reconcileDownloads({ ...t.deps, store: t.deps.analytics }), { projects: 0, versions: 0 })
})

test('moderators find a queue with conversations, and reports that are open and closed', async () => {
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const { projects } = (await moderator.get('/_internal/moderation/projects')).json()
  const threads = await Promise.all(
    projects.map(async ({ thread_id }: { thread_id: string }) =>
      (await moderator.get(`/v3/thread/${thread_id}`)).json(),
    ),
  )
  assert.ok(threads.every(({ messages }) => messages.length >= 1))
  assert.ok(threads.some(({ messages }) => messages.length >= 2))
  const { rows } = await sql<{ open: number; closed: number; wrong: number }>`select
    (select count(*) from report where not closed) as open, (select count(*) from report where closed) as closed,
    (select count(*) from thread where size_bytes <> (select coalesce(sum(1024 + coalesce(octet_length(body ->> 'body'), 0)), 0)
      from thread_message where thread_id = thread.id)) as wrong`.execute(t.deps.db)
  const { open = 0, closed = 0, wrong } = rows[0] ?? {}
  assert.ok(open + closed >= 2 && open >= 1, `${open} open, ${closed} closed`)
  assert.equal(wrong, 0)
})

test('identifiers differ between kinds and counts, and have the form of all others', () => {
  const ids = Array.from({ length: 5000 }, (_, n) => [
    demoId('account', n),
    demoId('projectTeam', n),
    demoId('organizationTeam', n),
    demoId('thread', n),
    demoId('reportThread', n),
  ]).flat()
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[0-9A-Za-z]{8}$/)
  assert.equal(demoPartId('version', 1, 0), demoId('version', 64))
})
