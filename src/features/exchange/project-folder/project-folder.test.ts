// A project as a folder: a round trip between two instances, and folders from elsewhere.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { exportProject } from './export-project.ts'
import { importProject } from './import-project.ts'

type Json = Record<string, unknown>

let [from, to]: TestApp[] = []
let folder: string
let exported: string
let owner: string
let project: { id: string; slug: string }
let versionIds: string[]

const jar = (text: string): Buffer =>
  makeZip([
    { name: 'fabric.mod.json', data: JSON.stringify({ schemaVersion: 1, id: 'lantern', version: '1.0.0' }) },
    { name: 'text.txt', data: text },
  ])

before(async () => {
  ;[from, to] = await Promise.all([testApp(), testApp()])
  folder = await mkdtemp(join(tmpdir(), 'depot-project-'))
  exported = join(folder, 'exported')
  owner = (await teamFactories(app(to).deps.db).organization(await app(to).make.account())).slug
  await makeProject(app(from))
  await exportProject(app(from).deps, { name: project.slug.toUpperCase(), folder: exported })
})
after(async () => {
  await from?.close()
  await to?.close()
  await rm(folder, { recursive: true, force: true })
})

function app(t: TestApp | undefined): TestApp {
  assert.ok(t !== undefined)
  return t
}

async function makeProject(t: TestApp): Promise<void> {
  const made = await t.make.project({ slug: 'lantern', categories: ['utility'] })
  project = made
  const date = (day: number) => new Date(`2020-02-0${day}T04:05:06.007Z`)
  const first = await t.make.version({ project: made, version_number: '1.0.0', date_published: date(1) })
  const second = await t.make.version({
    project: made,
    version_number: '1.1.0',
    date_published: date(2),
    featured: true,
  })
  const third = await t.make.version({
    project: made,
    version_number: '2.0.0',
    date_published: date(3),
    status: 'archived',
  })
  await t.make.version({ project: made, version_number: '3.0.0', status: 'draft' })
  versionIds = [first.id, second.id, third.id]
  for (const [index, id] of versionIds.entries())
    await t.make.file({
      project: made,
      version: { id },
      bytes: jar(`content ${index}`),
      filename: `lantern-${index}.jar`,
    })
  const source = { version: { id: first.id }, project: made, primary: false }
  await t.make.file({ ...source, bytes: jar('sources'), filename: 'lantern-sources.jar' })
  const other = await t.make.project()
  const dependency = { project_id: null, version_id: null, file_name: null, dependency_type: 'required' as const }
  await t.deps.db
    .insertInto('dependency')
    .values([
      {
        ...dependency,
        dependent_id: second.id,
        project_id: made.id,
        version_id: first.id,
        dependency_type: 'optional',
      },
      { ...dependency, dependent_id: second.id, file_name: 'elsewhere.jar' },
      { ...dependency, dependent_id: third.id, project_id: other.id },
    ])
    .execute()
  const binary = { headers: { 'content-type': 'image/png' } }
  const mine = t.as(made.owner)
  const picture = async (background: string) =>
    sharp({ create: { width: 400, height: 200, channels: 3, background } })
      .png()
      .toBuffer()
  const icon = await mine.patch(`/v3/project/${made.id}/icon`, await picture('teal'), {
    ...binary,
    query: { ext: 'png' },
  })
  assert.equal(icon.statusCode, 204, icon.body)
  for (const [index, colour] of ['red', 'green'].entries()) {
    const query = { ext: 'png', title: colour, ordering: index, featured: index === 1 }
    const added = await mine.post(`/v3/project/${made.id}/gallery`, await picture(colour), { ...binary, query })
    assert.equal(added.statusCode, 204, added.body)
  }
  const withdrawn = { withdrawn_kind: 'broken' as const, withdrawn_reason: 'Loses items', withdrawn_at: date(4) }
  await t.deps.db
    .updateTable('version')
    .set({ ...withdrawn, withdrawn_replacement: second.id })
    .where('id', '=', first.id)
    .execute()
}

