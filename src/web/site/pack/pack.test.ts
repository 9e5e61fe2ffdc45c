// The page of a pack, in a browser without scripts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { readPackIndexEntry } from '#features/catalogue/versions/manifests/pack-manifests.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let made: TestCatalogue
const paths: (string | undefined)[] = []
const metadata = createServer((req, res) => {
  paths.push(req.url)
  res.end(JSON.stringify([{ loader: { version: '0.27.1' } }, { loader: { version: '0.26.0' } }, { loader: 7 }]))
})
before(async () => {
  await once(metadata.listen(0, '127.0.0.1'), 'listening')
  const { port } = metadata.address() as AddressInfo
  const LOADER_METADATA = JSON.stringify({
    quilt: `http://127.0.0.1:${port}/loader/{game_version}`,
    forge: 'http://127.0.0.1:1/',
  })
  t = await testApp({ env: { LOADER_METADATA } })
  made = await makeCatalogue(t, {
    lantern: { '2': ['required engine', 'optional map', 'required extra.jar'], '1': [] },
    rival: { '1': ['incompatible lantern'] },
    engine: { '1': [] },
    map: { '1': [] },
    old: { '1': { game_versions: ['1.19.4'] } },
  })
})
after(async () => {
  await t?.close()
  metadata.close()
})

const idOf = (slug: string) => made.projects[slug]?.id ?? ''
const query = (...slugs: string[]) =>
  `projects=${slugs.map(idOf).join('%2C')}&loader=fabric&game_version=1.20.1&loader_version=0.15.11`

async function page(path: string): Promise<string> {
  const answer = await visitor(t).get(path)
  assert.equal(answer.statusCode, 200, answer.body.slice(0, 300))
  assertValidHtml(answer.body, path)
  return answer.body
}

test('a project page leads to the pack, which contains the project and what it requires', async () => {
  const link = /href="([^"]*\/pack\?add=[^"]+)"/.exec(await page(`/mod/${made.projects['lantern']?.slug}`))?.[1]
  const body = await page(link ?? assert.fail('no link'))
  for (const text of ['lantern', 'Also required', 'engine', 'for <bdi>lantern', 'Optional projects', 'extra.jar'])
    assert.ok(body.includes(text), text)
})

test('a project page opens the offered file in a launcher, if there is one for its type', async () => {
  const mod = await page(`/mod/${made.projects['lantern']?.slug}`)
  const file = /<a class="button main" href="([^"]+)" download>/.exec(mod)?.[1] ?? assert.fail('no file')
  assert.ok(mod.includes(`href="prismlauncher://import?url=${encodeURIComponent(file)}"`))
  const pack = await t.make.project()
  const version = await t.make.version({ project: pack, loaders: ['datapack'] })
  await t.make.file({ project: pack, version, bytes: Buffer.from('datapack'), filename: 'data.zip' })
  assert.ok(!(await page(`/datapack/${pack.slug}`)).includes('launcher://'))
})

test('the pack is stored, and its files are offered', async () => {
  const person = visitor(t)
  const sent = await person.send(`/pack?${query('lantern')}`, '/pack/files')
  assert.equal(sent.statusCode, 303)
  const ready = await person.get(String(sent.headers.location))
  assertValidHtml(ready.body, 'ready')
  const path = /href="(\/v3\/lock\/[^"]+\.mrpack)"/.exec(ready.body)?.[1]
  assert.equal((await t.anyone.get(path ?? assert.fail('no .mrpack'))).statusCode, 200)
  const file = encodeURIComponent(`https://depot.test${path}`)
  assert.ok(ready.body.includes(`href="prismlauncher://import?url=${file}"`), 'no link to a launcher')
  const address = /<code id="packwiz">([^<]+)</.exec(ready.body)?.[1]
  const pack = await t.anyone.get(new URL(address ?? '').pathname)
  assert.match(pack.body, /pack-format = "packwiz:1\.1\.0"/)
  assert.ok(!(await page(`/pack?${query('engine')}&lock=${'0'.repeat(22)}`)).includes('.mrpack"'), 'another lock')
})

