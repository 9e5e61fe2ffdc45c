// The Maven repository and the update files, with the requests of the programs that read them.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { FileType } from '#features/catalogue/versions/kinds.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

let t: TestApp
let stranger: Person
let project: MadeProject
let hidden: MadeProject
const versions: Record<string, string> = {}
const files: Record<string, { sha1: string; sha512: string }> = {}
before(async () => {
  t = await testApp()
  stranger = await t.make.account()
  hidden = await t.make.project({ status: 'draft' })
  await t.make.version({ project: hidden })
  project = await t.make.project({ slug: 'lantern', name: 'Lantern <&> "Oil"' })
  const make = async (name: string, day: number, fields: Record<string, unknown>) => {
    const date_published = new Date(Date.UTC(2026, 0, day))
    const { id } = await t.make.version({ project, date_published, ...fields })
    versions[name] = id
    return { id }
  }
  const first = await make('first', 1, { version_number: '1.0', loaders: ['forge'], game_versions: ['1.19.4', '1.20'] })
  await make('again', 2, { version_number: '1.0', loaders: ['fabric', 'legacy-fabric'], game_versions: ['1.20'] })
  await make('beta', 3, {
    version_number: '1.1-beta',
    loaders: ['forge', 'neoforge'],
    version_type: 'beta',
    game_versions: ['1.20'],
  })
  await make('archived', 4, {
    version_number: "2.0+b'x",
    loaders: ['neoforge'],
    status: 'archived',
    game_versions: ['1.20.1'],
  })
  await make('draft', 5, { version_number: '9.9', status: 'draft', loaders: ['forge'] })
  const attach = async (filename: string, fields: { primary?: boolean; type?: FileType } = {}) => {
    const file = await t.make.file({
      version: first,
      project,
      bytes: randomBytes(16),
      filename,
      primary: fields.primary ?? false,
    })
    if (fields.type !== undefined)
      await t.deps.db.updateTable('file').set({ file_type: fields.type }).where('id', '=', file.id).execute()
    files[filename] = file
  }
  await attach('Lantern One.jar', { primary: true })
  await attach('Lantern One.jar.asc', { type: 'signature' })
  await attach('a-sources.jar', { type: 'sources-jar' })
  await attach('extra.zip')
})
after(() => t.close())

const maven = (path: string) => t.anyone.get(`/maven/maven/tools/${path}`)
const text = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map((match) => match[1])

describe('maven-metadata.xml', () => {
  test('lists versions, oldest first; a duplicate number is replaced by the ID', async () => {
    const answer = await maven('lantern/maven-metadata.xml')
    assert.equal(answer.statusCode, 200, answer.body)
    assert.match(String(answer.headers['content-type']), /^text\/xml/)
    assert.deepEqual(text(answer.body, 'groupId'), ['maven.tools'])
    assert.deepEqual(text(answer.body, 'artifactId'), ['lantern'])
    assert.deepEqual(text(answer.body, 'version'), ['1.0', versions['again'], '1.1-beta', '2.0+b&apos;x'])
    assert.deepEqual(text(answer.body, 'latest'), ['2.0+b&apos;x'])
    assert.deepEqual(text(answer.body, 'release'), ['2.0+b&apos;x'])
    assert.match(text(answer.body, 'lastUpdated')[0] ?? '', /^20\d{12}$/)
    const { etag } = answer.headers
    const again = await t.anyone.get('/maven/maven/tools/lantern/maven-metadata.xml', {
      headers: { 'if-none-match': String(etag) },
    })
    assert.equal(again.statusCode, 304)
  })

  test('has digests of exactly its bytes', async () => {
    const { body } = await maven('lantern/maven-metadata.xml')
    for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512']) {
      const answer = await maven(`lantern/maven-metadata.xml.${algorithm}`)
      assert.equal(answer.body, createHash(algorithm).update(body).digest('hex'))
      assert.match(String(answer.headers['content-type']), /^text\/plain/)
    }
  })

  test('is 404 for hidden or unknown projects, projects without versions, and other files', async () => {
    const empty = await t.make.project()
    for (const path of [
      `${hidden.slug}/maven-metadata.xml`,
      'nothing/maven-metadata.xml',
      `${empty.slug}/maven-metadata.xml`,
      'lantern/other.xml',
      'lantern/maven-metadata.xml.crc32',
    ])
      assert.equal((await maven(path)).statusCode, 404, path)
    assert.equal((await t.as(stranger).get(`/maven/maven/tools/${hidden.slug}/maven-metadata.xml`)).statusCode, 404)
    assert.equal((await t.as(hidden.owner).get(`/maven/maven/tools/${hidden.slug}/maven-metadata.xml`)).statusCode, 200)
    assert.equal((await t.anyone.get('/maven/maven/no%20group/lantern/maven-metadata.xml')).statusCode, 400)
  })
})

