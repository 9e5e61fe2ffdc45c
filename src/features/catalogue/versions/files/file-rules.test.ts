import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { inspectArchive } from '#platform/archives/inspect-archive.ts'
import { parseFileRules } from '#taxonomy/file-rules.ts'
import { makeZip, type TestEntry } from '#test/support/factories/archives.ts'
import { readTestRuleData, readTestRules } from '#test/support/factories/file-rules.ts'
import { choosePrimary, type FileContext, type Verdict, validateFile } from './file-rules.ts'
import { checkFilename } from './filename.ts'

const rules = readTestRules()
const MODERN = '2024-06-13'

describe('the file rules', () => {
  let folder: string
  let count = 0
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depot-rules-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  type Sent = { loaders: string[]; filename: string; bytes: Buffer; fileType?: string; created?: string[] }

  async function validate({ loaders, filename, bytes, fileType, created = [MODERN] }: Sent): Promise<Verdict> {
    count += 1
    const path = join(folder, `${count}.part`)
    await writeFile(path, bytes)
    const name = checkFilename(rules, 'part', filename)
    const archive = name.isArchive ? await inspectArchive(path, { field: 'part' }) : undefined
    const context: FileContext = {
      loaders,
      gameVersionsCreated: created.map((day) => new Date(`${day}T12:00:00Z`)),
      ownOrigins: ['http://127.0.0.1:8080'],
    }
    return validateFile(rules, { part: 'part', name, fileType: fileType ?? null, archive }, context)
  }

  const zipOf = (...names: string[]) => makeZip(names.map((name) => ({ name, data: 'x' })))
  const other = zipOf('something/else.txt', 'pack.mcmeta.bak', 'deep/pack.txt')

  async function refused(sent: Sent, message: RegExp) {
    await assert.rejects(validate(sent), (error: unknown) => {
      assert.ok(error instanceof ApiError, String(error))
      assert.equal(error.kind, 'invalid_input')
      assert.deepEqual(error.details, { field: 'part', message: error.message })
      assert.match(error.message, message)
      return true
    })
  }

  // Loaders, extensions, contents of which each is enough, the day of a game version, word of the warning.
  const TABLE: [string[], string[], string[][], string, RegExp][] = [
    [['fabric'], ['jar'], [['fabric.mod.json']], MODERN, /fabric\.mod\.json/],
    [['quilt'], ['jar', 'zip'], [['quilt.mod.json'], ['fabric.mod.json']], '2022-02-28', /quilt\.mod\.json/],
    [
      ['forge'],
      ['jar', 'zip'],
      [['META-INF/mods.toml'], ['META-INF/MANIFEST.MF'], ['a/B.class']],
      '2018-10-22',
      /mods\.toml/,
    ],
    [['forge'], ['jar', 'zip'], [['mcmod.info'], ['META-INF/MANIFEST.MF'], ['B.class']], '2018-10-20', /mcmod\.info/],
    [
      ['neoforge'],
      ['jar', 'zip'],
      [['META-INF/mods.toml'], ['META-INF/neoforge.mods.toml'], ['META-INF/MANIFEST.MF'], ['B.class']],
      MODERN,
      /neoforge/,
    ],
    [['liteloader'], ['litemod', 'jar'], [['litemod.json']], MODERN, /litemod\.json/],
    [['rift'], ['jar'], [['riftmod.json']], MODERN, /riftmod\.json/],
    [['minecraft'], ['zip'], [['pack.mcmeta']], '2013-06-13', /pack\.mcmeta/],
    [['minecraft'], ['zip'], [['pack.txt']], '2010-11-09', /pack\.txt/],
    [['minecraft'], ['zip'], [['pack.txt']], '2013-06-08', /pack\.txt/],
    [['datapack'], ['zip'], [['pack.mcmeta']], '2017-10-25', /pack\.mcmeta/],
    [
      ['bukkit', 'spigot', 'paper', 'purpur', 'folia'],
      ['zip', 'jar'],
      [['plugin.yml'], ['paper-plugin.yml']],
      MODERN,
      /plugin\.yml/,
    ],
    [['bungeecord', 'waterfall'], ['zip', 'jar'], [['plugin.yml'], ['bungee.yml']], MODERN, /bungee\.yml/],
    [['velocity'], ['zip', 'jar'], [['velocity-plugin.json']], MODERN, /velocity-plugin\.json/],
    [
      ['sponge'],
      ['zip', 'jar'],
      [['sponge_plugins.json'], ['META-INF/sponge_plugins.json'], ['mcmod.info']],
      MODERN,
      /sponge_plugins\.json/,
    ],
    [
      ['optifine', 'iris'],
      ['zip'],
      [['shaders/'], ['shaders/core.vsh'], ['Dusk-main/shaders/core.vsh']],
      MODERN,
      /shaders/,
    ],
    [['canvas'], ['zip'], [['pack.mcmeta', 'assets/x/pipelines/a.json']], MODERN, /pipelines/],
    [['vanilla'], ['zip'], [['pack.mcmeta', 'assets/minecraft/shaders/a.vsh']], MODERN, /shaders/],
  ]

  for (const [loaders, extensions, contents, day, warning] of TABLE) {
    test(`${loaders.join(', ')} on ${day}: what it takes passes, anything else is a warning`, async () => {
      for (const loader of loaders) {
        for (const extension of extensions) {
          const sent = { loaders: [loader], filename: `file.${extension}`, created: [day] }
          for (const names of contents) {
            const verdict = await validate({ ...sent, bytes: zipOf(...names, 'other.txt') })
            assert.equal(verdict.result, 'pass', `${loader} ${extension} ${names}`)
            for (const missing of names.length > 1 ? names : []) {
              const incomplete = zipOf(...names.filter((name) => name !== missing), 'other.txt')
              assert.equal((await validate({ ...sent, bytes: incomplete })).result, 'warning')
            }
          }
          const verdict = await validate({ ...sent, bytes: other })
          assert.equal(verdict.result, 'warning')
          assert.match(verdict.reason ?? '', warning)
        }
      }
    })
  }

  test('every rule of the table is tried above, or is the content pack', () => {
    const tried = new Set(TABLE.flatMap(([loaders]) => loaders))
    const untried = rules.rules.flatMap((rule) => rule.loaders).filter((loader) => !tried.has(loader))
    assert.deepEqual(untried, ['mrpack'])
  })

  test('a rule counts only for game versions of its time, any one of them', async () => {
    const old = { bytes: other, filename: 'a.zip' }
    assert.equal((await validate({ ...old, loaders: ['quilt'], created: ['2022-02-27'] })).result, 'pass')
    assert.equal(
      (await validate({ ...old, loaders: ['quilt'], created: ['2020-01-01', '2022-03-01'] })).result,
      'warning',
    )
    assert.equal((await validate({ ...old, loaders: ['datapack'], created: ['2017-10-24'] })).result, 'pass')
    assert.equal((await validate({ ...old, loaders: ['minecraft'], created: ['2010-11-08'] })).result, 'pass')
    assert.equal((await validate({ ...old, loaders: ['minecraft'], created: ['2013-06-10'] })).result, 'pass')
    assert.equal((await validate({ ...old, loaders: ['minecraft'], created: [] })).result, 'pass')
  })

  test('of several loaders each rule of the extension counts, and the first warning wins', async () => {
    const fabric = zipOf('fabric.mod.json')
    const sent = { filename: 'a.jar', bytes: fabric }
    assert.equal((await validate({ ...sent, loaders: ['fabric', 'quilt', 'datapack'] })).result, 'pass')
    const verdict = await validate({ ...sent, loaders: ['fabric', 'neoforge'] })
    assert.match(verdict.reason ?? '', /neoforge/)
  })

  test('a mod that looks like a content pack is a warning; a plugin that does is not', async () => {
    const looks = [['modlist.html', 'manifest.json'], ['mods/a.jar'], ['override/mods/a.jar'], ['overrides/mods/a.jar']]
    for (const names of looks) {
      const mod = zipOf('fabric.mod.json', ...names)
      assert.match(
        (await validate({ loaders: ['fabric'], filename: 'a.jar', bytes: mod })).reason ?? '',
        /content pack/,
      )
      const plugin = zipOf('plugin.yml', ...names)
      assert.equal((await validate({ loaders: ['paper'], filename: 'a.jar', bytes: plugin })).result, 'pass')
    }
    const harmless = zipOf('fabric.mod.json', 'manifest.json', 'META-INF/jars/a.jar', 'mods/readme.txt')
    assert.equal((await validate({ loaders: ['fabric'], filename: 'a.jar', bytes: harmless })).result, 'pass')
  })

  test('rejects an extension that no loader supports, warns about a zip, and accepts an unknown loader', async () => {
    const bytes = zipOf('fabric.mod.json')
    await refused(
      { loaders: ['minecraft'], filename: 'a.jar', bytes },
      /loaders minecraft do not accept files with the extension jar/,
    )
    await refused({ loaders: ['fabric'], filename: 'a.mrpack', bytes }, /mrpack/)
    await refused({ loaders: ['fabric'], filename: 'a.jar.asc', bytes: Buffer.from('sig') }, /asc/)
    const verdict = await validate({ loaders: ['fabric'], filename: 'a.zip', bytes })
    assert.deepEqual([verdict.result, /extension zip/.test(verdict.reason ?? '')], ['warning', true])
    assert.equal((await validate({ loaders: ['ornithe'], filename: 'a.jar', bytes })).result, 'pass')
  })

  test('rejects a file that is not an archive, whatever the loader', async () => {
    const bytes = Buffer.from('not an archive')
    for (const loader of ['fabric', 'paper', 'iris', 'ornithe']) {
      const filename = loader === 'iris' ? 'a.zip' : 'a.jar'
      await refused({ loaders: [loader], filename, bytes }, /not a zip archive/)
    }
    await refused({ loaders: ['fabric'], filename: 'a.zip', bytes }, /not a zip archive/)
  })

  test('packs that cannot be opened pass when their bytes mention pack.mcmeta, also across a read', async () => {
    const mention = Buffer.concat([Buffer.alloc(1024 * 1024 - 4, 'x'), Buffer.from('pack.mcmeta'), Buffer.alloc(100)])
    const silent = Buffer.alloc(2_000_000, 'x')
    for (const loader of ['minecraft', 'datapack', 'vanilla']) {
      assert.equal((await validate({ loaders: [loader], filename: 'a.zip', bytes: mention })).result, 'pass')
      await refused({ loaders: [loader], filename: 'a.zip', bytes: silent }, /not a zip archive/)
    }
    await refused({ loaders: ['canvas'], filename: 'a.zip', bytes: mention }, /not a zip archive/)
    await refused({ loaders: ['fabric'], filename: 'a.jar', bytes: mention }, /not a zip archive/)
  })

  test('a file typed as a resource pack is checked as one, whatever the loaders', async () => {
    for (const fileType of ['required-resource-pack', 'optional-resource-pack']) {
      const sent = { loaders: ['fabric'], filename: 'a.zip', fileType }
      assert.equal((await validate({ ...sent, bytes: zipOf('pack.mcmeta') })).result, 'pass')
      assert.equal((await validate({ ...sent, bytes: other })).result, 'warning')
      await refused({ ...sent, filename: 'a.asc', bytes: other }, /must be an archive/)
    }
  })

  test('a signature needs the extension of one; other types follow the table', async () => {
    const bytes = Buffer.from('-----BEGIN PGP SIGNATURE-----')
    for (const extension of ['asc', 'gpg', 'sig']) {
      const sent = { loaders: ['fabric'], filename: `a.jar.${extension}`, bytes, fileType: 'signature' }
      assert.deepEqual(await validate(sent), { result: 'pass' })
    }
    const jar = { loaders: ['fabric'], filename: 'a.jar', bytes: other }
    await refused({ ...jar, fileType: 'signature' }, /signature must end in/)
    for (const fileType of ['sources-jar', 'dev-jar', 'javadoc-jar', 'unknown'])
      assert.equal((await validate({ ...jar, fileType })).result, 'warning')
  })

  describe('of content packs', () => {
    const SHA1 = 'AB'.repeat(20)
    const file = {
      path: 'mods/a.jar',
      hashes: { sha1: SHA1, sha512: 'c'.repeat(128) },
      downloads: [`https://${rules.content_packs.download_hosts[0]}/data/x/A%20mod.jar`],
      fileSize: 10,
    }
    const index = {
      game: 'minecraft',
      formatVersion: 1,
      versionId: '1.0',
      name: 'Pack',
      files: [file],
      dependencies: { minecraft: '1.20.1', 'fabric-loader': '0.15' },
    }
    const pack = (content: unknown, more: TestEntry[] = [], name = rules.content_packs.index_names[0] ?? '') => ({
      loaders: ['mrpack'],
      filename: 'pack.mrpack',
      bytes: makeZip([{ name, data: typeof content === 'string' ? content : JSON.stringify(content) }, ...more]),
    })
    const withFile = (change: object) => pack({ ...index, files: [{ ...file, ...change }] })

    test('a good index passes under each of its names and says what is embedded', async () => {
      const more = [
        'overrides/mods/b.jar',
        'client-overrides/resourcepacks/c.ZIP',
        'overrides/config/d.txt',
        'other/e.jar',
      ]
      for (const name of rules.content_packs.index_names) {
        const verdict = await validate(
          pack(
            index,
            more.map((entry) => ({ name: entry, data: 'x' })),
            name,
          ),
        )
        assert.deepEqual(verdict, {
          result: 'pass',
          embedded: [{ sha1: SHA1.toLowerCase(), fileName: 'A mod.jar' }, { fileName: 'b.jar' }, { fileName: 'c.ZIP' }],
          packLoaders: ['fabric'],
        })
      }
    })

    test('the same file listed twice is embedded once', async () => {
      const verdict = await validate(pack({ ...index, files: [file, { ...file, path: 'mods/b.jar' }] }))
      assert.equal(verdict.embedded?.length, 1)
    })

    test('an embedded file has one name, whatever its URL or path contains', async () => {
      const [host] = rules.content_packs.download_hosts
      const nameOf = async (address: string, path = 'mods/a.jar') => {
        const verdict = await validate(withFile({ path, downloads: [`https://${host}${address}`] }))
        return verdict.embedded?.[0]?.fileName
      }
      assert.equal(await nameOf('/x/a%00b%0A.jar'), 'ab.jar')
      assert.equal(await nameOf('/x/..%2F..%5Cb.jar'), 'b.jar')
      assert.equal(await nameOf('/x/b%FF.jar'), 'b%FF.jar')
      assert.equal(await nameOf('/', 'mods/b%20c.jar'), 'b%20c.jar')
      assert.equal((await nameOf(`/x/${'a'.repeat(1000)}`))?.length, 255)
    })

    test('a pack without an index is a warning', async () => {
      assert.match((await validate({ ...pack(index), bytes: zipOf('other.txt') })).reason ?? '', /no index/)
    })

    test('rejects JSON that is not an index, with the path', async () => {
      await refused(pack('{'), /not JSON/)
      await refused(pack('[]'), /not valid/)
      for (const key of ['game', 'formatVersion', 'versionId', 'name', 'files', 'dependencies'])
        await refused(pack({ ...index, [key]: undefined }), /not valid/)
      for (const [change, place] of [
        [{ game: 'chess' }, /chess/],
        [{ versionId: '' }, /versionId/],
        [{ versionId: 'x'.repeat(513) }, /versionId/],
        [{ name: 'x'.repeat(513) }, /name/],
        [{ summary: 'x'.repeat(2049) }, /summary/],
        [{ dependencies: { other: '1' } }, /unknown dependency "other"/],
        [{ dependencies: { minecraft: 1 } }, /dependencies/],
      ] as const)
        await refused(pack({ ...index, ...change }), place)
      const longest = { versionId: 'x'.repeat(512), name: 'x'.repeat(512), summary: 'x'.repeat(2048) }
      assert.equal((await validate(pack({ ...index, ...longest }))).result, 'pass')
      assert.equal((await validate(pack({ ...index, summary: null }))).result, 'pass')
    })

    test('an index larger than its limit is rejected', async () => {
      await refused(pack(`${JSON.stringify(index)}${' '.repeat(4 * 1024 * 1024)}`), /larger than 4 MiB/)
    })

    test('unsafe paths are rejected', async () => {
      for (const path of [
        '../a.jar',
        '/a.jar',
        'mods/../../a.jar',
        'C:/a.jar',
        'mods\\a.jar',
        'mods//a.jar',
        './a.jar',
        'mods/',
        'mods/con.jar',
        'mods/a.jar:b',
        'mods/a\u0001.jar',
        'mods /a.jar',
        'mods/\ud800.jar',
      ])
        await refused(withFile({ path }), /unsafe path/)
      await refused(withFile({ path: '' }), /not valid/)
    })

    test('files without both hashes are rejected', async () => {
      await refused(withFile({ hashes: { sha1: SHA1 } }), /not valid/)
      await refused(withFile({ hashes: { sha512: file.hashes.sha512 } }), /not valid/)
      await refused(withFile({ hashes: { sha1: 'zz', sha512: file.hashes.sha512 } }), /not valid/)
    })

    test('downloads come from the allowed hosts and this service only', async () => {
      const hosts = rules.content_packs.download_hosts.map((host) => `https://${host}/a.jar`)
      for (const url of [...hosts, 'http://127.0.0.1:8080/data/a.jar'])
        assert.equal((await validate(withFile({ downloads: [url] }))).result, 'pass', url)
      const host = rules.content_packs.download_hosts[0]
      for (const url of [
        'https://example.org/a.jar',
        `http://${host}/a.jar`,
        `https://${host}:8443/a.jar`,
        `https://${host}.example.org/a.jar`,
        `https://example.org/${host}`,
        `https://user@${host}/a.jar`,
        'http://127.0.0.1:8081/data/a.jar',
        'file:///etc/passwd',
        'not a url',
      ])
        await refused(withFile({ downloads: [...file.downloads, url] }), /host that is not allowed/)
      await refused(withFile({ downloads: [] }), /not valid/)
    })

    test('rejects an empty pack; overrides are enough', async () => {
      const empty = { ...index, files: [] }
      await refused(pack(empty, [{ name: 'other/a.txt' }]), /lists no files, and the pack has no overrides/)
      assert.equal((await validate(pack(empty, [{ name: 'overrides/options.txt' }]))).result, 'pass')
    })

    test('an index that cannot be read is rejected', async () => {
      await refused({ loaders: ['mrpack'], filename: 'a.mrpack', bytes: Buffer.from('x') }, /not a zip archive/)
    })
  })
})

