// A published modpack as a packwiz pack: its files by side, names that stay, hashes, and addresses of override files.
import assert from 'node:assert/strict'
import { createHash, hash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { parse } from 'smol-toml'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

let t: TestApp
let project: MadeProject
before(async () => {
  t = await testApp()
  project = await t.make.project({ slug: 'evening' })
})
after(() => t?.close())

const digest = (name: string, text: string) => createHash(name).update(text).digest('hex')
const listed = (path: string, env?: object) => ({
  path,
  hashes: { sha1: digest('sha1', path), sha512: digest('sha512', path) },
  downloads: [`https://github.com/x/${path}`],
  fileSize: path.length,
  ...(env === undefined ? {} : { env }),
})
type Entry = { name: string; data: string }

async function publish(
  number: string,
  entries: Entry[],
  of = project,
  loader: object = { 'fabric-loader': '0.15.11' },
) {
  const files = [
    listed('mods/both.jar'),
    listed('mods/client.jar', { client: 'required', server: 'unsupported' }),
    listed('mods/server.jar', { client: 'unsupported', server: 'optional' }),
    listed('config/replaced.txt'),
  ]
  const dependencies = { minecraft: '1.20.1', ...loader }
  const index = { game: 'minecraft', formatVersion: 1, versionId: number, name: 'Evening "pack"', files, dependencies }
  const version = await t.make.version({ project: of, loaders: ['mrpack'], version_number: number })
  const bytes = makeZip([{ name: 'modrinth.index.json', data: JSON.stringify(index) }, ...entries])
  await t.make.file({ project: of, version, bytes, filename: 'pack.mrpack' })
  return version
}

const OVERRIDES: Entry[] = [
  { name: 'overrides/config/both.txt', data: 'both' },
  { name: 'overrides/config/replaced.txt', data: 'replaced' },
  { name: 'overrides/config/sides.txt', data: 'all' },
  { name: 'server-overrides/config/sides.txt', data: 'server' },
  { name: 'client-overrides/options ü.txt', data: 'client' },
]

/** Reads the pack as a launcher does: checks each hash, and returns what each side installs. */
async function install(path: string) {
  const get = async (address: string, expected?: string) => {
    const answer = await t.anyone.get(address)
    assert.equal(answer.statusCode, 200, `${address}: ${answer.body}`)
    if (expected !== undefined) assert.equal(hash('sha256', answer.rawPayload), expected, address)
    return answer
  }
  const pack = parse((await get(`${path}/pack.toml`)).body) as unknown as {
    name: string
    version: string
    versions: object
    index: { file: string; hash: string }
  }
  const index = parse((await get(`${path}/${pack.index.file}`, pack.index.hash)).body) as unknown as {
    files?: { file: string; hash: string; metafile: boolean }[]
  }
  const sides: Record<string, Record<string, string>> = { both: {}, client: {}, server: {} }
  for (const { file, hash: expected } of index.files ?? []) {
    const meta = parse((await get(`${path}/${file}`, expected)).body) as unknown as {
      filename: string
      side: string
      download: { url: string; hash: string }
    }
    const { url, hash: sha512 } = meta.download
    const own = url.startsWith('https://depot.test/') ? await get(url.slice('https://depot.test'.length)) : undefined
    if (own !== undefined) assert.equal(digest('sha512', own.body), sha512)
    const side = sides[meta.side]
    assert.ok(side !== undefined && side[meta.filename] === undefined, meta.filename)
    side[meta.filename] = own?.body ?? url
  }
  return { pack, sides, names: (index.files ?? []).map(({ file }) => file) }
}

test('a launcher installs the files of each side, and downloads after a new version what has changed', async () => {
  await publish('1.0.0', OVERRIDES)
  assert.match(
    (await t.anyone.get('/modpack/evening')).body,
    /<code id="packwiz">https:\/\/depot\.test\/modpack\/evening\/pack\.toml</,
  )
  const { pack, sides, names } = await install('/modpack/evening')
  assert.deepEqual(
    [pack.name, pack.version, { ...pack.versions }],
    ['Evening "pack"', '1.0.0', { minecraft: '1.20.1', fabric: '0.15.11' }],
  )
  assert.deepEqual(sides, {
    both: {
      'mods/both.jar': 'https://github.com/x/mods/both.jar',
      'config/both.txt': 'both',
      'config/replaced.txt': 'replaced',
    },
    client: {
      'mods/client.jar': 'https://github.com/x/mods/client.jar',
      'config/sides.txt': 'all',
      'options ü.txt': 'client',
    },
    server: { 'mods/server.jar': 'https://github.com/x/mods/server.jar', 'config/sides.txt': 'server' },
  })
  t.advance(MINUTE_MS)
  await publish('1.1.0', [...OVERRIDES.slice(1), { name: 'overrides/config/both.txt', data: 'changed' }])
  const next = await install('/modpack/evening')
  assert.equal(next.pack.version, '1.1.0')
  assert.equal(next.sides['both']?.['config/both.txt'], 'changed')
  assert.equal(next.names.filter((name) => !names.includes(name)).length, 1, 'one file has a new name')
  const before = names.filter((name) => !next.names.includes(name))
  assert.equal(before.length, 1)
  const old = await t.anyone.get(`/modpack/evening/${before[0]}`)
  assert.equal(old.statusCode, 200, 'a client that has read the previous index can finish')
})

test('files of override folders cannot act as pages, and are known by their entity tag', async () => {
  const { names } = await install('/modpack/evening')
  const texts = await Promise.all(names.map(async (name) => (await t.anyone.get(`/modpack/evening/${name}`)).body))
  const url = texts
    .map((text) => /url = "https:\/\/depot\.test([^"]+)"/.exec(text)?.[1])
    .find((path) => path !== undefined)
  const file = await t.anyone.get(url ?? '')
  assert.equal(file.statusCode, 200)
  const { headers } = file
  assert.deepEqual(
    [headers['content-type'], headers['content-disposition'], headers['x-content-type-options']],
    ['application/octet-stream', 'attachment', 'nosniff'],
  )
  assert.match(String(headers['content-security-policy']), /sandbox/)
  const again = await t.anyone.get(url ?? '', { headers: { 'if-none-match': String(headers.etag) } })
  assert.equal(again.statusCode, 304)
})

