import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { createDb } from '#platform/db/db.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { ChangeSet, type Changes, writtenChanges } from './changes.ts'
import { createEntityCache } from './entity-cache.ts'
import { decodeNotice, encodeNotices } from './invalidations.ts'
import { transaction } from './transaction.ts'

const database = await testDatabase()
after(() => database.close())
const db = database.db as Kysely<unknown>
await sql`create table counter (id text primary key, value integer not null)`.execute(db)
await sql`insert into counter values ('a', 0), ('b', 0)`.execute(db)

const counterOf = async (id: string): Promise<number | undefined> =>
  (await sql<{ value: number }>`select value from counter where id = ${id}`.execute(db)).rows[0]?.value

function setUp() {
  const cache = createEntityCache({ maxBytes: 1_000_000 })
  cache.enable()
  const counters = cache.kind<{ id: string; value: number }>({
    name: 'user',
    contains: 'Things',
    idOf: (row) => row.id,
    sizeOf: () => 100,
  })
  const load = async (ids: string[]) =>
    (await sql<{ id: string; value: number }>`select id, value from counter where id = any(${ids})`.execute(db)).rows
  return { cache, counters, load }
}

test('announcements arrive complete or refer to the log, in payloads that PostgreSQL accepts, for any IDs', () => {
  const ids = fc.array(fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }), { minLength: 1, maxLength: 30 })
  const changed = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), ids, { minKeys: 1, maxKeys: 4 })
  fc.assert(
    fc.property(fc.array(changed, { minLength: 1, maxLength: 12 }), (transactions) => {
      const logged = transactions.map((one, index) => ({ id: String(index), changes: one }))
      const isLong = (one: object): boolean => Buffer.byteLength(JSON.stringify(one)) > 7_900
      const notices = encodeNotices(logged).map((payload) => {
        assert.ok(Buffer.byteLength(payload) < 8_000)
        return decodeNotice(payload)
      })
      assert.ok(notices.length >= 1)
      const heard = notices.flatMap((notice) => (notice?.is === 'changes' ? notice.news : []))
      const known = new Map(heard.map(({ id, changes }) => [id, changes]))
      for (const { id, changes } of logged) {
        const expected = new Map(Object.entries(changes).map(([kind, list]) => [kind, new Set(list)]))
        if (known.has(id)) assert.deepEqual(known.get(id), expected)
        else assert.ok(isLong(changes) && notices.some((notice) => notice?.is === 'in the log'))
      }
    }),
    { numRuns: 100 },
  )
})

test('"all" of a kind is one short payload; notices sent by hand are heard; an unreadable payload says so', () => {
  const project: Changes = new Map([['project', 'all' as const]])
  const payloads = encodeNotices([{ id: '1', changes: writtenChanges(project) }])
  assert.deepEqual(payloads.map(decodeNotice), [
    { is: 'changes', news: [{ id: '1', changes: project, counts: new Map() }] },
  ])
  assert.deepEqual(decodeNotice('["project"]'), { is: 'changes', news: [{ changes: project, counts: new Map() }] })
  assert.deepEqual(decodeNotice('["project","a"]'), {
    is: 'changes',
    news: [{ changes: new Map([['project', new Set(['a'])]]), counts: new Map() }],
  })
  const unreadable = ['', '{', '[]', '[1]', '["project",2]', '{"project":[]}', 'null', '{"proof":1}', '{"logged":1}']
  const logged = ['[1]', '[null]', '[{"id":"1"}]', '[{"id":"1","changes":{"project":"b"}}]']
  for (const bad of [...unreadable, ...logged.map((one) => `{"logged":${one}}`), '{"logged":[{"changes":{}}]}'])
    assert.equal(decodeNotice(bad), undefined, bad)
})

test('delivers counts as announced, together with other changes', () => {
  const changed = new ChangeSet()
  changed.add('user', 'u')
  changed.addCounts('project', [['a', { revision: 3, downloads: 70 }]])
  changed.addCounts('version', [])
  const { changes, counts } = changed
  const [payload = ''] = encodeNotices([{ id: '1', changes: writtenChanges(changes, counts) }])
  assert.deepEqual(decodeNotice(payload), { is: 'changes', news: [{ id: '1', changes, counts }] })
  assert.deepEqual([...counts.keys()], ['project'])
  for (const bad of ['{"+project":["a"]}', '{"+project":{"a":7}}', '{"+project":{"a":[1,"2"]}}', '{"+project":null}'])
    assert.equal(decodeNotice(`{"logged":[{"id":"1","changes":${bad}}]}`), undefined, bad)
})

