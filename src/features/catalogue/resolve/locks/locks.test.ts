import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { parse } from 'smol-toml'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { readZip } from '#test/support/factories/read-zip.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, versionData } from '#test/support/http/forms.ts'
import type { AnswerView } from '../views.ts'

let t: TestApp
let made: TestCatalogue
before(async () => {
  t = await testApp()
  made = await makeCatalogue(t, {
    lantern: { '1': { dependencies: ['required engine', 'required look'], fields: { environment: 'client_only' } } },
    engine: { '2': [], '1': [] },
    look: { '1': { loaders: ['minecraft'] } },
    shade: { '1': { loaders: ['iris'] } },
    rules: { '1': { loaders: ['datapack'] } },
  })
})
after(() => t.close())

const PACK = {
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
  name: 'Evening "light" \\ \u{1f319}',
  version: '1.2.0',
  loader_version: '0.15.11',
}
const slugs = ['lantern', 'shade', 'rules']

async function store(body: object = PACK): Promise<AnswerView> {
  const items = slugs.map((slug) => ({ project: made.projects[slug]?.id }))
  const answer = await t.anyone.post('/v3/resolve?store=true', { items, ...body })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

type Index = {
  files: {
    path: string
    hashes: { sha1: string; sha512: string }
    downloads: string[]
    fileSize: number
    env: object
  }[]
  dependencies: Record<string, string>
}

const digest = (algorithm: string, bytes: Buffer | string) => createHash(algorithm).update(bytes).digest('hex')

describe('a lock', () => {
  test('is the stored answer, byte for byte', async () => {
    const answer = await t.anyone.post('/v3/resolve?store=true', { items: [{ project: made.projects['engine']?.id }] })
    const stored = await t.anyone.get(`/v3/lock/${answer.json().lock}`)
    assert.deepEqual([stored.statusCode, stored.body], [200, answer.body])
  })
  test('is not stored without `store`, and unknown ones are 404', async () => {
    const answer = await t.anyone.post('/v3/resolve', {
      items: [{ project: made.projects['engine']?.id }],
      name: 'Unstored',
    })
    for (const id of [answer.json().lock, 'x', '0'.repeat(22)]) {
      for (const path of ['', '.mrpack', '/pack.toml', '/index.toml', '/mods/engine.pw.toml'])
        assertError(await t.anyone.get(`/v3/lock/${id}${path}`), 404, 'not_found')
    }
  })
  test('of a list of versions contains exactly these versions', async () => {
    const versions = [made.versions['engine/1'], made.versions['lantern/1']]
    const answer = await t.anyone.post('/v3/lock', { versions, ...PACK })
    assert.equal(answer.statusCode, 201, answer.body)
    const view: AnswerView = answer.json()
    assert.deepEqual(view.chosen.map(({ version_id }) => version_id).sort(), versions.sort())
    assert.equal((await t.anyone.get(`/v3/lock/${view.lock}`)).body, answer.body)
    const again = await t.anyone.post('/v3/lock', {
      versions: [made.versions['engine/1'], made.versions['lantern/1']],
      ...PACK,
    })
    assert.equal(again.json().lock, view.lock)
  })
  test('of a list names what is wrong with it', async () => {
    const engine = made.versions['engine/1']
    const hidden = await t.make.version({ project: made.projects['engine'] ?? assert.fail(), status: 'draft' })
    const cases: [unknown[], string][] = [
      [[], 'versions'],
      [[engine, 'not an id'], 'versions.1'],
      [[engine, 'AABBCCDD'], 'versions.1'],
      [[hidden.id], 'versions.0'],
      [[engine, made.versions['engine/2']], 'versions.1'],
      [Array.from({ length: 1001 }, () => engine), 'versions'],
    ]
    for (const [versions, field] of cases) {
      const answer = await t.anyone.post('/v3/lock', { versions })
      assert.deepEqual([answer.statusCode, answer.json().details?.field], [400, field], answer.body)
    }
  })
  test('is kept for 90 days after it was last read', async () => {
    const { lock } = await store({ ...PACK, name: 'Old' })
    const isKept = async () => (await t.anyone.get(`/v3/lock/${lock}`)).statusCode === 200
    const forget = () => t.runJob('locks.forget')
    t.advance(60 * DAY_MS)
    assert.ok(await isKept())
    t.advance(80 * DAY_MS)
    await forget()
    assert.ok(await isKept())
    t.advance(91 * DAY_MS)
    await forget()
    assert.ok(!(await isKept()))
  })
  test('is stored once when equal requests arrive together', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store({ ...PACK, name: 'Together' })))
    assert.equal(new Set(answers.map(({ lock }) => lock)).size, 1)
  })
})

