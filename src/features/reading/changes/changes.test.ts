import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { ChangesView, ChangeView } from './views.ts'

const { t } = await teamApp()
const owner = await t.make.account()

const PATH = '/v3/changes'
const kindsOf = (kinds: string[]) => JSON.stringify(kinds)

async function read(query: Record<string, string | number>): Promise<ChangesView> {
  const answer = await t.anyone.get(PATH, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

/** A program that follows the feed by its documented contract. */
function consumer() {
  const known = new Map<string, ChangeView>()
  let since: string | undefined
  const cursors: string[] = []
  return {
    known,
    cursors,
    cursor: () => since,
    has: (kind: string, id: string) => known.has(`${kind} ${id}`),
    async follow(limit = 1000): Promise<ChangeView[]> {
      const seen: ChangeView[] = []
      for (let more = true; more; ) {
        const page = await read({ limit, ...(since === undefined ? {} : { since }) })
        for (const change of page.changes) {
          seen.push(change)
          cursors.push(change.cursor)
          if (change.state === 'present') known.set(`${change.kind} ${change.id}`, change)
          else {
            known.delete(`${change.kind} ${change.id}`)
            if (change.kind !== 'project') continue
            for (const [key, { project_id }] of known) if (project_id === change.id) known.delete(key)
          }
        }
        since = page.next
        more = page.more
      }
      return seen
    },
  }
}

/** Reads each public object and returns its revision. */
async function everythingPublic(): Promise<Map<string, number>> {
  const { db } = t.deps
  const found = new Map<string, number>()
  const bulk = async (kind: string, path: string, ids: string[]) => {
    for (let at = 0; at < ids.length; at += 500) {
      const answer = await t.anyone.get(path, { query: { ids: JSON.stringify(ids.slice(at, at + 500)) } })
      assert.equal(answer.statusCode, 200, answer.body)
      for (const { id, revision } of answer.json()) found.set(`${kind} ${id}`, revision)
    }
  }
  const idsOf = async (table: 'project' | 'version' | 'organization' | 'collection', statuses?: string[]) => {
    const rows = await db.selectFrom(table).selectAll().execute()
    return rows.flatMap((row) =>
      statuses === undefined || statuses.includes((row as { status: string }).status) ? [row.id] : [],
    )
  }
  await bulk('project', '/v3/projects', await idsOf('project', ['approved', 'archived']))
  await bulk('version', '/v3/versions', await idsOf('version', ['listed', 'archived']))
  for (const key of [...found.keys()]) {
    if (!key.startsWith('version ')) continue
    const { project_id } = (await t.anyone.get(`/v3/version/${key.slice(8)}`)).json()
    if (!found.has(`project ${project_id}`)) found.delete(key)
  }
  await bulk('collection', '/v3/collections', await idsOf('collection', ['listed']))
  const projects = await db.selectFrom('project').select(['organization_id', 'status']).execute()
  const owners = projects.flatMap((row) =>
    row.organization_id !== null && ['approved', 'archived'].includes(row.status) ? [row.organization_id] : [],
  )
  await bulk('organization', '/v3/organizations', [...new Set(owners)])
  const authors = await db.selectFrom('author').select('account_id').where('teams', '>', 0).execute()
  await bulk(
    'user',
    '/v3/users',
    authors.map((row) => row.account_id),
  )
  return found
}

const revisionsOf = (known: Map<string, ChangeView>) =>
  [...known].map(([key, { revision }]) => [key, revision]).sort() as [string, number][]

test('a walk from the start and following are one loop that has what a full read shows', async () => {
  const organization = await teamFactories(t.deps.db).organization(owner)
  const projects = await Promise.all([
    t.make.project({ owner }),
    t.make.project({ owner, organization_id: organization.id }),
    t.make.project({ owner, status: 'archived' }),
  ])
  for (const project of projects) await t.make.version({ project })
  const follower = consumer()
  const seen = await follower.follow(2)
  assert.equal(new Set(seen.map(({ kind, id }) => `${kind} ${id}`)).size, seen.length, 'each object once')
  assert.deepEqual(revisionsOf(follower.known), [...(await everythingPublic())].sort())
  assert.deepEqual(await follower.follow(), [])

  const { id } = projects[0] as { id: string }
  assert.equal((await t.as(owner).patch(`/v3/project/${id}`, { summary: 'Another summary' })).statusCode, 204)
  const [change, ...others] = await follower.follow()
  assert.deepEqual(others, [])
  assert.deepEqual([change?.kind, change?.id, change?.state], ['project', id, 'present'])
  assert.equal(change?.revision, (await t.anyone.get(`/v3/project/${id}`)).json().revision)
})

test('drafts and unlisted things are never named, and counters are not changes', async () => {
  const follower = consumer()
  await follower.follow()
  const hidden = await Promise.all(
    ['draft', 'processing', 'unlisted', 'withheld', 'private', 'rejected'].map((status) => t.make.project({ status })),
  )
  for (const project of hidden) await t.make.version({ project })
  const shown = await t.make.project({ owner })
  await t.make.version({ project: shown, status: 'unlisted' })
  const version = await t.make.version({ project: shown, status: 'draft' })
  await t.deps.db.updateTable('project').set({ downloads: 7 }).where('id', '=', shown.id).execute()
  const named = (await follower.follow()).map(({ kind, id }) => `${kind} ${id}`)
  assert.deepEqual(named, [`project ${shown.id}`])

  await t.deps.db.updateTable('version').set({ status: 'listed' }).where('id', '=', version.id).execute()
  const released = (await follower.follow()).map(({ kind, id }) => `${kind} ${id}`)
  assert.deepEqual(released.sort(), [`project ${shown.id}`, `version ${version.id}`].sort())
  await t.deps.db.updateTable('project').set({ followers: 7 }).where('id', '=', shown.id).execute()
  assert.deepEqual(await follower.follow(), [])
})

test('a hidden project is removed with its versions and returns with them; a walk does not name what was removed', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const author = await t.make.account()
  const project = await t.make.project({ owner: author })
  const versions = [await t.make.version({ project }), await t.make.version({ project })]
  const follower = consumer()
  await follower.follow()
  assert.ok(follower.has('user', author.id) && follower.has('version', versions[0]?.id ?? ''))

  const withhold = await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'withheld' })
  assert.equal(withhold.statusCode, 204, withhold.body)
  const removed = await follower.follow()
  assert.ok(removed.some(({ kind, id, state }) => kind === 'project' && id === project.id && state === 'removed'))
  assert.ok(removed.every(({ state, revision }) => state === 'present' || revision === undefined))
  assert.ok(!follower.has('user', author.id) && !follower.has('version', versions[0]?.id ?? ''))
  const walk = consumer()
  const named = (await walk.follow(3)).map(({ id }) => id)
  for (const id of [project.id, author.id, ...versions.map((version) => version.id)]) assert.ok(!named.includes(id), id)
  assert.deepEqual(revisionsOf(walk.known), revisionsOf(follower.known))

  // One version is deleted in the meantime. A reader who has missed everything in between learns it as well.
  const late = consumer()
  await t.deps.db
    .deleteFrom('version')
    .where('id', '=', versions[1]?.id ?? '')
    .execute()
  const approve = await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'approved' })
  assert.equal(approve.statusCode, 204, approve.body)
  const returned = await follower.follow()
  const places = [project, versions[0]].map((wanted) => returned.findIndex(({ id }) => id === wanted?.id))
  assert.ok((places[0] ?? -1) >= 0 && (places[1] ?? -1) > (places[0] ?? 0), 'the project comes before its version')
  await late.follow()
  assert.deepEqual(revisionsOf(follower.known), [...(await everythingPublic())].sort())
  assert.deepEqual(revisionsOf(late.known), revisionsOf(follower.known))
})

