// Sources that show an older state than their change feed names, as an instance with several processes or a cache can.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'
import { type StandInSource, standInSource } from '#test/support/stand-ins/mirror-source.ts'

let t: TestApp
let source: StandInSource
let mirror: Mirroring
before(async () => {
  t = await testApp()
})
after(() => t.close())
beforeEach(async () => {
  source = await standInSource()
  mirror = await mirroringApp(source.address, t)
})
afterEach(() => source.close())

let count = 0
const newId = (): string => {
  count += 1
  return `Late${count}`
}

const read = async (path: string) => (await t.anyone.get(path)).json()

/** Answers the first `times` reads of a list as long as nothing had changed. */
function showBefore(path: '/v3/projects' | '/v3/versions', objects: object[], times = Number.POSITIVE_INFINITY): void {
  let left = times
  source.fault = (req, res) => {
    if (!req.url?.startsWith(`${path}?`) || left === 0) return false
    left -= 1
    res.end(JSON.stringify(objects))
    return true
  }
}

type Objects = Map<string, Record<string, unknown>>
/** Changes an object as the source does, names it in the feed, and returns what it was before. */
function change(kind: 'project' | 'version', id: string, fields: object): object {
  const objects: Objects = kind === 'project' ? source.projects : source.versions
  const before = objects.get(id) ?? {}
  objects.set(id, { ...before, ...fields, revision: Number(before['revision']) + 1 })
  source.announce(kind, id)
  return before
}

/** A project with one version that has no file yet, which the mirror has copied. */
async function versionWithoutFile(): Promise<{ project: string; version: string; files: unknown }> {
  const [project, version] = [newId(), newId()]
  source.add(project, [version])
  const { files } = source.versions.get(version) ?? {}
  source.versions.set(version, { ...source.versions.get(version), files: [] })
  const first = await mirror.run()
  assert.deepEqual([first.versions, first.files], [1, 0], mirror.warnings.join())
  return { project, version, files }
}

test('a version that the source shows without its new file is read again, by the next run at the latest', async () => {
  const { version, files } = await versionWithoutFile()
  const before = change('version', version, { files })
  showBefore('/v3/versions', [before])
  for (let run = 0; run < 2; run += 1) {
    const late = await mirror.run()
    assert.deepEqual([late.versions, late.skipped, late.cursor], [0, 1, 'cursor-1'])
  }
  assert.match(mirror.warnings.join(), /shows an older state of the version Late/)
  source.fault = undefined
  const last = await mirror.run()
  assert.deepEqual([last.versions, last.files, last.skipped, last.cursor], [1, 1, 0, 'cursor-2'])
  assert.equal((await read(`/v3/version/${version}`)).files.length, 1)
  assert.equal((await mirror.run()).requests, 2)
})

test('the run itself waits for a source that is late for a moment', async () => {
  const { version, files } = await versionWithoutFile()
  const before = change('version', version, { files })
  showBefore('/v3/versions', [before], 2)
  const waits: number[] = []
  const report = await mirror.run({ pause: async (ms) => void waits.push(ms) })
  assert.deepEqual([report.files, report.skipped, report.cursor], [1, 0, 'cursor-2'])
  assert.deepEqual(waits, [1000, 2000])
})

test('objects on other pages of the feed are copied while one object is late, and nothing is lost', async () => {
  const { project, version, files } = await versionWithoutFile()
  const [other, second] = [newId(), newId()]
  const before = change('version', version, { files })
  source.add(other, [second])
  source.announce('project', other)
  source.announce('version', second)
  const late = source.versions.get(second)
  showBefore('/v3/versions', [before, late ?? {}])
  const report = await mirror.run()
  assert.deepEqual([report.versions, report.skipped], [1, 1], mirror.warnings.join())
  assert.equal((await read(`/v3/version/${second}`)).files.length, 1)
  source.fault = undefined
  assert.deepEqual((await mirror.run()).versions, 1)
  assert.deepEqual((await read(`/v3/project/${project}`)).versions, [version])
  assert.equal((await read(`/v3/version/${version}`)).files.length, 1)
})

