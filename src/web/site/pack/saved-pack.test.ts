// Saved packs: from a collection to a page that one can share, and the files that launchers install and update.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { readZip } from '#test/support/factories/read-zip.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let made: TestCatalogue
let owner: Person
let browser: Visitor
before(async () => {
  t = await testApp()
  made = await makeCatalogue(t, {
    lantern: { '1': ['required engine'] },
    engine: { '1': [] },
    torch: { '1': [] },
    old: { '1': { game_versions: ['1.19.4'] } },
    lamp: { '1': ['required extra.jar'] },
  })
  owner = await t.make.account({ username: 'Packer' })
  browser = visitor(t, owner.token)
})
after(() => t?.close())

const SETUP = { loader: 'fabric', game_version: '1.20.1', loader_version: '0.15.11' }
const idOf = (slug: string) => made.projects[slug]?.id ?? assert.fail(slug)

async function create(fields: object = {}, person = owner): Promise<{ id: string; path: string }> {
  const body = { name: 'Evening lights', projects: [idOf('lantern')], ...SETUP, ...fields }
  const answer = await t.as(person).post('/v3/pack', body)
  assert.equal(answer.statusCode, 201, answer.body)
  const { username } = (await t.anyone.get(`/v3/user/${person.id}`)).json()
  return { id: answer.json().id, path: `/pack/${username}/${answer.json().slug}` }
}

const text = async (path: string, status = 200) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, status, `${path}: ${answer.body}`)
  return answer.body
}
const indexOf = async (mrpack: string) => {
  const answer = await t.anyone.get(mrpack)
  assert.equal(answer.statusCode, 200, answer.body)
  const [entry] = await readZip(answer.rawPayload)
  return JSON.parse(String(entry?.content ?? assert.fail('no index')))
}

test('the page names a required file that the pack does not contain', async () => {
  const { path } = await create({ projects: [idOf('lamp')] })
  assert.match(await text(path), /Players also need files that are not in this catalogue: extra\.jar\./)
})

test('a collection becomes a pack, which is saved, changed and saved again', async () => {
  const body = { name: 'My lights', projects: [idOf('lantern'), idOf('torch')] }
  const collection = (await t.as(owner).post('/v3/collection', body)).json()
  const page = await browser.get(`/collection/${collection.id}`)
  const link = /<a class="button" href="(\/pack\?projects=[^"]+)"/.exec(page.body)?.[1] ?? assert.fail('no link')
  const composed = `${link.replaceAll('&amp;', '&')}&loader=fabric&game_version=1.20.1&loader_version=0.15.11`
    .replace('loader=&', '')
    .replace('game_version=&', '')
  const sent = await browser.send(composed, '/pack/save')
  const path = assertLeads(sent, '/pack/Packer/my-lights?done=pack-saved').replace('?done=pack-saved', '')
  const saved = await browser.get(`${path}?done=pack-saved`)
  assertValidHtml(saved.body, 'saved')
  for (const shown of ['The pack is saved.', 'My lights', 'Save 1', 'lantern', 'engine', `${path}/pack.toml`])
    assertSays(saved, 200, shown)
  assertSays(saved, 200, `prismlauncher://import?url=${encodeURIComponent(`https://depot.test${path}/latest.mrpack`)}`)
  const change = /href="(\/pack\?projects=[^"]*&amp;pack=[^"]+)"/.exec(saved.body)?.[1]?.replaceAll('&amp;', '&')
  const editor = await browser.get(change ?? assert.fail('no link to change the pack'))
  assertSays(editor, 200, 'Your changes become save 2 of the pack.')
  const fewer = String(change).replace(`%2C${idOf('torch')}`, '')
  assertLeads(await browser.send(fewer, '/pack/save'), `${path}?done=pack-saved`)
  assertSays(await visitor(t).get(path), 200, 'Save 2')
  assert.doesNotMatch((await visitor(t).get(path)).body, /torch|Settings/)
})

