import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

test('dependents are the listed projects with a listed version that needs it, each once, in pages', async () => {
  const library = await t.make.project({ slug: 'library' })
  const use = async (slug: string, downloads: number, status = 'approved', versionStatus = 'listed') => {
    const project = await t.make.project({ slug, status })
    await t.deps.db.updateTable('project').set({ downloads }).where('id', '=', project.id).execute()
    for (const number of ['1', '2']) {
      const version = await t.make.version({ project, version_number: number, status: versionStatus })
      const row = { dependent_id: version.id, project_id: library.id, dependency_type: 'required' as const }
      await t.deps.db.insertInto('dependency').values(row).execute()
    }
  }
  await use('few', 1)
  await use('many', 9)
  await use('hidden', 5, 'draft')
  await use('unlisted', 5, 'unlisted')
  await use('unshown', 5, 'approved', 'draft')
  const ask = async (query = {}) => (await t.anyone.get('/v3/project/library/dependents', { query })).json()
  const slugs = async (query = {}) => (await ask(query)).projects.map(({ slug }: { slug: string }) => slug)
  assert.deepEqual([await slugs(), (await ask()).total], [['many', 'few'], 2])
  assert.deepEqual([await slugs({ limit: 1 }), await slugs({ limit: 1, offset: 1 })], [['many'], ['few']])
  assert.deepEqual([await slugs({ offset: 9 }), (await ask({ offset: 9 })).total], [[], 2])
  for (const query of [{ limit: 0 }, { limit: 101 }, { offset: -1 }])
    assert.equal((await t.anyone.get('/v3/project/library/dependents', { query })).statusCode, 400)
  assert.equal((await t.anyone.get('/v3/project/hidden/dependents')).statusCode, 404)
})

const dependents = async (query: Record<string, string | number>) =>
  (await t.anyone.get('/v3/project/api/dependents', { query })).json()
type Page = {
  projects: { slug: string; types: string[]; dependent_versions: number }[]
  next: string | null
  total: number
}

/** Returns the slugs of all pages, which are read by cursor. */
async function walk(query: Record<string, string>): Promise<string[]> {
  const slugs: string[] = []
  let cursor: string | null = null
  do {
    const page: Page = await dependents({ ...query, limit: 2, ...(cursor === null ? {} : { cursor }) })
    slugs.push(...page.projects.map(({ slug }) => slug))
    cursor = page.next
  } while (cursor !== null)
  return slugs
}