test('changes are in the order of the commits, also if the transactions began in another order', async () => {
  const [first, second] = [await t.make.project({ owner }), await t.make.project({ owner })]
  const follower = consumer()
  await follower.follow()
  const rename = (id: string) => t.deps.db.updateTable('project').set({ name: 'Renamed lantern' }).where('id', '=', id)
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  let started = () => {}
  const hasStarted = new Promise<void>((resolve) => {
    started = resolve
  })
  const slow = t.deps.db.transaction().execute(async (tx) => {
    await tx.updateTable('project').set({ name: 'Renamed first' }).where('id', '=', first.id).execute()
    started()
    await held
  })
  await hasStarted
  await rename(second.id).execute()
  assert.deepEqual(
    (await follower.follow()).map(({ id }) => id),
    [second.id],
  )
  finish()
  await slow
  assert.deepEqual(
    (await follower.follow()).map(({ id }) => id),
    [first.id],
  )
})

test('parallel writers and readers: every reader that has caught up has the whole catalogue', async () => {
  const projects = await Promise.all(Array.from({ length: 6 }, () => t.make.project({ owner })))
  const versions = await Promise.all(projects.map((project) => t.make.version({ project })))
  const readers = [consumer(), consumer(), consumer()]
  await Promise.all(readers.map((reader) => reader.follow(3)))
  let isWriting = true
  const random = (length: number) => Math.floor(Math.random() * length)
  const statuses = ['approved', 'archived', 'unlisted', 'withheld', 'rejected'] as const
  const writer = async () => {
    for (let n = 0; n < 25; n += 1) {
      const at = random(projects.length)
      const [project, version] = [projects[at], versions[at]]
      if (project === undefined || version === undefined) continue
      await transaction(t.deps, async (tx, changed) => {
        changed.add('project', project.id)
        changed.add('version', version.id)
        if (random(3) === 0) {
          const status = statuses[random(statuses.length)] ?? 'approved'
          await tx.updateTable('project').set({ status }).where('id', '=', project.id).execute()
        } else {
          const status = random(2) === 0 ? ('listed' as const) : ('unlisted' as const)
          const set = random(2) === 0 ? { status } : { name: `Version ${n}` }
          await tx.updateTable('version').set(set).where('id', '=', version.id).execute()
        }
      })
    }
  }
  const reading = readers.map(async (reader, n) => {
    while (isWriting) await reader.follow(n * 7 + 1)
  })
  await Promise.all([writer(), writer(), writer()])
  isWriting = false
  await Promise.all(reading)
  const everything = [...(await everythingPublic())].sort()
  for (const reader of readers) {
    await reader.follow(5)
    assert.deepEqual(revisionsOf(reader.known), everything)
  }
})