test('the form says why a pack cannot be saved, and visitors sign in first', async () => {
  const composed = `/pack?projects=${idOf('old')}&loader=fabric&game_version=1.20.1&loader_version=0.15.11&name=Old+lights`
  const refused = await browser.send(composed, '/pack/save')
  assertValidHtml(refused.body, 'refused')
  assertSays(refused, 400, 'old has no version for 1.20.1 on Fabric. Remove the project')
  assertSays(await browser.send(composed.replace('Old+lights', ''), '/pack/save'), 400, 'The name of the pack')
  const visitors = await visitor(t).get(composed)
  assertSays(visitors, 200, 'Sign in to save')
  assert.doesNotMatch(visitors.body, /action="\/pack\/save"/)
})

test('latest.mrpack follows the newest save, and a numbered one never changes', async () => {
  const { id, path } = await create({ name: 'Followed' })
  const first = await t.anyone.get(`${path}/1.mrpack`)
  assert.match(String(first.headers['content-disposition']), /filename="followed-1\.mrpack"/)
  const [one, latest] = [await indexOf(`${path}/1.mrpack`), await indexOf(`${path}/latest.mrpack`)]
  assert.deepEqual([one, one.versionId, one.name, one.files.length], [latest, '1', 'Followed', 2])
  assert.equal((await t.as(owner).patch(`/v3/pack/${id}`, { projects: [idOf('torch')] })).statusCode, 204)
  const after = await indexOf(`${path}/latest.mrpack`)
  assert.deepEqual([after.versionId, after.files.length], ['2', 1])
  assert.deepEqual((await t.anyone.get(`${path}/1.mrpack`)).rawPayload, first.rawPayload)
  const known = { headers: { 'if-none-match': String(first.headers.etag) } }
  assert.equal((await t.anyone.get(`${path}/1.mrpack`, known)).statusCode, 304)
  assert.equal((await t.anyone.get(`${path}/latest.mrpack`, known)).statusCode, 200)
  for (const below of ['3.mrpack', '0.mrpack', 'x.mrpack', 'index-9.toml', 'mods/none.pw.toml'])
    assert.match(await text(`${path}/${below}`, 404), /file/, below)
})

test('server.zip leads to the files of the newest save that a server needs', async () => {
  const { id, path } = await create({ name: 'Served' })
  const { lock } = (await t.anyone.get(`/v3/pack/${id}`)).json()
  const answer = await t.anyone.get(`${path}/server.zip`)
  assert.deepEqual([answer.statusCode, answer.headers.location], [302, `/v3/lock/${lock}/server.zip`])
  const archive = await t.anyone.get(String(answer.headers.location))
  const names = (await readZip(archive.rawPayload)).map(({ name }) => name)
  assert.deepEqual(names, ['README.txt', 'mods/engine-1.jar', 'mods/lantern-1.jar'])
  assertSays(await visitor(t).get(path), 200, 'Files for a server (ZIP)')
})

test('latest.mrpack of a modpack leads to its newest file; other projects have none', async () => {
  const project = await t.make.project({ slug: 'big-pack' })
  for (const number of ['1', '2']) {
    const version = await t.make.version({
      project,
      version_number: number,
      loaders: ['mrpack'],
      fields: { mrpack_loaders: ['fabric'] },
    })
    await t.make.file({ project, version, bytes: Buffer.from(`big pack ${number}`), filename: `big-${number}.mrpack` })
  }
  const answer = await t.anyone.get('/modpack/big-pack/latest.mrpack')
  assert.equal(answer.statusCode, 302)
  assert.match(String(answer.headers.location), /big-2\.mrpack$/)
  assert.equal((await t.anyone.get(`/mod/${made.projects['lantern']?.slug}/latest.mrpack`)).statusCode, 404)
  // The table of the page names the loader that players need, not the format of the file.
  const [matrix] =
    /<table class="matrix">[\s\S]*<\/table>/.exec((await visitor(t).get('/modpack/big-pack')).body) ??
    assert.fail('no table')
  assert.match(matrix, /<th scope="row">Fabric<\/th>/)
  assert.doesNotMatch(matrix, /<th scope="row">(?!Fabric)/)
})

