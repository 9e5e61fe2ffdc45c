// Pages for moderators: the start page, the queue and the statistics.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { queueApp } from '#test/support/factories/queue-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '"><script>alert(1)</script>'
const QUEUE = '/moderation/queue'

const { t, mira, jon, owner, waiting, reviewOf, statusOf, as } = await queueApp()

test('each figure of the start page is the number of rows of the list that it links to', async (context) => {
  context.after(async () => {
    for (const table of ['report', 'version_scan', 'moderation_claim', 'advisory'] as const)
      await t.deps.db.deleteFrom(table).execute()
    await t.deps.db.updateTable('account').set({ awaits_approval: false }).execute()
  })
  const [first] = [await waiting('First'), await waiting('Second'), await waiting('Third')]
  const page = visitor(t, mira.token)
  assert.equal((await t.as(mira).put(`/_internal/moderation/projects/${first.id}/claim`)).statusCode, 200)
  const { thread_id } = (await t.as(owner).get(`/v3/project/${first.id}`)).json()
  const body = { type: 'text', body: 'Is anything missing?' }
  assert.equal((await t.as(owner).post(`/v3/thread/${thread_id}`, { body })).statusCode, 204)
  // Several reports about an item are one row.
  const [one, other] = [await t.make.project(), await t.make.project()]
  for (const item_id of [one.id, one.id, other.id]) {
    const input = { report_type: 'spam', item_type: 'project', item_id, body: 'Look' }
    assert.equal((await t.as(await t.make.account()).post('/v3/report', input)).statusCode, 201)
  }
  const version = await t.make.version({ project: first, status: 'unknown', version_number: '2.0.0' })
  const scan = { version_id: version.id, state: 'quarantine' as const, requested: new Date(), next_attempt: new Date() }
  await t.deps.db.insertInto('version_scan').values(scan).execute()
  const affected = await t.make.version({ project: one, version_number: '3.0.0' })
  const advisory = {
    project: one.id,
    versions: [affected.id],
    summary: 'It sends tokens',
    details: '',
    withdraw: false,
  }
  assert.equal((await t.as(one.owner).post('/v3/advisory', advisory)).statusCode, 201)
  const { id } = await t.make.account()
  await t.deps.db.updateTable('account').set({ awaits_approval: true }).where('id', '=', id).execute()
  const home = await page.get('/moderation')
  const [tiles = ''] = /<dl class="tiles">.*?<\/dl>/s.exec(home.body) ?? []
  const figures = [...tiles.matchAll(/<dt>([^<]+)<\/dt><dd class="big"><a href="([^"]+)">(\d+)<\/a>/g)]
  assert.deepEqual(
    figures.map(([, label, , count]) => [label, count]),
    [
      ['Projects in review', '3'],
      ['Your claims', '1'],
      ['Reported items', '2'],
      ['Quarantined versions', '1'],
      ['Unanswered threads', '1'],
      ['Advisories to decide', '1'],
      ['New accounts to approve', '1'],
    ],
  )
  for (const [, label, path = '', count] of figures) {
    const [, rows = ''] = /<tbody>([\s\S]*?)<\/tbody>/.exec((await page.get(path)).body) ?? []
    assert.equal(rows.match(/<tr/g)?.length, Number(count), `${label}: ${path}`)
    // The rail repeats the number.
    if (!path.includes('?')) assert.match(home.body, new RegExp(`<a href="${path}"[^>]*>.*?>${count}<`), label)
  }
})

test('visitors are led to the sign-in page, and others see no page of the moderators', async () => {
  const project = await waiting()
  for (const path of [
    '/moderation',
    QUEUE,
    '/moderation/statistics',
    reviewOf(project),
    `${reviewOf(project)}/files`,
  ]) {
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
    assertSays(await as(owner).get(path), 404, 'does not exist')
  }
})

test('the overview has the counts, the own claims and the start of the queue', async () => {
  const [first, second] = [await waiting('First light'), await waiting(HOSTILE)]
  await t.as(mira).put(`/_internal/moderation/projects/${first.id}/claim`)
  const page = await as(mira).get('/moderation')
  assertSays(page, 200, 'First light')
  assertValidHtml(page.body)
  assert.ok(!page.body.includes(HOSTILE))
  assert.ok(page.body.indexOf(first.id) < page.body.indexOf(second.id))
  assert.equal(page.headers['cache-control'], 'private, no-cache')
})