const read = async (t: TestApp, path: string) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path}: ${answer.body}`)
  return answer.json()
}

/** Returns what a round trip must preserve: everything except IDs, owners, counters, addresses and the revision. */
async function contentOf(t: TestApp, id: string) {
  const {
    name,
    slug,
    summary,
    description,
    license,
    categories,
    link_urls,
    status,
    published,
    updated,
    approved,
    ...rest
  } = await read(t, `/v3/project/${id}`)
  const versions: Json[] = await read(t, `/v3/project/${id}/version`)
  const numbers = new Map(versions.map((version) => [version['id'], version['version_number']]))
  const content = await Promise.all(
    versions.map(async (version) => {
      const { id: _, project_id: __, author_id: ___, revision: ____, files, dependencies, withdrawn, ...own } = version
      const bytes = (files as Json[]).map(({ url }) => t.anyone.get(new URL(String(url)).pathname))
      const found = (await Promise.all(bytes)).map(({ rawPayload }) =>
        createHash('sha512').update(rawPayload).digest('hex'),
      )
      const { replacement, ...reason } = (withdrawn ?? {}) as Json
      return {
        ...own,
        files: (files as Json[]).map(({ id: _____, url: ______, ...file }) => file),
        found,
        withdrawn: { ...reason, replacement: numbers.get(replacement) },
        dependencies: (dependencies as Json[]).map((one) => ({
          ...one,
          project_id: one['project_id'] === id ? 'own' : one['project_id'],
          version_id: numbers.get(one['version_id']),
        })),
      }
    }),
  )
  const gallery = (rest['gallery'] as Json[]).map(({ url: _, raw_url: __, sizes: ___, ...item }) => item)
  const project = {
    name,
    slug,
    summary,
    description,
    license,
    categories,
    link_urls,
    status,
    published,
    updated,
    approved,
  }
  return { ...project, color: rest['color'], types: rest['project_types'], gallery, versions: content }
}

test('a round trip preserves everything except IDs, and leaves out dependencies that the other instance lacks', async () => {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const hook = { owner: { kind: 'instance' }, url: 'https://hooks.example.org/', events: ['*'] }
  const admin = await app(to).make.account({ role: 'admin' })
  assert.equal((await app(to).as(admin).post('/v3/webhook', hook)).statusCode, 201)
  const report = await importProject(app(to).deps, { folder: exported, owner, warn })
  assert.deepEqual({ ...report, id: '' }, { id: '', slug: 'lantern', versions: 3, files: 4, images: 3, skipped: 1 })
  const events = await app(to).deps.db.selectFrom('event').selectAll().orderBy('id').execute()
  assert.deepEqual(
    events.map(({ kind, is_public, organization_ids }) => [kind, is_public, organization_ids.length]),
    ['project.created', 'project.status_changed', 'version.published', 'version.published'].map((kind) => [
      kind,
      true,
      1,
    ]),
  )
  assert.notEqual(report.id, project.id)
  const [before, now] = [await contentOf(app(from), project.id), await contentOf(app(to), report.id)]
  const foreign = before.versions.find((version) => (version as Json)['version_number'] === '2.0.0')
  assert.equal(foreign?.dependencies.length, 1)
  if (foreign !== undefined) foreign.dependencies = []
  assert.deepEqual(now, before)
  assert.deepEqual(warnings.length, 1)
  assert.match(warnings.join(), /Version 2\.0\.0: the dependency on .* was left out/)
  assert.equal((now.versions[0] as Json)['date_published'], '2020-02-03T04:05:06.007Z')
  // Its export is the same, except for the IDs.
  const again = join(folder, 'again')
  await exportProject(app(to).deps, { name: report.id, folder: again })
  assert.deepEqual(await filesIn(again), await filesIn(exported))
  // The project is there, so a second import changes nothing.
  await assert.rejects(importProject(app(to).deps, { folder: exported, owner, warn }), /project\.json: .*slug/i)
  await withProject(again, { slug: 'another' })
  await assert.rejects(importProject(app(to).deps, { folder: again, owner, warn }), /Another project already contains/)
  assert.equal((await app(to).anyone.get('/v3/project/another')).statusCode, 404)
})

const filesIn = async (path: string): Promise<string[]> => (await readdir(path, { recursive: true })).sort()

async function withProject(path: string, fields: Json): Promise<void> {
  const file = join(path, 'project.json')
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...fields }))
}

async function withVersion(path: string, fields: Json): Promise<void> {
  const file = join(path, 'versions', '00001', 'version.json')
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...fields }))
}

test('an export needs a project and a new folder, and leaves nothing after an error', async () => {
  const { deps } = app(from)
  await assert.rejects(exportProject(deps, { name: 'lantern', folder: exported }), /exists already/)
  await assert.rejects(exportProject(deps, { name: 'absent', folder: join(folder, 'none') }), /no project absent/)
  const broken = await app(from).make.project()
  const version = await app(from).make.version({ project: broken })
  const { storageKey } = await app(from).make.file({ project: broken, version, bytes: jar('lost') })
  await deps.files.remove(storageKey)
  await assert.rejects(exportProject(deps, { name: broken.id, folder: join(folder, 'broken') }), /file store lacks/)
  assert.deepEqual(
    (await readdir(folder)).filter((name) => /none|broken/.test(name)),
    [],
  )
})

let hostile: string
beforeEach(async () => {
  hostile = await mkdtemp(join(folder, 'hostile-'))
  await rm(hostile, { recursive: true })
  await cp(exported, hostile, { recursive: true })
  await withProject(hostile, { slug: 'hostile' })
})

const HOSTILE: readonly [string, (path: string) => Promise<unknown>, RegExp][] = [
  [
    'a file name that leaves the folder',
    (path) => withVersion(path, { file_parts: ['../../../project.json'] }),
    /version\.json: The file name/,
  ],
  [
    'an absolute file name',
    (path) => withVersion(path, { file_parts: ['/etc/passwd.jar'] }),
    /version\.json: The file name/,
  ],
  ['the name of a device', (path) => withVersion(path, { file_parts: ['con.jar'] }), /name of a device/],
  ['an icon elsewhere', (path) => withProject(path, { icon: '../secret.png' }), /image name .* not in the place/],
  [
    'a gallery image elsewhere',
    (path) =>
      withProject(path, {
        gallery_items: [{ item: 'gallery/../../x.png', featured: false, created: '2020-01-01T00:00:00Z' }],
      }),
    /image name/,
  ],
  [
    'a link in place of a file',
    async (path) => {
      const file = join(path, 'versions', '00001', 'files', 'lantern-0.jar')
      await rm(file)
      await symlink(join(exported, 'versions', '00001', 'files', 'lantern-0.jar'), file)
    },
    /lantern-0\.jar is a link/,
  ],
  [
    'a link in place of a folder',
    async (path) => {
      await rm(join(path, 'versions', '00001'), { recursive: true })
      await symlink(join(exported, 'versions', '00001'), join(path, 'versions', '00001'))
    },
    /version\.json is a link/,
  ],
  ['a missing file', (path) => rm(join(path, 'versions', '00002', 'files', 'lantern-1.jar')), /has no versions\/00002/],
  [
    'a folder in place of a file',
    async (path) => {
      await rm(join(path, 'icon.png'))
      await mkdir(join(path, 'icon.png'))
    },
    /icon\.png is not a file/,
  ],
  [
    'another content',
    (path) => writeFile(join(path, 'versions', '00001', 'files', 'lantern-0.jar'), 'no archive'),
    /lantern-0\.jar/,
  ],
  ['no JSON', (path) => writeFile(join(path, 'project.json'), '{'), /project\.json is not JSON/],
  ['a list', (path) => writeFile(join(path, 'project.json'), '[]'), /must be a JSON object/],
  ['an impossible date', (path) => withProject(path, { published: '2020-13-45T00:00:00Z' }), /not a possible date/],
  ['a wrong date', (path) => withVersion(path, { date_published: 7 }), /version\.json: date_published/],
  ['an unknown loader', (path) => withVersion(path, { loaders: ['loader-of-nobody'] }), /version\.json: .*loaders/],
  ['a draft', (path) => withVersion(path, { status: 'draft' }), /status must be listed/],
  ['a NUL', (path) => withProject(path, { summary: 'a\u0000b' }), /cannot be stored/],
]

for (const [name, change, message] of HOSTILE) {
  test(`an import refuses ${name} and leaves nothing`, async () => {
    await change(hostile)
    const { deps, anyone } = app(to)
    const stored = async () => (await filesIn(join(deps.config.dataDir, 'files'))).length
    const before = await stored()
    await assert.rejects(importProject(deps, { folder: hostile, owner, warn: () => undefined }), (error: Error) => {
      assert.equal(error.constructor.name, 'OperatorError', error.stack)
      assert.match(error.message, message)
      return true
    })
    assert.equal((await anyone.get('/v3/project/hostile')).statusCode, 404)
    assert.equal(await stored(), before)
  })
}

test('a project that was not public becomes a draft', async () => {
  const hidden = await app(from).make.project({ status: 'processing' })
  const path = join(folder, 'hidden')
  await exportProject(app(from).deps, { name: hidden.id, folder: path })
  const { id } = await importProject(app(to).deps, { folder: path, owner, warn: () => undefined })
  const { status } = await app(to)
    .deps.db.selectFrom('project')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.equal(status, 'draft')
})