describe('an .mrpack', () => {
  test('passes the check of Depot, and its files install from their addresses', async () => {
    const { lock } = await store()
    const answer = await t.anyone.get(`/v3/lock/${lock}.mrpack`)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.headers['content-type'], 'application/x-modrinth-modpack+zip')
    const [entry, ...rest] = await readZip(answer.rawPayload)
    assert.deepEqual([entry?.name, rest, entry?.modified.getFullYear()], ['modrinth.index.json', [], 1980])
    const index: Index & Record<string, unknown> = JSON.parse(String(entry?.content))
    assert.deepEqual(
      [index['game'], index['formatVersion'], index['name'], index['versionId']],
      ['minecraft', 1, PACK.name, PACK.version],
    )
    assert.deepEqual(index.dependencies, { minecraft: '1.20.1', 'fabric-loader': '0.15.11' })
    assert.deepEqual(
      index.files.map(({ path }) => path),
      [
        'datapacks/rules-1.jar',
        'mods/engine-2.jar',
        'mods/lantern-1.jar',
        'resourcepacks/look-1.jar',
        'shaderpacks/shade-1.jar',
      ],
    )
    assert.deepEqual(index.files[2]?.env, { client: 'required', server: 'unsupported' })
    for (const { downloads, hashes, fileSize } of index.files) {
      const file = await t.anyone.get(new URL(downloads[0] ?? '').pathname)
      assert.equal(file.statusCode, 200)
      const { rawPayload } = file
      const actual = { sha1: digest('sha1', rawPayload), sha512: digest('sha512', rawPayload), size: rawPayload.length }
      assert.deepEqual(actual, { ...hashes, size: fileSize })
    }
    const owner = await t.make.account()
    const project = await t.make.project({ owner })
    const published = await t.as(owner).post('/v3/version', ...(await packForm(project.id, answer.rawPayload)))
    assert.equal(published.statusCode, 201, published.body)
    const embedded = published.json().dependencies.map(({ version_id }: { version_id: string }) => version_id)
    assert.ok(embedded.includes(made.versions['lantern/1']))
  })
  test('requires what the request named on each side that it supports, and keeps optional dependencies optional', async () => {
    const owner = await t.make.account()
    const versionIn = async (environment: string) => {
      const project = await t.make.project({ owner })
      const version = await t.make.version({ project, loaders: ['fabric'], fields: { environment } })
      await t.make.file({ project, version, bytes: Buffer.from(environment), filename: `${environment}.jar` })
      return { project, version }
    }
    const named = await versionIn('client_only_server_optional')
    const needed = await versionIn('server_only_client_optional')
    const dependency = {
      dependent_id: named.version.id,
      project_id: needed.project.id,
      dependency_type: 'required' as const,
    }
    await t.deps.db.insertInto('dependency').values(dependency).execute()
    const body = { items: [{ project: named.project.id }], loaders: ['fabric'], loader_version: '0.15.11' }
    const sent = { ...body, game_versions: ['1.20.1'] }
    const { lock } = (await t.anyone.post('/v3/resolve?store=true', sent)).json()
    const [entry] = await readZip((await t.anyone.get(`/v3/lock/${lock}.mrpack`)).rawPayload)
    const { files }: Index = JSON.parse(String(entry?.content))
    assert.deepEqual(Object.fromEntries(files.map(({ path, env }) => [path, env])), {
      'mods/client_only_server_optional.jar': { client: 'required', server: 'required' },
      'mods/server_only_client_optional.jar': { client: 'optional', server: 'required' },
    })
  })
  test('has the same bytes each time', async () => {
    const { lock } = await store()
    const [first, second] = [
      await t.anyone.get(`/v3/lock/${lock}.mrpack`),
      await t.anyone.get(`/v3/lock/${lock}.mrpack`),
    ]
    assert.ok(first.rawPayload.equals(second.rawPayload))
  })
  test('needs the version of the loader and a game version', async () => {
    const { loader_version: _, ...withoutLoader } = PACK
    const first = await store(withoutLoader)
    assert.equal(first.incomplete, true)
    assertError(await t.anyone.get(`/v3/lock/${first.lock}.mrpack`), 400, 'invalid_input', 'loader_version')
    const second = await store({ ...PACK, game_versions: [] })
    assertError(await t.anyone.get(`/v3/lock/${second.lock}.mrpack`), 400, 'invalid_input', 'game_versions')
  })
  test('without a loader needs no version of it', async () => {
    const versions = [made.versions['look/1']]
    const { lock } = (await t.anyone.post('/v3/lock', { versions, game_versions: ['1.20.1'] })).json()
    const [entry] = await readZip((await t.anyone.get(`/v3/lock/${lock}.mrpack`)).rawPayload)
    assert.deepEqual(JSON.parse(String(entry?.content)).dependencies, { minecraft: '1.20.1' })
  })
})