test('without the version of the loader, the page says what an .mrpack needs', async () => {
  const person = visitor(t)
  const sent = await person.send(`/pack?projects=${idOf('engine')}&loader=fabric&game_version=1.20.1`, '/pack/files')
  const ready = await person.get(String(sent.headers.location))
  assert.match(ready.body, /The pack is stored, but incomplete/)
  assert.match(ready.body, /Choose a version of Fabric/)
  assert.doesNotMatch(ready.body, /\.mrpack"/)
})

test('the page says what is missing, before and after the pack is stored', async () => {
  const person = visitor(t)
  const missing = /There is no version of these projects in the pack: old/
  const path = `/pack?${query('engine', 'old')}`
  assert.match(await page(path), missing)
  const stored = await person.get(String((await person.send(path, '/pack/files')).headers.location))
  assertValidHtml(stored.body, 'stored')
  assert.match(stored.body, missing)
  assert.doesNotMatch(stored.body, /The pack is ready/)
  const bare = await page(`/pack?projects=${idOf('engine')}&loader=&game_version=`)
  for (const text of ['Choose a game version.', 'Choose a loader.']) assert.ok(bare.includes(text), text)
  const whole = await person.get(
    String((await person.send(`/pack?${query('engine')}`, '/pack/files')).headers.location),
  )
  assert.match(whole.body, /The pack is ready/)
  assert.doesNotMatch(whole.body, /Players cannot use the pack yet/)
})

test('the page proposes the versions of the loader that public packs for the game version use', async () => {
  const packOf = async (status: string, dependencies: Record<string, string>) => {
    const project = await t.make.project({ status })
    const version = await t.make.version({ project, loaders: ['mrpack'] })
    const { id } = await t.make.file({ version, project, filename: 'pack.mrpack', bytes: Buffer.from(project.id) })
    const index = { formatVersion: 1, game: 'minecraft', dependencies, files: [] }
    const manifest = { entry: 'modrinth.index.json', ...readPackIndexEntry(index) }
    await t.deps.db
      .insertInto('file_manifest')
      .values({ file_id: id, entry: manifest.entry, content: JSON.stringify(manifest) })
      .execute()
  }
  await packOf('approved', { minecraft: '1.20.1', 'fabric-loader': '0.16.9' })
  await packOf('approved', { minecraft: '1.21', 'fabric-loader': '0.17.1' })
  await packOf('approved', { minecraft: '1.20.1', forge: '47.2.0' })
  await packOf('private', { minecraft: '1.20.1', 'fabric-loader': '0.14.0' })
  // The proposals are cached for a minute.
  t.advance(MINUTE_MS)
  const body = await page(`/pack?projects=${idOf('engine')}&loader=fabric&game_version=1.20.1`)
  const values = [...body.matchAll(/<option value="([^"]+)"><\/option>/g)].map(([, value]) => value)
  assert.deepEqual(values, ['0.16.9'])
  const link = /href="([^"]*loader_version=0\.16\.9[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
  assert.doesNotMatch(await page(link ?? assert.fail('no link')), /Choose a version of Fabric/)
})

test('the page proposes the versions that the service of the operator lists, and works without the service', async () => {
  const proposals = async () => {
    const body = await page(`/pack?projects=${idOf('engine')}&loader=quilt&game_version=1.20.1`)
    return [...body.matchAll(/<option value="([^"]+)"><\/option>/g)].map(([, value]) => value)
  }
  assert.deepEqual(await proposals(), ['0.27.1', '0.26.0'])
  assert.deepEqual(paths, ['/loader/1.20.1'])
  const forge = await page(`/pack?projects=${idOf('engine')}&loader=forge&game_version=1.20.1`)
  assert.ok(forge.includes('Choose a version of Forge') || forge.includes('There is no version'))
})

test('conflicts and missing versions are explained', async () => {
  const body = await page(
    `/pack?${query('lantern', 'rival', 'old')}%2Cno-such-project`.replace('&loader', ',no-such-project&loader'),
  )
  for (const text of [
    'does not work together with the others',
    'is incompatible with',
    'There is no version for these settings',
    'The newest version is',
    'This project does not exist',
  ])
    assert.ok(body.includes(text), text)
})

test('a project that the address names twice is in the pack once, and is removed completely', async () => {
  const path = `/pack?${query('engine', 'map')}`.replace('&loader', `%2C${made.projects['engine']?.slug}&loader`)
  const body = await page(path)
  assert.match(body, /<h2>2 projects<\/h2>/)
  const rest = /href="([^"]+)" title="Remove engine"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
  const without = await page(rest ?? assert.fail('no link'))
  assert.ok(without.includes('Remove map') && !without.includes('Remove engine'))
})