test('any number of entities can change together; more than a few thousand of a kind count as all of that kind', () => {
  const changed = new ChangeSet<string>()
  changed.addEach(
    'version',
    Array.from({ length: 300_000 }, (_, index) => `v${index}`),
  )
  changed.addEach('project', ['a', 'b'])
  assert.deepEqual(
    [...changed.changes],
    [
      ['version', 'all'],
      ['project', new Set(['a', 'b'])],
    ],
  )
})

test('a writer reads what it wrote, and its entries are dropped before the write returns', async () => {
  const { cache, counters, load } = setUp()
  const before = (await counters.get('a', load))?.value ?? 0
  const result = await transaction({ db, cache }, async (tx, changed) => {
    await sql`update counter set value = value + 1 where id = 'a'`.execute(tx)
    changed.add('user', 'a')
    assert.equal((await counters.get('a', load))?.value, before, 'other readers still get the old value')
    return 'done'
  })
  assert.equal(result, 'done')
  assert.equal(counters.peek('a'), undefined)
  assert.equal((await counters.get('a', load))?.value, before + 1)
})

test('a failing write leaves the database as it was, and the cache in agreement with it', async () => {
  const { cache, counters, load } = setUp()
  const before = await counterOf('a')
  const failed = transaction({ db, cache }, async (tx, changed) => {
    await sql`update counter set value = 99 where id = 'a'`.execute(tx)
    changed.add('user', 'a')
    throw new Error('refused')
  })
  await assert.rejects(failed, /refused/)
  assert.equal((await counters.get('a', load))?.value, before)
})

test('thousands of IDs are logged in one message with the commit; a transaction that changes nothing logs nothing', async () => {
  const queries: string[] = []
  const counted = createDb(database.pool, ({ query }) => queries.push(query.sql))
  const { cache } = setUp()
  await transaction({ db: counted, cache }, async (_tx, changed) => {
    for (let index = 0; index < 5_000; index++) changed.add('user', `id-${index}`)
  })
  assert.equal(queries.length, 2)
  assert.match(queries[1] ?? '', /^insert into change_log .*; commit$/s)
  queries.length = 0
  await transaction({ db: counted, cache }, async () => {})
  assert.equal(queries.at(-1), 'commit')
})

test('transactions that conflict under serializable isolation are run again until each has counted', async () => {
  const { cache, counters, load } = setUp()
  const before = (await counters.get('b', load))?.value ?? 0
  let runs = 0
  const count = () =>
    transaction(
      { db, cache },
      async (tx, changed) => {
        runs++
        const { rows } = await sql<{ value: number }>`select value from counter where id = 'b'`.execute(tx)
        // All of them have read before one of them writes.
        if (runs <= 3) await everyoneHasRead()
        await sql`update counter set value = ${(rows[0]?.value ?? 0) + 1} where id = 'b'`.execute(tx)
        changed.add('user', 'b')
      },
      { isolation: 'serializable', pause: async () => {} },
    )
  const gate = Promise.withResolvers<void>()
  let readers = 0
  const everyoneHasRead = (): Promise<void> => {
    if (++readers === 3) gate.resolve()
    return gate.promise
  }
  await Promise.all([count(), count(), count()])
  assert.ok(runs > 3)
  assert.equal((await counters.get('b', load))?.value, before + 3)
})

test('a transaction that conflicts every time is given up after five attempts with growing pauses', async () => {
  const { cache } = setUp()
  const pauses: number[] = []
  let runs = 0
  const failed = transaction(
    { db, cache },
    async (tx) => {
      runs++
      await sql`do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`.execute(tx)
    },
    { pause: async (ms) => pauses.push(ms) },
  )
  await assert.rejects(failed, { code: '40P01' })
  assert.equal(runs, 5)
  assert.deepEqual(pauses, [5, 10, 20, 40])
})

test('a retryable error behind another one is retried, any other is not', async () => {
  const { cache } = setUp()
  for (const [errcode, expected] of [['40001', 5] as const, ['23505', 1] as const]) {
    let runs = 0
    const failed = transaction(
      { db, cache },
      async () => {
        runs++
        throw new Error('wrapped', { cause: Object.assign(new Error('inner'), { code: errcode }) })
      },
      { pause: async () => {} },
    )
    await assert.rejects(failed, /wrapped/)
    assert.equal(runs, expected)
  }
})
