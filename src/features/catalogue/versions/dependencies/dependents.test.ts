import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t?.close())

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
