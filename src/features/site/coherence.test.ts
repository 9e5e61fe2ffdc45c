// Pages and the API tell the same: no page is older than a write that was answered, whatever is read meanwhile.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { MadeProject, Person } from '#test/support/factories.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/harness.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'writer' })
  project = await t.make.project({ owner, slug: 'changing', name: 'State 0' })
  await t.make.version({ project })
})
after(() => t?.close())

/** A page as a browser asks for it again: with the tag of what it has. */
async function load(path: string, known?: string) {
  const headers = {
    accept: 'text/html',
    'user-agent': 'Mozilla/5.0',
    'x-ratelimit-key': BYPASS_KEY,
    ...(known === undefined ? {} : { 'if-none-match': known }),
  }
  return t.inject({ method: 'GET', url: path, headers })
}

const PATHS = ['/mod/changing', '/mod/changing/versions', '/user/writer']

test('after each write every page that shows it is new, also for those who ask with a tag', async () => {
  const tags = new Map<string, string>()
  for (let state = 1; state <= 12; state += 1) {
    const name = `State ${state} of many`
    // Readers that began before the write may get either state, and must leave nothing old behind.
    const racing = PATHS.flatMap((path) => [load(path), load(path, tags.get(path))])
    const written = await t.as(owner).patch(`/v3/project/${project.id}`, { name, summary: `Summary of ${name}` })
    assert.equal(written.statusCode, 204, written.body)
    const fresh = await Promise.all(PATHS.map((path) => load(path, tags.get(path))))
    for (const [index, answer] of fresh.entries()) {
      const path = PATHS[index] ?? ''
      assert.equal(answer.statusCode, 200, `${path} ${state}`)
      assert.ok(answer.body.includes(name), `${path} shows ${name}`)
      const tag = String(answer.headers.etag)
      assert.notEqual(tag, tags.get(path))
      tags.set(path, tag)
      assert.equal((await load(path, tag)).statusCode, 304, path)
    }
    for (const answer of await Promise.all(racing)) assert.ok([200, 304].includes(answer.statusCode))
  }
})

test('what is hidden has no page from the moment of the answer, with or without a tag, and comes back', async () => {
  for (const [status, expected] of [
    ['private', 404],
    ['approved', 200],
  ] as const) {
    const known = (await load('/mod/changing')).headers.etag
    await t.deps.db.updateTable('project').set({ requested_status: 'approved' }).where('id', '=', project.id).execute()
    const moderator = await t.make.account({ role: 'admin' })
    const racing = PATHS.map((path) => load(path))
    const written = await t.as(moderator).patch(`/v3/project/${project.id}`, { status })
    assert.equal(written.statusCode, 204, written.body)
    for (const path of [
      '/mod/changing',
      '/mod/changing/versions',
      '/mod/changing/versions.atom',
      `/card/${project.id}.png`,
    ]) {
      const tagged = await load(path, known === undefined ? undefined : String(known))
      assert.deepEqual([tagged.statusCode, (await load(path)).statusCode], [expected, expected], path)
    }
    assert.equal((await load('/user/writer')).body.includes('State 12 of many'), expected === 200)
    assert.equal((await t.anyone.get('/v3/project/changing')).statusCode, expected)
    await Promise.all(racing)
  }
})