test('a project is removed and an optional one is added by links', async () => {
  const body = await page(`/pack?${query('lantern')}`)
  const links = [...body.matchAll(/href="(\/pack\?[^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
  const lists = links.map((href) => new URL(href, 'https://depot.test').searchParams.get('projects'))
  assert.ok(lists.includes(''), 'a link that removes the only project')
  assert.ok(lists.includes(`${idOf('lantern')},${idOf('map')}`), 'a link that adds the optional project')
})

test('an invalid version of the loader makes no pack for launchers', async () => {
  const person = visitor(t)
  const path = `/pack?${query('lantern').replace('0.15.11', encodeURIComponent('not a version!!'))}`
  const created = await person.send(path, '/pack/files')
  const stored = await person.get(String(created.headers.location))
  assert.ok(stored.body.includes('Choose a version of Fabric'))
  assert.ok(!stored.body.includes('.mrpack"'), 'no link to the archive')
})

test('the version of the loader that packs use most recently is proposed in the field', async () => {
  const without = query('engine').replace('&loader_version=0.15.11', '')
  const body = await page(`/pack?${without}`)
  const [, value] = /name="loader_version"[^>]* value="([^"]*)"/.exec(body) ?? []
  assert.equal(value, '0.16.9')
  assert.doesNotMatch(body, /Choose a version of Fabric/)
})

test('values of the address that the pack cannot have are errors of their fields', async () => {
  const body = await page(`/pack?projects=${idOf('engine')}&loader=zz&game_version=0.0.zz&loader_version=abc`)
  for (const text of ['the loader “zz”', 'the game version “0.0.zz”', '“abc” is not a version of a loader'])
    assert.ok(body.includes(text), text)
  const abc = await page(`/pack?${query('engine').replace('0.15.11', 'abc')}`)
  assert.ok(abc.includes('Choose a version of Fabric') && abc.includes('id="loader_version-error"'))
})

test('an external dependency that the pack contains is not listed as missing', async () => {
  const listed = async () => (await page(`/pack?${query('lantern', 'map')}`)).includes('extra.jar')
  assert.ok(await listed())
  const version = made.versions['map/1'] ?? ''
  const { rows } = await sql<{ id: string }>`select id from file where version_id = ${version}`.execute(t.deps.db)
  const row = { file_id: rows[0]?.id ?? '', entry: 'fabric.mod.json', declared_id: 'extra.jar', content: '{}' }
  await t.deps.db.insertInto('file_manifest').values(row).execute()
  assert.ok(!(await listed()))
  await t.deps.db.deleteFrom('file_manifest').where('file_id', '=', row.file_id).execute()
})

test('whatever is in the address, the page answers', async () => {
  const many = Array.from({ length: 300 }, (_, n) => `p${n}`).join()
  for (const path of [
    '/pack',
    '/pack?projects=',
    '/pack?projects=,,%00x,..,/',
    `/pack?projects=${many}`,
    '/pack?projects=lantern&loader=no-loader&game_version=zz&name=%0A%09&loader_version=%F0%9F',
    `/pack?projects=lantern&name=${'x'.repeat(500)}`,
    '/pack?add=%3Cscript%3E',
  ]) {
    const answer = await visitor(t).get(path)
    assert.ok([200, 400].includes(answer.statusCode), `${path}: ${answer.statusCode}`)
    if (answer.statusCode === 200) assertValidHtml(answer.body, path)
  }
})