/** Reads the pack as packwiz-installer does: each file from its parent, with the hash that the parent names. */
async function readPackwiz(path: string, read = text): Promise<string[]> {
  const sha256 = (content: string) => createHash('sha256').update(content).digest('hex')
  const pack = await read(`${path}/pack.toml`)
  const [, indexName = '', indexHash] =
    /\[index\]\nfile = "([^"]+)"\nhash-format = "sha256"\nhash = "(\w+)"/.exec(pack) ?? []
  const index = await read(`${path}/${indexName}`)
  assert.equal(sha256(index), indexHash)
  const entries = [...index.matchAll(/file = "([^"]+)"\nhash = "(\w+)"/g)]
  for (const [, file = '', hash] of entries) assert.equal(sha256(await read(`${path}/${file}`)), hash, file)
  return entries.map(([, file = '']) => file)
}

test('pack.toml is consistent while the pack changes between two requests', async () => {
  const { id, path } = await create({ name: 'Updated', projects: [idOf('lantern'), idOf('torch')] })
  const before = await readPackwiz(path)
  assert.equal(before.length, 3)
  let requests = 0
  const names = await readPackwiz(path, async (file) => {
    const content = await text(file)
    requests += 1
    if (requests === 1) await t.as(owner).patch(`/v3/pack/${id}`, { projects: [idOf('engine'), idOf('torch')] })
    return content
  })
  assert.deepEqual(names, before, 'the client still reads the save that it has begun')
  const after = await readPackwiz(path)
  assert.equal(after.length, 2)
  assert.ok(
    after.some((name) => before.includes(name)),
    'unchanged files keep their names',
  )
  assert.match(await text(`${path}/pack.toml`), /version = "2"/)
})

test('renaming the pack or the user keeps the addresses working', async () => {
  const person = await t.make.account({ username: 'Before' })
  const { id, path } = await create({ name: 'Renamed' }, person)
  assert.equal((await t.as(person).patch(`/v3/pack/${id}`, { slug: 'other' })).statusCode, 204)
  const moved = async (from: string, to: string) => {
    const answer = await t.anyone.get(from)
    assert.deepEqual([answer.statusCode, answer.headers.location], [301, to], from)
  }
  await moved(`${path}/pack.toml`, '/pack/Before/other/pack.toml')
  await t.as(person).patch(`/v3/user/${person.id}`, { username: 'After' })
  await moved(`${path}/latest.mrpack`, '/pack/After/other/latest.mrpack')
  await moved('/pack/before/other?x=1', '/pack/After/other?x=1')
  await create({ name: 'Takes the slug', slug: 'renamed' }, person)
  await text('/pack/After/renamed/pack.toml')
})

test('a hidden pack has neither a page nor files, except for its owner', async () => {
  const { id, path } = await create({ name: 'Hidden lights' })
  const moderator = await t.make.account({ role: 'moderator' })
  await visitor(t).get(path)
  await t.as(moderator).patch(`/v3/pack/${id}`, { status: 'rejected' })
  for (const below of ['', '/pack.toml', '/latest.mrpack', '/1.mrpack', '/index-1.toml'])
    assert.equal((await visitor(t).get(`${path}${below}`)).statusCode, 404, below)
  assertSays(await browser.get(path), 200, 'Moderators rejected this pack')
  const own = await browser.get(`${path}/latest.mrpack`)
  assert.deepEqual([own.statusCode, own.headers['cache-control']], [200, 'private, max-age=0, must-revalidate'])
})

test('a pack with a file that is no longer public says so, and its files are a conflict', async () => {
  const { projects, versions } = await makeCatalogue(t, { fading: { '1': [] } })
  const { path } = await create({ name: 'Fading', projects: [projects['fading']?.id] })
  const row = t.deps.db
    .updateTable('version')
    .set({ status: 'draft' })
    .where('id', '=', versions['fading/1'] ?? '')
  await row.execute()
  t.deps.cache.clear()
  const shown = await visitor(t).get(path)
  assertSays(shown, 200, 'no longer public, so no one can install it: fading. The pack works again when its owner')
  assert.doesNotMatch(shown.body, /latest\.mrpack|launcher:|server\.zip|pack\.toml/)
  assert.match(await text(`${path}/latest.mrpack`, 409), /no longer public/)
  assertSays(await browser.get(path), 200, 'If a project has no other version, remove it')
  const refused = await browser.send(path, `${path}/save`)
  assertValidHtml(refused.body, 'refused')
  assertSays(refused, 400, 'fading has no version for 1.20.1 on Fabric. Remove the project')
})