test('a new version that the project does not list yet, and a project that is not shown yet, follow', async () => {
  const [project, first, second] = [newId(), newId(), newId()]
  source.add(project, [first])
  await mirror.run()
  const before = source.projects.get(project) ?? {}
  source.add(project, [first, second], { revision: 2 })
  source.announce('version', second)
  showBefore('/v3/projects', [before])
  assert.deepEqual((await mirror.run()).skipped, 1)
  source.announce('project', project)
  assert.deepEqual((await mirror.run()).skipped, 1)
  showBefore('/v3/projects', [])
  assert.deepEqual((await mirror.run()).skipped, 1)
  source.fault = undefined
  assert.deepEqual((await mirror.run()).versions, 1)
  assert.deepEqual((await read(`/v3/project/${project}`)).versions.toSorted(), [first, second].toSorted())
})

test('removed objects that the source still shows are removed by the next run at the latest', async () => {
  const [project, first, second] = [newId(), newId(), newId()]
  source.add(project, [first, second])
  await mirror.run()
  const version = source.versions.get(second) ?? {}
  source.versions.delete(second)
  source.announce('version', second, 'removed')
  showBefore('/v3/versions', [version])
  assert.deepEqual((await mirror.run()).skipped, 1)
  assert.equal((await read(`/v3/version/${second}`)).status, 'listed')
  source.fault = undefined
  await mirror.run()
  assert.equal((await read(`/v3/version/${second}`)).status, 'unlisted')

  const before = source.projects.get(project) ?? {}
  source.projects.delete(project)
  source.announce('project', project, 'removed')
  showBefore('/v3/projects', [before])
  assert.deepEqual((await mirror.run()).skipped, 1)
  assert.equal((await read(`/v3/project/${project}`)).status, 'approved')
  source.fault = undefined
  const last = await mirror.run()
  assert.deepEqual([last.skipped, (await read(`/v3/project/${project}`)).status], [0, 'withheld'])
})

test('an unlisted project is removed with its versions, which remain listed', async () => {
  const [project, version] = [newId(), newId()]
  source.add(project, [version])
  await mirror.run()
  source.projects.set(project, { ...source.projects.get(project), status: 'unlisted' })
  source.announce('project', project, 'removed')
  source.announce('version', version, 'removed')
  assert.deepEqual((await mirror.run()).skipped, 0, mirror.warnings.join())
  assert.deepEqual(
    [(await read(`/v3/project/${project}`)).status, (await read(`/v3/version/${version}`)).status],
    ['unlisted', 'listed'],
  )
})

test('versions of a project that could not be copied are read again with it', async () => {
  const { project, version, files } = await versionWithoutFile()
  change('project', project, { name: 'x'.repeat(65) })
  change('version', version, { files })
  assert.deepEqual((await mirror.run()).skipped, 1)
  change('project', project, { name: 'Another name' })
  const report = await mirror.run()
  assert.deepEqual([report.versions, report.files, report.skipped], [1, 1, 0], mirror.warnings.join())
  assert.equal((await mirror.run()).requests, 2)
})

test('an image that could not be downloaded is tried again', async () => {
  const [project, version] = [newId(), newId()]
  source.add(project, [version], { icon_url: `${source.address}/files/icon.png` })
  assert.deepEqual((await mirror.run()).skipped, 1)
  assert.equal((await read(`/v3/project/${project}`)).icon_url, null)
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
  source.files.set('icon.png', Buffer.from(png, 'base64'))
  assert.deepEqual((await mirror.run()).projects, 1)
  assert.match((await read(`/v3/project/${project}`)).icon_url, /^https:/)
  assert.equal((await mirror.run()).requests, 2)
})

test('what could not be copied and then disappears is forgotten', async () => {
  const [project, version] = [newId(), newId()]
  source.add(project, [version])
  source.files.delete(`${version}.jar`)
  assert.deepEqual((await mirror.run()).failed, 1)
  source.versions.delete(version)
  source.projects.set(project, { ...source.projects.get(project), versions: [], revision: 2 })
  source.announce('version', version, 'removed')
  source.announce('project', project)
  await mirror.run()
  assert.equal((await mirror.run()).requests, 2)
})
