// Featured versions, and their substitutes if a project features none.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())

type Fields = Partial<Parameters<TestApp['make']['version']>[0]>

/** A project with these versions, oldest first, and their IDs in that order. */
async function withVersions(list: readonly Fields[]): Promise<{ project: MadeProject; ids: string[] }> {
  const project = await t.make.project()
  const ids: string[] = []
  for (const [day, fields] of list.entries())
    ids.push((await t.make.version({ project, date_published: new Date(Date.UTC(2026, 0, day + 1)), ...fields })).id)
  return { project, ids }
}

/** Returns the positions, from 0 in order of creation, of the listed versions. */
async function listed(
  made: { project: MadeProject; ids: string[] },
  query: Record<string, string | number | boolean>,
): Promise<number[]> {
  const answer = await t.anyone.get(`/v3/project/${made.project.id}/version`, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().map(({ id }: { id: string }) => made.ids.indexOf(id))
}

const major = { game_versions: ['1.20'] }

describe('a project with featured versions', () => {
  test('shows these alone, newest first, or all the others', async () => {
    const made = await withVersions([{ featured: true, ...major }, major, { featured: true }, {}])
    assert.deepEqual(await listed(made, { featured: true }), [2, 0])
    assert.deepEqual(await listed(made, { featured: false }), [3, 1])
    assert.deepEqual(await listed(made, {}), [3, 2, 1, 0])
  })

  test('counts only listed versions that pass the other filters', async () => {
    const made = await withVersions([
      major,
      { featured: true, status: 'draft' },
      { featured: true, status: 'unlisted' },
    ])
    assert.deepEqual(await listed(made, { featured: true }), [0], 'a hidden featured version does not count')
    const filtered = await withVersions([{ featured: true, loaders: ['forge'] }, major])
    assert.deepEqual(await listed(filtered, { featured: true, loaders: '["fabric"]' }), [1])
    assert.deepEqual(await listed(filtered, { featured: true, loaders: '["forge"]' }), [0])
  })

  test('shows none on a page beyond the last, and nothing in their stead', async () => {
    const made = await withVersions([major, { featured: true }])
    assert.deepEqual(await listed(made, { featured: true, offset: 1 }), [])
    assert.deepEqual(await listed(made, { featured: true, limit: 0 }), [])
  })
})

describe('a project without', () => {
  test('shows the newest, and the newest for each pair of a major game version and a loader', async () => {
    const made = await withVersions([
      { game_versions: ['1.20', '1.21'] },
      { loaders: ['quilt', 'fabric'], game_versions: ['1.20'] },
      { loaders: ['forge'], game_versions: ['1.21'] },
      { loaders: ['forge'], game_versions: ['1.20.1'] },
    ])
    // 0 is the newest with fabric on 1.21; 1 has both loaders on 1.20; 2 has forge on 1.21; 3 is the newest.
    assert.deepEqual(await listed(made, { featured: true }), [3, 2, 1, 0])
  })

  test('takes the first of the list where versions carry an ordering', async () => {
    const made = await withVersions([{ ...major, ordering: 1 }, major])
    assert.deepEqual(await listed(made, { featured: true }), [0])
  })

  test('shows all where no version has a major game version', async () => {
    assert.deepEqual(await listed(await withVersions([{}, {}]), { featured: true }), [1, 0])
    assert.deepEqual(await listed(await withVersions([]), { featured: true }), [])
  })

  test('pages through them like through any list, and under the same filters', async () => {
    const made = await withVersions([
      major,
      { ...major, loaders: ['forge'] },
      { ...major, loaders: ['quilt'], version_type: 'beta' },
    ])
    assert.deepEqual(await listed(made, { featured: true }), [2, 1, 0])
    assert.deepEqual(await listed(made, { featured: true, limit: 1 }), [2])
    assert.deepEqual(await listed(made, { featured: true, limit: 5, offset: 1 }), [1, 0])
    assert.deepEqual(await listed(made, { featured: true, version_type: 'beta' }), [2])
    assert.deepEqual(await listed(made, { featured: true, loaders: '["forge","fabric"]' }), [1, 0])
  })

  test('ends immediately when a version becomes featured', async () => {
    const made = await withVersions([major, major])
    assert.deepEqual(await listed(made, { featured: true }), [1])
    const path = `/v3/version/${made.ids[0]}`
    assert.equal((await t.as(made.project.owner).patch(path, { featured: true })).statusCode, 204)
    assert.deepEqual(await listed(made, { featured: true }), [0])
  })
})

test('a list is read in pages, which continue in the same place after a version is deleted', async () => {
  const { project, ids } = await withVersions([{}, {}, { ordering: 1 }, {}, {}, { loaders: ['forge'] }])
  const expected = [2, 4, 3, 1, 0].map((place) => ids[place])
  for (const api of ['v3', 'v2']) {
    const path = `/${api}/project/${project.id}/version`
    const first = await t.anyone.get(`${path}?limit=2&loaders=["fabric"]`)
    const [, query = ''] = /^<(\?.*)>; rel="next"$/.exec(String(first.headers['link'])) ?? []
    const second = await t.anyone.get(path + query)
    const listedIds = [...first.json(), ...second.json()].map(({ id }: { id: string }) => id)
    assert.deepEqual(listedIds, expected.slice(0, 4))
    if (api === 'v2')
      await t.deps.db
        .deleteFrom('version')
        .where('id', '=', listedIds[3] ?? '')
        .execute()
    t.deps.cache.clear()
    const [, rest = ''] = /^<(\?.*)>; rel="next"$/.exec(String(second.headers['link'])) ?? []
    const third = await t.anyone.get(path + rest)
    assert.deepEqual(
      [third.json().map(({ id }: { id: string }) => id), third.headers['link']],
      [expected.slice(4), undefined],
    )
    for (const bad of ['cursor=9', 'cursor=é-1', 'cursor=1-']) {
      const answer = await t.anyone.get(`${path}?${bad}`)
      assert.equal(answer.statusCode, 400, bad)
    }
  }
})
