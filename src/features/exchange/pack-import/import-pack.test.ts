// Packs become projects: an .mrpack, a packwiz folder, projects from another instance, and packs with hostile names.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { TestApp } from '#test/support/app/test-app.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { listeningApp } from '#test/support/factories/mirror-factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { importPack, type PackOptions } from './import-pack.ts'

let t: TestApp
let source: TestApp
let address: string
let folder: string
let owner: { id: string; slug: string }
let reader: Awaited<ReturnType<TestApp['make']['account']>>
let warnings: string[]
before(async () => {
  const listening = await listeningApp()
  source = listening.t
  address = listening.address
  t = await testApp()
  folder = await mkdtemp(join(tmpdir(), 'depot-pack-'))
  owner = await teamFactories(t.deps.db).organization(await t.make.account())
  reader = await t.make.account({ role: 'admin' })
})
after(async () => {
  await t?.close()
  await source?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  warnings = []
})

const run = (path: string, options: Partial<PackOptions> = {}) =>
  importPack(t.deps, {
    path,
    owner: owner.slug,
    userAgent: 'depot-tests/1.0 (import-pack)',
    warn: (message) => void warnings.push(message),
    pause: async () => undefined,
    ...options,
  })

const digest = (format: string, bytes: string | Buffer): string => createHash(format).update(bytes).digest('hex')
const jar = (text: string): Buffer =>
  makeZip([
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'text', data: text },
  ])

let count = 0
async function publish(on: TestApp): Promise<{ project: string; version: string; bytes: Buffer; filename: string }> {
  count += 1
  const project = await on.make.project()
  const version = await on.make.version({ project })
  const [bytes, filename] = [jar(`content ${count}`), `lantern-${count}.jar`]
  await on.make.file({ project, version, bytes, filename })
  return { project: project.id, version: version.id, bytes, filename }
}

const entry = (bytes: Buffer, path: string, url = `https://cdn.modrinth.com/data/${path}`) => ({
  path,
  hashes: { sha1: digest('sha1', bytes), sha512: digest('sha512', bytes) },
  downloads: [url],
  fileSize: bytes.length,
})

async function mrpack(name: string, index: object): Promise<string> {
  const file = join(folder, name)
  const dependencies = { minecraft: '1.20.1', 'fabric-loader': '0.15.0' }
  const data = {
    formatVersion: 1,
    game: 'minecraft',
    versionId: '2.1.0',
    name: 'Lantern Days',
    dependencies,
    files: [],
  }
  const entries = [
    { name: 'modrinth.index.json', data: JSON.stringify({ ...data, ...index }) },
    { name: 'overrides/config/lantern.txt', data: name },
  ]
  await writeFile(file, makeZip(entries))
  return file
}