test('kinds select; the cursor advances also if nothing matches', async () => {
  const follower = consumer()
  await follower.follow()
  const since = follower.cursor() ?? ''
  const project = await t.make.project({ owner })
  const version = await t.make.version({ project })
  const collections = await read({ since, kinds: kindsOf(['collection']) })
  assert.deepEqual(collections.changes, [])
  assert.equal(collections.next, collections.latest)
  assert.notEqual(collections.next, since)
  const some = await read({ since, kinds: kindsOf(['version', 'collection']) })
  assert.deepEqual(
    some.changes.map(({ id, project_id }) => [id, project_id]),
    [[version.id, project.id]],
  )
  assert.deepEqual(await read({ since, kinds: '[]' }), await read({ since }))
})

test('the last page has a stable ETag', async () => {
  const { latest } = await read({ limit: 1 })
  const first = await t.anyone.get(PATH, { query: { since: latest } })
  const etag = String(first.headers['etag'])
  const again = await t.anyone.get(PATH, { query: { since: latest }, headers: { 'if-none-match': etag } })
  assert.deepEqual([again.statusCode, again.body], [304, ''])
})

test('bad requests name their field', async () => {
  for (const [query, field] of [
    [{ since: 'nonsense' }, 'since'],
    [{ since: '' }, 'since'],
    [{ since: 'k3Fp9QzA-01' }, 'since'],
    [{ since: 'k3Fp9QzA-99999999999999999' }, 'since'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ kinds: '["team"]' }, 'kinds'],
    [{ kinds: 'project' }, 'kinds'],
  ] as const)
    assertError(await t.anyone.get(PATH, { query }), 400, 'invalid_input', field)
  const stream = await t.anyone.get(`${PATH}/stream`, { headers: { 'last-event-id': 'nonsense' } })
  assertError(stream, 400, 'invalid_input', 'last-event-id')
})

async function assertExpired(since: string, reason: string): Promise<void> {
  const answer = await t.anyone.get(PATH, { query: { since } })
  assertError(answer, 410, 'cursor_expired')
  assert.deepEqual(answer.json().details, { reason, start: PATH })
}

test('cursors of another instance and from the future have expired; a restored instance begins a new epoch', async () => {
  const { latest } = await read({})
  const [epoch, number] = latest.split('-') as [string, string]
  await assertExpired(`00000000-${number}`, 'epoch')
  await assertExpired(`${epoch}-9999999999999999`, 'ahead')
  await assertExpired(`${epoch}-${number}.9999999999999999`, 'ahead')
  await t.deps.pool.query('select rebuild_public_changes()')
  await assertExpired(latest, 'epoch')
  const follower = consumer()
  await follower.follow()
  assert.deepEqual(revisionsOf(follower.known), [...(await everythingPublic())].sort())

  // A failover to a standby, which may have lost the last commits.
  await t.deps.pool.query(`update public_change_head set database = 'another'`)
  await t.make.project({ owner })
  await read({})
  await assertExpired(follower.cursor() ?? '', 'epoch')
})

test('removals are forgotten after the retention; a cursor from before has expired, a walk has not', async () => {
  const project = await t.make.project({ owner })
  const before = consumer()
  await before.follow()
  await t.deps.db.deleteFrom('project').where('id', '=', project.id).execute()
  const aware = consumer()
  await aware.follow()
  const started = await read({ limit: 1 })
  assert.match(started.next, /\./)
  const forget = () => t.runJob('changes.forget')
  await forget()
  assert.equal((await before.follow()).filter(({ state }) => state === 'removed').length, 1, 'not yet')
  t.advance(91 * DAY_MS)
  await forget()
  await assertExpired(`${started.latest.split('-')[0]}-1`, 'forgotten')
  await aware.follow()
  // A walk that began after the removal passes smaller numbers than the forgotten one.
  await read({ since: started.next, limit: 1 })
})

test('without readers, a job numbers the changes', async () => {
  const count = async () => {
    const { rows } = await t.deps.pool.query('select count(*)::int as count from public_change_note')
    return rows[0].count
  }
  await t.make.project({ owner })
  assert.ok((await count()) > 0)
  await t.runJob('changes.number')
  assert.equal(await count(), 0)
})