test('the queue is filtered by the URL, and its pages take as many statements for 3 projects as for 60', async () => {
  for (let n = 0; n < 3; n += 1) await waiting(`Lamp ${n}`)
  const moderator = as(mira)
  await moderator.get(QUEUE)
  const { queries: few } = await t.queriesOf(() => moderator.get(QUEUE))
  for (let n = 3; n < 60; n += 1) await waiting(`Lamp ${n}`)
  const { queries: many } = await t.queriesOf(() => moderator.get(QUEUE))
  assert.equal(many.length, few.length, many.join('\n'))
  const page = await moderator.get(QUEUE)
  assertValidHtml(page.body)
  assertSays(page, 200, 'Not scanned')
  assert.ok(!page.body.includes('>Passed<'))
  assert.equal(page.body.match(/name="ids"/g)?.length, 50)
  const second = await moderator.get(`${QUEUE}?page=2`)
  assert.equal(second.body.match(/name="ids"/g)?.length, 10)
  const found = await moderator.get(`${QUEUE}?query=lamp+7&claim=unassigned&scan=none&review=first&project_type=mod`)
  assertSays(found, 200, 'Lamp 7')
  assert.equal(found.body.match(/name="ids"/g)?.length, 1)
  for (const query of ['query=nothing', 'page=99', 'claim=mine'])
    assertSays(await moderator.get(`${QUEUE}?${query}`), 200, 'No project matches the filters.')
  assertSays(await moderator.get(`${QUEUE}?scan=${encodeURIComponent(HOSTILE)}&page=-1`), 200, 'Lamp 0')
})

test('the oldest unassigned project opens, and an empty queue says so', async () => {
  const [first, second] = [await waiting('First'), await waiting('Second')]
  await t.as(jon).put(`/_internal/moderation/projects/${first.id}/claim`)
  const moderator = as(mira)
  const page = await moderator.get(QUEUE)
  assertLeads(await moderator.sendFrom(page, QUEUE, { do: 'next' }), reviewOf(second))
  assertLeads(await moderator.sendFrom(page, QUEUE, { do: 'next' }), `${QUEUE}?done=no-next`)
  await t.deps.db.updateTable('project').set({ status: 'draft' }).where('status', '=', 'processing').execute()
  assertSays(await moderator.get(QUEUE), 200, 'The queue is empty.')
  assertSays(await moderator.get('/moderation'), 200, '>no open reports</a> and')
  assertSays(await moderator.get(QUEUE), 200, '>no open reports</a> and')
})

test('several projects are claimed and released; those of other moderators are counted', async () => {
  const [mine, theirs] = [await waiting(), await waiting()]
  await t.as(jon).put(`/_internal/moderation/projects/${theirs.id}/claim`)
  const moderator = as(mira)
  const page = await moderator.get(QUEUE)
  const ids = [mine.id, theirs.id]
  const path = assertLeads(
    await moderator.sendFrom(page, QUEUE, { do: 'claim', ids }),
    `${QUEUE}?done=claimed&count=1&failed=1`,
  )
  assertSays(
    await moderator.get(path),
    200,
    'You have claimed one project. One project was claimed by another moderator.',
  )
  assertLeads(await moderator.sendFrom(page, QUEUE, { do: 'release', ids }), `${QUEUE}?done=released&count=1&failed=1`)
  assertSays(await moderator.sendFrom(page, QUEUE, { do: 'claim' }), 400, 'Select at least one project')
})

test('the button of a row claims and releases its project, and leads back to the row with the filters', async () => {
  const project = await waiting('Resonance')
  const moderator = as(mira)
  const filtered = `${QUEUE}?query=Resonance`
  const page = await moderator.get(filtered)
  assertSays(page, 200, `value="claim.${project.id}"`)
  const led = assertLeads(
    await moderator.sendFrom(page, filtered, { do: `claim.${project.id}` }),
    `${filtered}&done=claimed&count=1&failed=0#p-${project.id}`,
  )
  const after = await moderator.get(led.split('#')[0] ?? '')
  assertSays(after, 200, `value="release.${project.id}"`)
  assertSays(after, 200, `id="p-${project.id}" data-step`)
  assert.ok(!(await as(jon).get(filtered)).body.includes(`.${project.id}"`), 'others cannot release it')
  await moderator.sendFrom(after, filtered, { do: `release.${project.id}` })
  assertSays(await moderator.get(filtered), 200, `value="claim.${project.id}"`)
})

test('the queue names the age of an account, its downloads and a suspension', async () => {
  const maker = await t.make.account({ username: 'ruby' })
  const [project, other] = [await waiting('Ruby mod', maker), await t.make.project({ owner: maker })]
  await t.deps.db.updateTable('project').set({ downloads: 1200 }).where('id', '=', other.id).execute()
  const created = new Date(t.deps.now() - 48 * HOUR_MS)
  await t.deps.db.updateTable('account').set({ created }).where('id', '=', maker.id).execute()
  const row = async () => {
    const { body } = await as(mira).get(`${QUEUE}?query=Ruby`)
    assert.ok(body.includes(project.id))
    return /<bdi>ruby<\/bdi>.*?<\/td>/s.exec(body)?.[0].replace(/<[^>]*>/g, ' ') ?? ''
  }
  const first = await row()
  assert.match(first, /0 approved, 0 rejected, 0 reports/)
  assert.match(first, /Created +2 days ago *, 1,200 downloads/)
  assert.doesNotMatch(first, /Suspended/)
  const path = `/_internal/admin/user/${maker.id}/suspension`
  assert.equal((await t.as(await t.make.account({ role: 'admin' })).put(path, { reason: 'Spam' })).statusCode, 204)
  assert.match(await row(), /Suspended/)
})