describe('versions', () => {
  test('the POM is well formed whatever the project is called, with digests', async () => {
    const answer = await maven('lantern/1.0/lantern-1.0.pom')
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(text(answer.body, 'name'), ['Lantern &lt;&amp;&gt; &quot;Oil&quot;', 'MIT'])
    assert.deepEqual(text(answer.body, 'version'), ['1.0'])
    assert.match(answer.body, /<project [^>]*xmlns="http:\/\/maven.apache.org\/POM\/4.0.0"/)
    const digest = await maven('lantern/1.0/lantern-1.0.pom.sha1')
    assert.equal(digest.body, createHash('sha1').update(answer.body).digest('hex'))
  })

  test('files redirect by their own name, and by artifact, version, classifier and ending', async () => {
    const id = versions['first']
    const cases: [string, string][] = [
      ['Lantern One.jar', 'Lantern One.jar'],
      ['lantern one.JAR', 'Lantern One.jar'],
      [`lantern-${id}.jar`, 'Lantern One.jar'],
      [`lantern-${id}.jar.asc`, 'Lantern One.jar.asc'],
      [`lantern-${id}-sources.jar`, 'a-sources.jar'],
      [`lantern-${id}-sources-jar.jar`, 'a-sources.jar'],
      [`lantern-${id}.zip`, 'extra.zip'],
    ]
    for (const [name, filename] of cases) {
      const answer = await maven(`lantern/${id}/${encodeURIComponent(name)}`)
      const url = `https://depot.test/data/${project.id}/versions/${id}/${encodeURIComponent(filename)}`
      assert.deepEqual([answer.statusCode, answer.headers['location'], answer.json()], [307, url, { url }], name)
      assert.equal((await t.anyone.get(new URL(url).pathname)).statusCode, 200)
      const head = await t.inject({
        method: 'HEAD',
        url: `/maven/maven/tools/lantern/${id}/${encodeURIComponent(name)}`,
        headers: { 'user-agent': 'x' },
      })
      assert.equal(head.statusCode, 307)
    }
    const jar = await t.anyone.get(`/data/${project.id}/versions/${id}/Lantern%20One.jar`)
    for (const digest of ['md5', 'sha1', 'sha256', 'sha512'] as const) {
      const answer = await maven(`lantern/${id}/lantern-${id}.jar.${digest}`)
      const expected = createHash(digest).update(jar.rawPayload).digest('hex')
      assert.deepEqual([answer.statusCode, answer.body], [200, expected], digest)
    }
    assert.equal((await maven(`lantern/${id}/lantern-${id}.jar.sha1`)).body, files['Lantern One.jar']?.sha1)
  })

  test('a coordinate is an ID, a number, or a number with loaders and game versions', async () => {
    const pom = async (coordinate: string) =>
      (await maven(`lantern/${encodeURIComponent(coordinate)}/lantern-${encodeURIComponent(coordinate)}.pom`))
        .statusCode
    for (const coordinate of [
      versions['beta'],
      '1.0',
      '1.1-beta',
      "2.0+b'x",
      '1.0-forge',
      '1.0-legacy-fabric',
      '1.0-fabric,1.20',
      '1.1-beta-neoforge,1.20,forge',
    ])
      assert.equal(await pom(coordinate ?? ''), 200, coordinate)
    for (const coordinate of [
      '3.0',
      '1.0-quilt',
      '1.0-forge,1.18',
      '1.0-',
      '1.0-forge,',
      '9.9',
      versions['draft'] ?? '',
    ])
      assert.equal(await pom(coordinate), 404, coordinate)
    const jar = await maven('lantern/1.0-forge/lantern-1.0-forge.jar')
    assert.match(String(jar.headers['location']), new RegExp(`/versions/${versions['first']}/`))
    const numbered = await maven('lantern/1.0/lantern-1.0.jar')
    assert.match(String(numbered.headers['location']), new RegExp(`/versions/${versions['first']}/`))
  })

  test('the coordinate of a number stays with the version that got it first, whatever happens later', async () => {
    const own = await t.make.project({ slug: 'steady' })
    const as = t.as(own.owner)
    const publish = async (filename: string, fields: object = {}) => {
      const { id } = await t.make.version({ project: own, version_number: '1.0', loaders: ['forge'], ...fields })
      await t.make.file({ version: { id }, project: own, bytes: randomBytes(16), filename })
      return id
    }
    const fileOf = async (coordinate: string) => {
      const { statusCode, headers } = await maven(`steady/${coordinate}/steady-${coordinate}.jar`)
      return statusCode === 307 ? String(headers['location']).split('/').at(-1) : statusCode
    }
    const first = await publish('first.jar')
    const second = await publish('second.jar', { date_published: new Date('2099-01-01') })
    assert.deepEqual(
      [await fileOf('1.0'), await fileOf('1.0-forge'), await fileOf(second)],
      ['first.jar', 'first.jar', 'second.jar'],
    )
    assert.equal((await as.patch(`/v3/version/${second}`, { ordering: 1 })).statusCode, 204)
    assert.equal(await fileOf('1.0'), 'first.jar')
    assert.equal((await as.patch(`/v3/version/${first}`, { version_number: '1.1' })).statusCode, 204)
    assert.deepEqual([await fileOf('1.0'), await fileOf('1.1')], ['first.jar', 'first.jar'])
    assert.equal((await as.patch(`/v3/version/${first}`, { status: 'unlisted' })).statusCode, 204)
    assert.equal(await fileOf('1.0'), 404)
    assert.equal((await as.delete(`/v3/version/${first}`)).statusCode, 204)
    assert.deepEqual([await fileOf('1.0'), await fileOf(second)], [404, 'second.jar'])
  })

  test('the coordinate stays with its first file, whatever happens to the files of the version', async () => {
    const own = await t.make.project({ slug: 'solid', status: 'draft' })
    const as = t.as(own.owner)
    const version = await t.make.version({ project: own, version_number: '1.0' })
    const manifest = { name: 'fabric.mod.json', data: '{"schemaVersion":1,"id":"solid","version":"1.0"}' }
    const add = (filename: string, primary = false) =>
      t.make.file({ version, project: own, bytes: makeZip([manifest, { name: filename }]), filename, primary })
    const remove = async ({ sha512 }: { sha512: string }) => {
      const answer = await as.delete(`/v3/version_file/${sha512}`, { query: { algorithm: 'sha512' } })
      assert.equal(answer.statusCode, 204, answer.body)
    }
    const found = async (ending: string, coordinate = '1.0') => {
      const path = `/maven/maven/tools/solid/${coordinate}/solid-${coordinate}${ending}`
      const { statusCode, headers } = await as.get(path)
      return statusCode === 307 ? String(headers['location']).split('/').at(-1) : statusCode
    }
    const mistaken = await add('mistaken.jar', true)
    assert.equal(await found('.jar'), 'mistaken.jar')
    const first = await add('first.jar')
    await remove(mistaken)
    assert.equal(await found('.jar'), 'first.jar')
    const moderator = await t.make.account({ role: 'moderator' })
    assert.equal((await t.as(moderator).patch(`/v3/project/${own.id}`, { status: 'approved' })).statusCode, 204)
    const sources = await add('a-sources.jar')
    const second = await add('second.jar')
    await add('solid-1.0.jar')
    const chosen = await as.patch(`/v3/version/${version.id}`, { primary_file: second.sha512 })
    assert.equal(chosen.statusCode, 204, chosen.body)
    for (const coordinate of ['1.0', version.id]) assert.equal(await found('.jar', coordinate), 'first.jar')
    await remove(sources)
    await add('b-sources.jar')
    await remove(first)
    assert.deepEqual(
      [await found('.jar'), await found('.jar', version.id), await found('-sources.jar')],
      [404, 404, 404],
    )
    assert.equal((await maven('solid/1.0/second.jar')).statusCode, 307)
    await add('only.zip')
    assert.equal(await found('.zip'), 'only.zip')
  })

  test('sources, documentation and development files are found by their names, and are not the main file', async () => {
    const own = await t.make.project({ slug: 'classified' })
    const version = await t.make.version({ project: own, version_number: '2.0' })
    const names = ['a-dev.jar', 'a-javadoc.jar', 'a-sources.jar', 'b.jar']
    for (const filename of names)
      await t.make.file({ version, project: own, bytes: randomBytes(16), filename, primary: false })
    const found = async (suffix: string) =>
      String((await maven(`classified/2.0/classified-2.0${suffix}`)).headers['location'])
        .split('/')
        .at(-1)
    assert.equal(await found('.jar'), 'b.jar')
    for (const name of ['dev', 'javadoc', 'sources']) assert.equal(await found(`-${name}.jar`), `a-${name}.jar`)
    assert.equal((await maven('classified/2.0/classified-2.0-other.jar')).statusCode, 404)
  })

  test('a name that no file has is 404', async () => {
    for (const name of [
      'other.jar',
      'lantern.jar',
      `lantern-${versions['first']}-javadoc.jar`,
      `lantern-${versions['first']}.exe`,
      `lantern-${versions['first']}`,
    ])
      assert.equal((await maven(`lantern/${versions['first']}/${name}`)).statusCode, 404, name)
  })
})

