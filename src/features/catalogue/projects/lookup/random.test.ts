// Random projects: the selection, the number and the distribution.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createRandom } from '#demo/catalogue/random.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { listRandomProjectIds } from './random.ts'

const MANY = 2_000
const PLUGINS = 40

const t = await testApp()
after(() => t.close())

/** Projects by SQL; every so-many-th one has a version for a plugin loader, the others none. */
async function makeMany(count: number): Promise<void> {
  const maker = await t.make.account()
  await sql`with made as (select 'R' || lpad(i::text, 6, '0') as id, i from generate_series(1, ${count}::integer) i),
    teams as (insert into team (id) select id from made)
    insert into project (id, slug, name, summary, description, status, license, team_id)
    select id, 'many-' || i, 'A random project', 'A project.', '', 'approved', 'MIT', id from made`.execute(t.deps.db)
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, loaders)
    select 'V' || substr(id, 2), id, ${maker.id}, 'First', '1', 'release', '{paper}'
    from project where id like 'R%' order by id limit ${PLUGINS}`.execute(t.deps.db)
  // As the server does after many changes. Without statistics, each range would read all projects.
  await sql`analyze project, version`.execute(t.deps.db)
}

const random = (query: Record<string, string | number>) => t.anyone.get('/v3/projects_random', { query })
const idsOf = (answer: { json(): { id: string }[] }) => answer.json().map(({ id }) => id)

describe('in a small catalogue', () => {
  test('approved and archived ones only, each once, for every viewer, and fewer where there are fewer', async () => {
    const shown = [await t.make.project(), await t.make.project({ status: 'archived' })].map(({ id }) => id)
    const hidden = await Promise.all(
      ['unlisted', 'withheld', 'private', 'draft', 'processing', 'rejected'].map((status) =>
        t.make.project({ status }),
      ),
    )
    const answer = await random({ count: 100 })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(idsOf(answer).sort(), shown.sort())
    assert.equal(answer.headers['cache-control'], 'no-store')
    const [draft] = hidden
    const own = await t.as(draft?.owner ?? { token: '' }).get('/v3/projects_random', { query: { count: 100 } })
    assert.deepEqual(idsOf(own).sort(), shown.sort())
    assert.equal(idsOf(await random({ count: 1 })).length, 1)
  })

  test('of one type: those with a listed version for one of its loaders', async () => {
    const project = await t.make.project()
    await t.make.version({ project, loaders: ['paper'] })
    const draft = await t.make.project()
    await t.make.version({ project: draft, loaders: ['paper'], status: 'draft' })
    assert.deepEqual(idsOf(await random({ count: 10, project_type: 'plugin' })), [project.id])
    assert.deepEqual(idsOf(await random({ count: 10, project_type: 'shader' })), [])
  })

  for (const query of [{}, { count: 0 }, { count: 101 }, { count: 'many' }, { count: '1.5' }, { count: -1 }] as Record<
    string,
    string
  >[]) {
    test(`${JSON.stringify(query)} is rejected`, async () => {
      const answer = await random(query)
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'invalid_input', 'count'],
      )
    })
  }

  test('an unknown type is rejected', async () => {
    const answer = await random({ count: 1, project_type: 'sculpture' })
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'project_type'])
  })
})

describe('in a large catalogue', () => {
  before(() => makeMany(MANY))

  test('as many as asked for, different ones, and others the next time', async () => {
    const first = idsOf(await random({ count: 100 }))
    const second = idsOf(await random({ count: 100 }))
    assert.deepEqual([new Set(first).size, new Set(second).size], [100, 100])
    assert.notDeepEqual(first, second)
  })

  test('a rare type is found', async () => {
    const ids = idsOf(await random({ count: 20, project_type: 'plugin' }))
    assert.equal(new Set(ids).size, 20)
  })

  test('of a type that hardly any project has: all there are, without looking for them project by project', async () => {
    const maker = await t.make.account()
    const rare = ['R000123', 'R000456', 'R001789']
    await sql`insert into version (id, project_id, author_id, name, version_number, version_type, loaders)
      select 'W' || substr(id, 2), id, ${maker.id}, 'First', '1', 'release', '{iris}'
      from unnest(${rare}::text[]) as id`.execute(t.deps.db)
    const { next } = createRandom(3)
    const choice = { count: 100, total: 4_000_000, loaders: ['iris'] }
    const { queries, result: ids } = await t.queriesOf(() => listRandomProjectIds(t.deps.db, choice, next))
    assert.deepEqual(ids.toSorted(), rare)
    assert.equal(queries.length, 2)
  })

  test('every project is as likely as any other', async () => {
    const { next } = createRandom(7)
    const times = new Map<string, number>()
    const { count: total } = await t.deps.db
      .selectFrom('project')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', 'in', ['approved', 'archived'])
      .executeTakeFirstOrThrow()
    // The places of projects are made at random by the database: fixed here, and uneven as random ones are.
    await sql`update project set random_key = (('x' || left(md5(id), 8))::bit(32)::bigint % 2147483648)::integer`.execute(
      t.deps.db,
    )
    const calls = 60
    for (let call = 0; call < calls; call += 1) {
      for (const id of await listRandomProjectIds(t.deps.db, { count: 100, total }, next))
        times.set(id, (times.get(id) ?? 0) + 1)
    }
    const expected = (calls * 100) / total
    const never = total - times.size
    const deviation = [...times.values()].reduce(
      (sum, seen) => sum + (seen - expected) ** 2 / expected,
      never * expected,
    )
    // Chi-square: its mean is `total`, its standard deviation sqrt(2 total). A walk along the line gives some 10 times.
    assert.ok(deviation < total + 6 * Math.sqrt(2 * total), `chi-square ${deviation} for ${total} projects`)
  })

  test('costs three queries and at most two more, whatever the number', async () => {
    for (const count of [1, 100]) {
      t.deps.cache.clear()
      const { queries } = await t.queriesOf(() => random({ count }))
      assert.ok(queries.length >= 3 && queries.length <= 5, String(queries.length))
    }
  })
})