test('the queue has the order that the moderator chooses, and marks a wait of more than a day', async () => {
  const [fresh, old] = [await waiting('Quartz fresh'), await waiting('Quartz old')]
  const queue = async (id: string, hours: number) => {
    const queued = new Date(t.deps.now() - hours * HOUR_MS)
    await t.deps.db.updateTable('project').set({ queued }).where('id', '=', id).execute()
  }
  await queue(fresh.id, 23)
  await queue(old.id, 25)
  const shown = async (sort: string) => {
    const { body } = await as(mira).get(`${QUEUE}?query=Quartz${sort}`)
    assert.equal(body.match(/Long wait/g)?.length, 2, 'once in the column, once in the small print of narrow windows')
    return [...body.matchAll(/ id="p-(\w+)"/g)].map(([, id]) => id)
  }
  assert.deepEqual(await shown(''), [old.id, fresh.id])
  assert.deepEqual(await shown('&sort=newest'), [fresh.id, old.id])
  const newest = `${QUEUE}?sort=newest`
  const moderator = as(mira)
  const next = await moderator.sendFrom(await moderator.get(newest), newest, { do: 'next' })
  assertLeads(next, `/moderation/project/${fresh.id}`)
})

test('spam of several owners is rejected with one message, after a confirmation that names them', async () => {
  const spammer = await t.make.account({ username: 'coins' })
  const other = await t.make.account({ username: 'gems' })
  const [first, second] = [await waiting('Free coins', spammer), await waiting(HOSTILE, other)]
  const moderator = as(mira)
  const page = await moderator.get(QUEUE)
  const confirm = await moderator.sendFrom(page, QUEUE, { do: 'spam', ids: [first.id, second.id] })
  assertSays(confirm, 200, 'Reject 2 projects as spam?')
  assertSays(confirm, 200, '<bdi>Free coins</bdi></a> by <bdi>coins</bdi>')
  assertSays(confirm, 200, 'by <bdi>gems</bdi>')
  assertValidHtml(confirm.body)
  assert.equal(await statusOf(first), 'processing', 'nothing happens before the confirmation')
  const seen = [...confirm.body.matchAll(/name="seen" value="([^"]*)"/g)].map(([, value]) => value ?? '')
  const fields = { do: 'reject', ids: [first.id, second.id], seen }
  const blank = await moderator.sendFrom(confirm, QUEUE, { ...fields, message: ' ' })
  assertSays(blank, 400, 'The message must not be blank.')
  assertValidHtml(blank.body)
  await t.as(jon).patch(`/v3/project/${second.id}`, { status: 'withheld' })
  const path = assertLeads(
    await moderator.sendFrom(confirm, QUEUE, { ...fields, message: 'Advertising' }),
    `${QUEUE}?done=spam&count=1&failed=0`,
  )
  assertSays(await moderator.get(path), 200, 'One project was rejected.')
  assert.deepEqual([await statusOf(first), await statusOf(second)], ['rejected', 'withheld'])
})

test('appeals cannot be rejected as spam, and the page says where they are decided', async () => {
  const project = await waiting('Appealed lamp')
  assert.equal((await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'rejected' })).statusCode, 204)
  assert.equal((await t.as(owner).post(`/v3/project/${project.id}/appeal`, { body: 'Why?' })).statusCode, 204)
  const moderator = as(mira)
  const appeals = `${QUEUE}?review=appeal`
  const page = await moderator.get(appeals)
  assertSays(page, 200, 'Appealed lamp')
  assert.ok(!page.body.includes('value="spam"'))
  const refused = await moderator.sendFrom(page, appeals, { do: 'spam', ids: [project.id] })
  assertSays(refused, 409, 'An appeal is decided on the page of its project.')
  await waiting('Other lamp')
  assertSays(await moderator.get(QUEUE), 200, 'value="spam"')
})

test('the statistics show the waiting projects and the decisions', async () => {
  const moderator = as(mira)
  const project = await waiting()
  assert.equal((await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
  await waiting()
  const page = await moderator.get('/moderation/statistics')
  assertSays(page, 200, 'Decisions by moderator')
  assertSays(page, 200, '<bdi>mira</bdi>')
  assertValidHtml(page.body)
})