test('the page that deletes a version counts saved packs, and their owners see which pack is broken', async () => {
  const { projects, versions } = await makeCatalogue(t, { lost: { '1': [] }, above: { '1': ['required lost'] } })
  const person = await t.make.account()
  await create({ name: 'Names it', projects: [projects['lost']?.id] }, person)
  const { id, path } = await create({ name: 'Requires it', projects: [projects['above']?.id] }, person)
  await create({ name: 'Without it', projects: [idOf('torch')] }, person)
  const publisher = visitor(t, projects['lost']?.owner.token)
  const deletion = `/mod/${projects['lost']?.slug}/version/${versions['lost/1']}/delete`
  const shown = await publisher.get(deletion)
  assertValidHtml(shown.body, 'deletion')
  assertSays(shown, 200, '2 saved packs of users contain it. No one can install these packs')
  const settings = await publisher.get(`/mod/${projects['lost']?.slug}/settings/delete`)
  assertSays(settings, 200, '2 saved packs of users contain it.')
  const player = visitor(t, person.token)
  assertSays(await player.get('/dashboard'), 200, 'Nothing needs your attention')
  const deleted = await publisher.send(deletion, deletion, { name: '1' })
  assertLeads(deleted, `/mod/${projects['lost']?.slug}/settings/versions?done=version-deleted`)
  const dashboard = await player.get('/dashboard')
  assertValidHtml(dashboard.body, 'dashboard')
  assertSays(dashboard, 200, '2 items need your attention')
  assertSays(dashboard, 200, `href="${path}"`)
  assert.doesNotMatch(dashboard.body, /Without it/)
  assert.equal((await t.as(person).patch(`/v3/pack/${id}`, { projects: [idOf('torch')] })).statusCode, 204)
  assertSays(await player.get('/dashboard'), 200, 'One item needs your attention')
})

test('the owner updates the versions, and changes and deletes the pack; others cannot', async () => {
  const { path } = await create({ name: 'Managed' })
  assertLeads(await browser.send(path, `${path}/save`), `${path}?done=pack-same`)
  const stranger = visitor(t, (await t.make.account()).token)
  for (const below of ['edit', 'delete']) assert.equal((await stranger.get(`${path}/${below}`)).statusCode, 404)
  assert.equal((await stranger.post(`${path}/save`, {})).statusCode, 403)
  assert.equal((await visitor(t).get(`${path}/edit`)).statusCode, 303)
  const list = await browser.get('/dashboard/packs')
  assertValidHtml(list.body, 'list')
  assertSays(list, 200, 'Managed')
  assert.match(list.body, /<a[^>]* href="\/dashboard\/packs"[^>]*>.*Packs/, 'in the menu of the account')
  const sent = await browser.send(`${path}/edit`, `${path}/edit`, {
    name: 'Managed',
    slug: 'moved',
    status: 'unlisted',
  })
  const present = assertLeads(sent, '/pack/Packer/moved/edit?done=saved').replace('/edit?done=saved', '')
  assertSays(await visitor(t).get(present), 200, 'This pack is unlisted')
  assert.ok(!(await visitor(t).get('/user/Packer')).body.includes(present))
  const wrong = await browser.send(`${present}/delete`, `${present}/delete`, { name: 'Other' })
  assertSays(wrong, 400, 'must be Managed')
  assertLeads(
    await browser.send(`${present}/delete`, `${present}/delete`, { name: 'Managed' }),
    '/dashboard/packs?done=pack-deleted',
  )
  assert.equal((await browser.get(present)).statusCode, 404)
})

test('the profile of a user lists their public packs', async () => {
  const { path } = await create({ name: 'On the profile' })
  assertSays(await visitor(t).get('/user/Packer'), 200, `href="${path}"`)
})