test('dependents by type, newest version and time, page by page, follow every change', async () => {
  const { db } = t.deps
  const api = await t.make.project({ slug: 'api' })
  for (let n = 0; n < 5; n += 1) {
    const project = await t.make.project({ slug: `user-${n}` })
    const updated = new Date(Date.UTC(2026, 0, 1 + ((n * 2) % 5)))
    await db
      .updateTable('project')
      .set({ downloads: 100 * n, updated })
      .where('id', '=', project.id)
      .execute()
    for (const [number, type] of [
      ['1', 'required'],
      ['2', 'optional'],
    ] as const) {
      const date = new Date(Date.UTC(2026, 0, Number(number)))
      const version = await t.make.version({ project, version_number: number, date_published: date })
      if (number === '2' && n % 2 === 1) continue
      await db
        .insertInto('dependency')
        .values({ dependent_id: version.id, project_id: api.id, dependency_type: type })
        .execute()
    }
  }
  assert.deepEqual(await walk({}), ['user-4', 'user-3', 'user-2', 'user-1', 'user-0'])
  assert.deepEqual(await walk({ sort: 'updated' }), ['user-2', 'user-4', 'user-1', 'user-3', 'user-0'])
  assert.deepEqual(await walk({ type: 'optional' }), ['user-4', 'user-2', 'user-0'])
  assert.deepEqual(await walk({ scope: 'latest' }), ['user-4', 'user-2', 'user-0'])
  const orderFirst = (ordering: number | null) =>
    db
      .updateTable('version')
      .set({ ordering })
      .where('version_number', '=', '1')
      .where('project_id', 'in', (eb) => eb.selectFrom('project').select('id').where('slug', '=', 'user-1'))
      .execute()
  await orderFirst(1)
  assert.deepEqual(await walk({ scope: 'latest' }), ['user-4', 'user-2', 'user-1', 'user-0'])
  await orderFirst(null)
  assert.deepEqual(await walk({ scope: 'latest' }), ['user-4', 'user-2', 'user-0'])
  const first: Page = await dependents({ limit: 2, scope: 'any', type: 'required' })
  assert.deepEqual(
    first.projects.map(({ types, dependent_versions }) => [types, dependent_versions]),
    [
      [['required', 'optional'], 2],
      [['required'], 1],
    ],
  )
  assert.deepEqual([first.total, (await dependents({ type: 'optional' })).total], [5, 3])
  await db.updateTable('project').set({ downloads: 900 }).where('slug', '=', 'user-0').execute()
  await db.updateTable('version').set({ status: 'draft' }).where('version_number', '=', '2').execute()
  await db.updateTable('project').set({ status: 'private' }).where('slug', '=', 'user-3').execute()
  // The cursor is a position: what moved before it is not shown again, and its own project can be hidden.
  await db.updateTable('project').set({ status: 'draft' }).where('slug', '=', 'user-3').execute()
  const rest: Page = await dependents({ cursor: first.next ?? '' })
  assert.deepEqual(
    rest.projects.map(({ slug, types }) => [slug, ...types]),
    [
      ['user-2', 'required'],
      ['user-1', 'required'],
    ],
  )
  assert.deepEqual([await walk({}), rest.total], [['user-0', 'user-4', 'user-2', 'user-1'], 4])
  await db.deleteFrom('version').where('version_number', '=', '1').execute()
  assert.deepEqual(await dependents({}), { projects: [], total: 0, next: null })
})

test('a wrong cursor, type, sort or scope is rejected with its name', async () => {
  for (const [field, value] of [
    ['cursor', 'x'],
    ['cursor', '12-'],
    ['cursor', '99999999999999999-AABBCCDD'],
    ['type', 'needed'],
    ['sort', 'name'],
    ['scope', 'all'],
  ] as const) {
    const answer = await t.anyone.get('/v3/project/library/dependents', { query: { [field]: value } })
    assert.equal(answer.statusCode, 400, value)
    assert.equal(answer.json().details.field, field)
  }
})

test('concurrent changes leave exactly what the versions say', async () => {
  const projects = await Promise.all(Array.from({ length: 4 }, (_, n) => t.make.project({ slug: `busy-${n}` })))
  const changes = projects.flatMap((project, n) =>
    Array.from({ length: 6 }, async (_, m) => {
      const version = await t.make.version({ project, version_number: `${m}` })
      const other = projects[(n + m) % projects.length]
      await t.deps.db
        .insertInto('dependency')
        .values({ dependent_id: version.id, project_id: other?.id ?? null, dependency_type: 'required' })
        .execute()
      if (m % 3 === 0) await t.deps.db.deleteFrom('version').where('id', '=', version.id).execute()
      if (m % 3 === 1)
        await t.deps.db.updateTable('version').set({ status: 'unlisted' }).where('id', '=', version.id).execute()
    }),
  )
  await Promise.all(changes)
  const read = async () => ({
    rows: (await sql`select * from project_dependent order by project_id, dependent_id`.execute(t.deps.db)).rows,
    counts: (await sql`select * from dependent_count order by project_id, types, latest`.execute(t.deps.db)).rows,
  })
  const kept = await read()
  assert.ok(kept.rows.length > 4)
  await sql`delete from project_dependent`.execute(t.deps.db)
  assert.deepEqual((await read()).counts, [])
  await sql`select refresh_dependents((select array_agg(id) from project))`.execute(t.deps.db)
  assert.deepEqual(await read(), kept)
})