test('the primary file is the named one, the only one, or the first that passed', () => {
  const pass = (part: string) => ({ part, verdict: { result: 'pass' } as const })
  const warned = (part: string) => ({ part, verdict: { result: 'warning', reason: 'No good' } as const })
  const named = (primaryPart: string) => ({ primaryPart, declaredParts: 2 })
  const unnamed = (declaredParts: number) => ({ primaryPart: undefined, declaredParts })
  assert.equal(choosePrimary([pass('a'), pass('b')], named('b')), 1)
  assert.equal(choosePrimary([warned('a'), pass('b')], unnamed(2)), 1)
  assert.equal(choosePrimary([pass('a')], unnamed(1)), 0)
  assert.equal(choosePrimary([warned('a'), warned('b')], unnamed(2)), undefined)
  assert.throws(() => choosePrimary([warned('a'), pass('b')], named('a')), /No good/)
  assert.throws(() => choosePrimary([warned('a')], unnamed(1)), /No good/)
  assert.throws(() => choosePrimary([pass('a')], named('c')), /must be the name of a file part/)
})

test('rule data with an error is rejected with its place', () => {
  const data = readTestRuleData()
  assert.throws(() => parseFileRules({ ...data, rules: [] }), /rules/)
  assert.throws(() => parseFileRules({ ...data, extra: 1 }), /File rules/)
  assert.throws(
    () => parseFileRules({ ...data, resource_packs: { file_types: [], rule: 'none' } }),
    /no rule named none/,
  )
  assert.throws(() => parseFileRules({ ...data, extensions: {} }), /unknown extension jar/)
  const [rule] = data['rules'] as object[]
  const rulePart = { ...data, resource_packs: { file_types: [], rule: 'fabric' } }
  assert.throws(() => parseFileRules({ ...rulePart, rules: [{ ...rule, from: '2020-13-45' }] }), /not a day/)
})