const read = async (path: string) => {
  const answer = await t.as(reader).get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const projects = async (): Promise<number> => (await t.deps.db.selectFrom('project').select('id').execute()).length
const dependenciesOf = async (version: string) =>
  (await read(`/v3/version/${version}`)).dependencies.map(
    ({ project_id, version_id, file_name }: Record<string, string | null>) => [project_id, version_id, file_name],
  )

test('an .mrpack becomes a draft with a version; its files become dependencies by their hashes', async () => {
  const known = await publish(t)
  const unknown = jar('unknown')
  const file = await mrpack('days.mrpack', {
    summary: 'A pack of lanterns',
    files: [entry(known.bytes, `mods/${known.filename}`), entry(unknown, 'mods/unknown.jar')],
  })
  const report = await run(file)
  const { id, ...rest } = report
  assert.deepEqual(rest, { slug: 'lantern-days', version: '2.1.0', files: 2, unknown: 1, copied: 0 })
  assert.match(warnings.join(), /No version here contains unknown\.jar/)
  const project = await read(`/v3/project/${id}`)
  assert.deepEqual(
    [project.name, project.summary, project.status, project.organization, project.project_types],
    ['Lantern Days', 'A pack of lanterns', 'draft', owner.id, ['modpack']],
  )
  assert.equal((await t.anyone.get(`/v3/project/${id}`)).statusCode, 404)
  const version = await read(`/v3/version/${project.versions[0]}`)
  assert.deepEqual(
    [version.version_number, version.loaders, version.game_versions, version.mrpack_loaders, version.version_type],
    ['2.1.0', ['mrpack'], ['1.20.1'], ['fabric'], 'release'],
  )
  assert.deepEqual(
    version.files.map(({ filename }: { filename: string }) => filename),
    ['days.mrpack'],
  )
  assert.deepEqual(await dependenciesOf(version.id), [
    [known.project, known.version, null],
    [null, null, 'unknown.jar'],
  ])
  const entries = await t.deps.db.selectFrom('audit_entry').select('actor_kind').where('subject_id', '=', id).execute()
  assert.deepEqual(
    entries.map(({ actor_kind }) => actor_kind),
    ['command'],
  )

  // The same content cannot be in two projects, and another pack of this name gets another slug.
  const before = await projects()
  await assert.rejects(run(file), /days\.mrpack/)
  assert.equal(await projects(), before)
  const other = await mrpack('other.mrpack', { files: [entry(known.bytes, `mods/${known.filename}`)] })
  assert.equal((await run(other)).slug, 'lantern-days-2')
})

test('projects that the pack needs are copied from another instance, also if a mirror of it exists', async () => {
  const [one, two] = [await publish(source), await publish(source)]
  const unknown = jar('nowhere')
  const file = await mrpack('needs.mrpack', {
    name: 'Needs',
    // A pack of the other instance downloads from there.
    files: [
      entry(one.bytes, `mods/${one.filename}`, `${address}/data/${one.filename}`),
      entry(unknown, 'mods/nowhere.jar'),
    ],
  })
  await assert.rejects(run(file), /from a host that is not allowed/)
  const report = await run(file, { projectsFrom: address })
  assert.deepEqual([report.copied, report.unknown], [1, 1], warnings.join())
  assert.equal((await t.anyone.get(`/v3/project/${one.project}`)).json().origin.address, address)
  const [version = ''] = (await read(`/v3/project/${report.id}`)).versions
  assert.deepEqual(await dependenciesOf(version), [
    [one.project, one.version, null],
    [null, null, 'nowhere.jar'],
  ])
  const mirror = () =>
    t.deps.db.selectFrom('mirror').selectAll().where('address', '=', address).executeTakeFirstOrThrow()
  await t.deps.db.updateTable('mirror').set({ selection: '{"kind":"all"}', cursor: 'kept' }).execute()
  const second = await mrpack('more.mrpack', { name: 'More', files: [entry(two.bytes, `mods/${two.filename}`)] })
  assert.deepEqual((await run(second, { projectsFrom: address })).copied, 1)
  const { selection, cursor, is_comparing } = await mirror()
  assert.deepEqual([selection, cursor, is_comparing], [{ kind: 'all' }, 'kept', false])
  const third = await mrpack('third.mrpack', { name: 'Third', files: [entry(jar('third'), 'mods/third.jar')] })
  const before = await projects()
  await assert.rejects(run(third, { projectsFrom: 'http://127.0.0.1:1' }), /does not respond/)
  assert.equal(await projects(), before)
})

type Files = Record<string, string>
/** A packwiz pack with correct hashes. */
async function packwiz(name: string, files: Files, { pack = '', hashes = {} }: { pack?: string; hashes?: Files } = {}) {
  const root = join(folder, name)
  const index = Object.entries(files).map(([file, text]) =>
    [
      '[[files]]',
      `file = ${JSON.stringify(file)}`,
      `hash = "${hashes[file] ?? digest('sha256', text)}"`,
      ...(file.endsWith('.pw.toml') ? ['metafile = true'] : []),
    ].join('\n'),
  )
  const indexText = `hash-format = "sha256"\n\n${index.join('\n\n')}\n`
  const packText =
    pack ||
    `name = "Packwiz pack"\nversion = "1.2.0"\n\n[index]\nfile = "index.toml"\nhash-format = "sha256"\nhash = "${digest('sha256', indexText)}"\n\n[versions]\nminecraft = "1.20.1"\nfabric = "0.15.0"\n`
  const written: [string, string][] = [...Object.entries(files), ['index.toml', indexText], ['pack.toml', packText]]
  for (const [file, text] of written) {
    if (file.split('/').includes('..')) continue
    await mkdir(dirname(join(root, file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
  return root
}

const metafile = (filename: string, hash: string, more = '', format = 'sha512'): string =>
  `name = "Mod"\nfilename = ${JSON.stringify(filename)}\n${more}\n[download]\nurl = "https://cdn.modrinth.com/x.jar"\nhash-format = "${format}"\nhash = "${hash}"\n`

test('a packwiz pack becomes an .mrpack; missing projects are copied from another instance', async () => {
  const [here, there] = [await publish(t), await publish(source)]
  const root = await packwiz('wiz', {
    'mods/here.pw.toml': metafile(here.filename, digest('sha1', here.bytes), 'side = "client"', 'sha1'),
    'mods/there.pw.toml': metafile(there.filename, digest('sha512', there.bytes)),
    'config/lantern.txt': 'on = true',
  })
  const before = await projects()
  await assert.rejects(run(root), /mods\/there\.pw\.toml: no version here contains .*--projects-from ADDRESS/)
  assert.equal(await projects(), before)
  const report = await run(join(root, 'pack.toml'), { projectsFrom: address })
  assert.deepEqual(
    [report.slug, report.version, report.files, report.unknown, report.copied],
    ['packwiz-pack', '1.2.0', 2, 0, 1],
    warnings.join(),
  )
  const version = await read(`/v3/version/${(await read(`/v3/project/${report.id}`)).versions[0]}`)
  assert.deepEqual(
    version.files.map(({ filename }: { filename: string }) => filename),
    ['wiz.mrpack'],
  )
  assert.deepEqual(await dependenciesOf(version.id), [
    [here.project, here.version, null],
    [there.project, there.version, null],
  ])
  const bytes = (await t.as(reader).get(new URL(version.files[0].url).pathname)).rawPayload
  assert.ok(bytes.includes('overrides/config/lantern.txt'))
  const environment = '"env":{"client":"required","server":"unsupported"}'
  assert.ok(bytes.includes(environment))
})

test('hostile and damaged packs are refused with the name of the file, and nothing is created', async () => {
  const known = await publish(t)
  const one = (path: string, url?: string) => ({ files: [entry(known.bytes, path, url)] })
  const mod = metafile(known.filename, digest('sha512', known.bytes))
  const damaged = join(folder, 'damaged.mrpack')
  await writeFile(damaged, 'not a zip')
  const slipped = join(folder, 'slip.mrpack')
  await writeFile(slipped, makeZip([{ name: '../../evil.txt', data: 'x' }]))
  const linked = await packwiz('linked', { 'config/a.txt': 'a' })
  await rm(join(linked, 'config/a.txt'))
  await symlink('/etc/hostname', join(linked, 'config/a.txt'))
  const head = 'name = "x"\n[index]\nfile = "index.toml"\n[versions]\nminecraft = "1.20.1"\n'
  const cases: [string, RegExp][] = [
    [join(folder, 'absent.mrpack'), /There is no file or folder/],
    [damaged, /is not a pack/],
    [slipped, /evil\.txt/],
    [await mrpack('path.mrpack', one('mods/../../evil.jar')), /unsafe path/],
    [await mrpack('drive.mrpack', one('C:\\evil.jar')), /unsafe path/],
    [await mrpack('host.mrpack', one('mods/a.jar', 'https://evil.example/a.jar')), /host that is not allowed/],
    [await mrpack('local.mrpack', one('mods/a.jar', 'http://127.0.0.1/a.jar')), /host that is not allowed/],
    [await mrpack('game.mrpack', { ...one('mods/a.jar'), game: 'chess' }), /unknown game/],
    [await mrpack('old.mrpack', { ...one('mods/a.jar'), dependencies: { minecraft: '99.1' } }), /game version "99\.1"/],
    [await mrpack('name.txt', one('mods/a.jar')), /name\.txt/],
    [await packwiz('up', { '../evil.txt': 'x' }), /index\.toml: the path "\.\.\/evil\.txt" is not safe/],
    [await packwiz('device', { 'config/con.txt': 'x' }), /is not safe/],
    [
      await packwiz('changed', { 'config/a.txt': 'x' }, { hashes: { 'config/a.txt': 'ab' } }),
      /does not have the sha256 hash/,
    ],
    [
      await packwiz('evil', { 'mods/a.pw.toml': metafile('../evil.jar', digest('sha512', known.bytes)) }),
      /mods\/a\.pw\.toml: the filename/,
    ],
    [
      await packwiz('murmur', { 'mods/a.pw.toml': metafile('a.jar', '123', '', 'murmur2') }),
      /hash-format must be sha1 or sha512/,
    ],
    [await packwiz('short', { 'mods/a.pw.toml': metafile('a.jar', 'abc') }), /is not a hash of the format sha512/],
    [await packwiz('fields', { 'mods/a.pw.toml': 'filename = 3' }), /mods\/a\.pw\.toml: /],
    [await packwiz('toml', { 'mods/a.pw.toml': mod }, { pack: '<html>' }), /pack\.toml is not TOML/],
    [
      await packwiz('index', { 'mods/a.pw.toml': mod }, { pack: head.replace('index.toml', '/etc/passwd') }),
      /pack\.toml: the path/,
    ],
    [await packwiz('loader', { 'mods/a.pw.toml': mod }, { pack: `${head}rift = "1"\n` }), /unknown loader "rift"/],
    [linked, /config\/a\.txt is a link/],
  ]
  const before = await projects()
  for (const [path, message] of cases) await assert.rejects(run(path), message, path)
  assert.equal(await projects(), before)
  await assert.rejects(run(damaged, { owner: 'nobody' }), /There is no organization nobody/)
  assert.deepEqual(await t.deps.db.selectFrom('upload_claim').selectAll().execute(), [])
  assert.deepEqual(await readdir(join(t.deps.config.dataDir, 'files', 'staging')), [])
})
