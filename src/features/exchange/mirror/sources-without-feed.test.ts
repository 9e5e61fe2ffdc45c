// Sources that have the reads of /v3 and a search, but no change feed and no revisions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'
import { type StandInSource, standInSource } from '#test/support/stand-ins/mirror-source.ts'

let source: StandInSource
let mirror: Mirroring
before(async () => {
  source = await standInSource()
  source.hasFeed = false
  mirror = await mirroringApp(source.address)
})
after(async () => {
  await mirror?.t.close()
  await source?.close()
})

const day = (n: number): string => `2024-06-${String(n).padStart(2, '0')}T00:00:00.000Z`

/** A project without revisions, changed on this day. */
function add(id: string, versionIds: string[], updated: string): void {
  source.add(id, versionIds, { updated, revision: undefined })
  for (const versionId of versionIds)
    source.versions.set(versionId, { ...source.versions.get(versionId), revision: undefined })
}

const read = async (path: string) => (await mirror.t.anyone.get(path)).json()

test('a search is read from the latest change to the first project that has not changed; every tenth run reads all', async () => {
  for (let n = 0; n < 120; n += 1) add(`Project${n}`, n < 5 ? [`Version${n}`] : [], `2024-05-01T00:00:00.${100 + n}Z`)
  const first = await mirror.run()
  assert.deepEqual(
    [first.projects, first.versions, first.files, first.cursor],
    [120, 5, 5, null],
    mirror.warnings.join(),
  )
  source.paths.length = 0
  const second = await mirror.run()
  assert.deepEqual([second.projects, second.versions], [0, 0])
  assert.ok(second.requests <= 4, source.paths.join())
  assert.equal(source.paths.filter((path) => path === '/v3/search').length, 1)

  add('Project3', ['Version3', 'Version999'], day(2))
  source.projects.set('Project3', { ...source.projects.get('Project3'), name: 'Another name' })
  const third = await mirror.run()
  assert.deepEqual([third.projects, third.versions], [1, 1], mirror.warnings.join())
  const project = await read('/v3/project/Project3')
  assert.deepEqual([project.name, project.versions.toSorted()], ['Another name', ['Version3', 'Version999']])

  // A removal changes no date, so only a complete run finds it.
  source.projects.delete('Project4')
  await mirror.run()
  assert.equal((await read('/v3/project/Project4')).status, 'approved')
  for (let run = 5; run <= 11; run += 1) await mirror.run()
  assert.equal((await read('/v3/project/Project4')).status, 'withheld')
})

test('named projects are compared in each run', async () => {
  add('Named1', ['Version1001'], day(3))
  const selection = { kind: 'projects', names: ['Named1', 'slug-absent'] } as const
  const first = await mirror.run({ selection })
  assert.deepEqual([first.projects, first.skipped], [1, 1])
  assert.match(mirror.warnings.join(), /The source shows no project slug-absent/)
  const changed = { ...source.versions.get('Version1001'), changelog: 'Corrected' }
  source.versions.set('Version1001', changed)
  assert.equal((await mirror.run({ selection })).versions, 1)
  assert.equal((await read('/v3/version/Version1001')).changelog, 'Corrected')
})