test('unknown files, other projects, hidden versions and blocked contents have no pack', async () => {
  const texts = async (path: string) => {
    const { statusCode, headers, body } = await t.anyone.get(path)
    assert.match(String(headers['content-type']), /^text\/plain/, body)
    return statusCode
  }
  const empty = await t.make.project({ slug: 'empty' })
  const version = await publish('1.0.0', OVERRIDES, empty)
  assert.equal((await t.anyone.get('/modpack/empty/pack.toml')).statusCode, 200)
  assert.equal(await texts(`/modpack/evening/index-${version.id}.toml`), 404, 'of another project')
  for (const name of [
    'index-zzzzzzzz.toml',
    'index-..toml',
    `file-${'0'.repeat(32)}.pw.toml`,
    `file-${'0'.repeat(32)}`,
  ])
    assert.equal(await texts(`/modpack/empty/${name}`), 404, name)
  const { names } = await install('/modpack/empty')
  const { files } = (await t.anyone.get(`/v3/version/${version.id}`)).json()
  const moderator = await t.make.account({ role: 'moderator' })
  const body = {
    kind: 'file',
    id: files[0].hashes.sha512,
    visibility: 'withheld',
    reason: 'malicious',
    projects: [project.id],
  }
  const takedown = await t.as(moderator).post('/_internal/moderation/takedown', body)
  assert.equal(takedown.statusCode, 200, takedown.body)
  for (const name of ['pack.toml', names[0]]) assert.equal(await texts(`/modpack/empty/${name}`), 404, name)
  await t.as(moderator).post(`/_internal/moderation/takedown/${takedown.json().id}/undo`)
  t.advance(MINUTE_MS)
  const next = await publish('2.0.0', OVERRIDES, empty)
  assert.equal((await install('/modpack/empty')).pack.version, '2.0.0')
  const withdrawn = await t.as(empty.owner).patch(`/v3/version/${next.id}`, { status: 'draft' })
  assert.equal(withdrawn.statusCode, 204, withdrawn.body)
  assert.equal((await install('/modpack/empty')).pack.version, '1.0.0')
  assert.equal(await texts(`/modpack/empty/index-${next.id}.toml`), 404)
  await t.make.version({ project: await t.make.project({ slug: 'library' }) })
  assert.equal((await t.anyone.get('/mod/library/pack.toml')).statusCode, 404)
})

test('a pack whose override folders are too large names latest.mrpack', async () => {
  const large = await t.make.project({ slug: 'large' })
  await publish('1.0.0', [{ name: 'overrides/world.bin', data: 'x'.repeat(17 * 1024 * 1024) }], large)
  const answer = await t.anyone.get('/modpack/large/pack.toml')
  assert.equal(answer.statusCode, 400)
  assert.match(answer.body, /larger than 16 MiB\. Use latest\.mrpack\n$/)
})