async function packForm(project_id: string, bytes: Buffer) {
  const data = versionData({ project_id, loaders: ['mrpack'], mrpack_loaders: ['fabric'], file_parts: ['pack'] })
  const { payload, headers } = await form(data, [{ name: 'pack', filename: 'evening.mrpack', bytes }])
  return [payload, { headers }] as const
}

/** Objects of the reader have no prototype. */
const plain = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value))

test('a packwiz pack leads from its address to every file, with the right hashes', async () => {
  const { lock } = await store()
  const read = async (path: string): Promise<string> => {
    const answer = await t.anyone.get(`/v3/lock/${lock}/${path}`)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.match(String(answer.headers['content-type']), /toml/)
    return answer.body
  }
  const pack = plain(parse(await read('pack.toml'))) as Record<string, Record<string, string>>
  assert.deepEqual([pack['name'], pack['version'], pack['pack-format']], [PACK.name, PACK.version, 'packwiz:1.1.0'])
  assert.deepEqual(pack['versions'], { minecraft: '1.20.1', fabric: '0.15.11' })
  assert.equal(pack['options'], undefined)
  const text = await read(pack['index']?.['file'] ?? '')
  assert.equal(digest('sha256', text), pack['index']?.['hash'])
  const index = parse(text) as { files: { file: string; hash: string; metafile: boolean }[] }
  assert.equal(index.files.length, 5)
  for (const { file, hash, metafile } of index.files) {
    const metatext = await read(file)
    assert.deepEqual([digest('sha256', metatext), metafile], [hash, true])
    const described = parse(metatext) as Record<string, Record<string, string>>
    const download = await t.anyone.get(new URL(described['download']?.['url'] ?? '').pathname)
    assert.equal(digest('sha512', download.rawPayload), described['download']?.['hash'])
    // The updaters of packwiz would ask another host than this instance.
    assert.equal(described['update'], undefined)
    if (file.includes('lantern')) assert.equal(described['side'], 'client')
  }
  const { loader_version: _, ...without } = PACK
  const incomplete = plain(parse((await t.anyone.get(`/v3/lock/${(await store(without)).lock}/pack.toml`)).body))
  assert.deepEqual([incomplete['versions'], incomplete['options']], [{ minecraft: '1.20.1' }, { incomplete: true }])
})

test('every text is a valid string in TOML', async () => {
  const name = 'a "quoted" \\ back\u2028line \u{1f319} \u00e9'
  const { lock } = await store({ ...PACK, name })
  assert.equal(parse((await t.anyone.get(`/v3/lock/${lock}/pack.toml`)).body)['name'], name)
})

test('two files with one name get different paths', async () => {
  const owner = await t.make.account()
  const versions: string[] = []
  for (const n of [1, 2]) {
    const project = await t.make.project({ owner })
    const version = await t.make.version({ project, loaders: ['fabric'] })
    await t.make.file({
      project,
      version,
      bytes: Buffer.from(`same name ${n}`),
      filename: n === 1 ? 'Same.jar' : 'same.jar',
    })
    versions.push(version.id)
  }
  const { lock } = (await t.anyone.post('/v3/lock', { versions, ...PACK })).json()
  const [entry] = await readZip((await t.anyone.get(`/v3/lock/${lock}.mrpack`)).rawPayload)
  const paths = (JSON.parse(String(entry?.content)) as Index).files.map(({ path }) => path.toLowerCase())
  assert.deepEqual([paths.length, new Set(paths).size], [2, 2])
})

test('a pack whose files were hidden later is a conflict that names the versions', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['fabric'] })
  await t.make.file({ project, version, bytes: Buffer.from('soon hidden') })
  const { lock } = (await t.anyone.post('/v3/lock', { versions: [version.id], ...PACK })).json()
  await t.deps.db.updateTable('project').set({ status: 'private' }).where('id', '=', project.id).execute()
  for (const path of ['.mrpack', '/pack.toml', '/index.toml', `/mods/${project.slug}.pw.toml`]) {
    const answer = await t.anyone.get(`/v3/lock/${lock}${path}`)
    assertError(answer, 409, 'conflict')
    assert.deepEqual(answer.json().details.versions, [version.id])
  }
  assert.equal((await t.anyone.get(`/v3/lock/${lock}`)).statusCode, 200)
})

test('a modpack cannot be part of a pack', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['mrpack'] })
  await t.make.file({ project, version, bytes: Buffer.from('a pack'), filename: 'a.mrpack' })
  const { lock } = (await t.anyone.post('/v3/lock', { versions: [version.id], ...PACK })).json()
  const answer = await t.anyone.get(`/v3/lock/${lock}.mrpack`)
  assertError(answer, 400, 'invalid_input')
  assert.match(answer.body, new RegExp(version.id))
})