describe('update files', () => {
  const updates = async (query: Record<string, string> = {}, file = 'forge_updates.json', id = 'lantern') =>
    t.anyone.get(`/updates/${id}/${file}`, { query })

  test('name the newest version for each game version, and the newest release', async () => {
    const answer = await updates()
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(answer.json(), {
      homepage: 'https://depot.test/mod/lantern',
      promos: {
        '1.20-latest': '1.1-beta',
        '1.20-recommended': '1.0',
        '1.19.4-latest': '1.0',
        '1.19.4-recommended': '1.0',
      },
    })
    assert.deepEqual((await updates({ neoforge: 'none' })).json(), answer.json())
  })

  test('take another loader in, or instead, and speak for any loader', async () => {
    const { promos } = (await updates({ neoforge: 'include' })).json()
    assert.equal(promos['1.20.1-recommended'], "2.0+b'x")
    assert.equal(promos['1.19.4-latest'], '1.0')
    const only = (await updates({ neoforge: 'only' })).json().promos
    assert.deepEqual(only, { '1.20.1-latest': "2.0+b'x", '1.20.1-recommended': "2.0+b'x", '1.20-latest': '1.1-beta' })
    assert.deepEqual((await updates({}, 'fabric_updates.json')).json().promos, {
      '1.20-latest': '1.0',
      '1.20-recommended': '1.0',
    })
  })

  test('are 404 for hidden or unknown projects, and 400 for an invalid choice', async () => {
    for (const [file, id] of [
      ['sculpture_updates.json', 'lantern'],
      ['forge.json', 'lantern'],
      ['forge_updates.json', 'nothing'],
      ['forge_updates.json', hidden.slug],
    ] as const)
      assert.equal((await updates({}, file, id)).statusCode, 404, `${id}/${file}`)
    const answer = await updates({ neoforge: 'maybe' })
    assert.deepEqual(
      [answer.statusCode, answer.json().error, answer.json().details.field],
      [400, 'invalid_input', 'neoforge'],
    )
    assert.equal((await updates({ unheard: 'of' })).statusCode, 200)
  })
})
