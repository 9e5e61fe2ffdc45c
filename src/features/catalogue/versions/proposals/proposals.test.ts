// Proposals for the fields of a version, from the manifests of real archives, of a stored draft and of a dry run.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip, type TestEntry } from '#test/support/factories/archives.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const stranger = await t.make.account()

const entry = (name: string, data: unknown): TestEntry => ({
  name,
  data: typeof data === 'string' ? data : JSON.stringify(data),
})
const fabric = (more: object = {}): TestEntry =>
  entry('fabric.mod.json', { schemaVersion: 1, id: 'lantern', name: 'Lantern', version: '2.3.1', ...more })

/** Sends files as a dry run. */
async function dryRun(
  entries: TestEntry[],
  { filename = 'lantern.jar', person = project.owner as { token: string }, of = project.id } = {},
) {
  const { payload, headers } = await form({ project_id: of }, [{ name: 'file', filename, bytes: makeZip(entries) }])
  return t.as(person).post('/v3/version/proposals', payload, { headers })
}
async function proposals(entries: TestEntry[], filename?: string) {
  const answer = await dryRun(entries, filename === undefined ? {} : { filename })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const versionsFor = async (minecraft: unknown) =>
  (await proposals([fabric({ depends: { minecraft } })])).game_versions.value

describe('manifests', () => {
  test('fabric.mod.json: every field, with its source', async () => {
    const answer = await proposals([
      fabric({
        environment: 'client',
        depends: { minecraft: '~1.20.1', fabricloader: '*', java: '>=17' },
        breaks: { optifabric: '*' },
      }),
    ])
    assert.equal(answer.file, 'lantern.jar')
    assert.deepEqual(answer.version_number, {
      value: '2.3.1',
      proposals: [
        {
          value: '2.3.1',
          source: { kind: 'manifest', file: 'lantern.jar', entry: 'fabric.mod.json' },
          confidence: 'high',
        },
      ],
    })
    assert.equal(answer.name.value, 'Lantern 2.3.1')
    assert.equal(answer.version_type.value, 'release')
    assert.deepEqual(answer.loaders.value, ['fabric'])
    assert.deepEqual(answer.game_versions.value, ['1.20.1', '1.20.2', '1.20.3', '1.20.4', '1.20.5', '1.20.6'])
    assert.equal(answer.environment.value, 'client_only')
    assert.deepEqual(
      answer.dependencies.map(({ declared_id, dependency_type, resolved }: Record<string, unknown>) => [
        declared_id,
        dependency_type,
        resolved,
      ]),
      [['optifabric', 'incompatible', false]],
    )
  })

  test('quilt, forge, neoforge and plugins', async () => {
    const quilt = await proposals([
      entry('quilt.mod.json', {
        quilt_loader: {
          id: 'lantern',
          version: '1.0.0-beta.2',
          metadata: { name: 'Lantern' },
          depends: [
            { id: 'minecraft', versions: ['1.20', '1.20.1'] },
            'quilted_fabric_api:qsl',
            { id: 'oil', optional: true },
          ],
        },
      }),
    ])
    assert.deepEqual(
      [quilt.loaders.value, quilt.version_type.value, quilt.game_versions.value],
      [['quilt'], 'beta', ['1.20', '1.20.1']],
    )
    assert.deepEqual(
      quilt.dependencies.map((each: { declared_id: string; dependency_type: string }) => [
        each.declared_id,
        each.dependency_type,
      ]),
      [
        ['qsl', 'required'],
        ['oil', 'optional'],
      ],
    )
    const toml = (dependencies: string) =>
      `modLoader="javafml"\n[[mods]]\nmodId="lantern"\nversion="\${file.jarVersion}"\ndisplayName="Lantern"\n${dependencies}`
    const game = '[[dependencies.lantern]]\nmodId="minecraft"\nmandatory=true\nversionRange="[1.20.1,1.21)"\n'
    const manifest = entry('META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\r\nImplementation-Version: 4.5.6\r\n')
    const forge = await proposals([
      entry('META-INF/mods.toml', toml(`${game}[[dependencies.lantern]]\nmodId="jei"\nmandatory=false\n`)),
      manifest,
    ])
    assert.deepEqual(
      [forge.loaders.value, forge.version_number.value, forge.game_versions.value.at(-1)],
      [['forge'], '4.5.6', '1.20.6'],
    )
    assert.equal(forge.dependencies[0].dependency_type, 'optional')
    const neo = await proposals([entry('META-INF/neoforge.mods.toml', toml(game)), fabric()])
    assert.deepEqual(neo.loaders.value, ['fabric', 'neoforge'])
    const plugin = await proposals([
      entry('plugin.yml', 'name: Lantern\nversion: "3.1"\napi-version: 1.21\ndepend: [Vault]\nsoftdepend:\n  - Oil\n'),
    ])
    assert.equal(plugin.version_number.value, '3.1')
    assert.equal(plugin.game_versions.value[0], '1.21')
    assert.equal(plugin.game_versions.proposals[0].confidence, 'medium')
    assert.deepEqual(
      plugin.dependencies.map(({ declared_id }: { declared_id: string }) => declared_id),
      ['vault', 'oil'],
    )
    const paper = await proposals([
      entry(
        'paper-plugin.yml',
        'name: Lantern\nversion: 1.0\nfolia-supported: true\ndependencies:\n  server:\n    Vault: {required: false}\n',
      ),
    ])
    assert.deepEqual(
      [paper.loaders.value, paper.dependencies[0].dependency_type],
      [['paper', 'purpur', 'folia'], 'optional'],
    )
    const unquoted = 'name: Lantern\nversion: 1.20\napi-version: 1.20\nfolia-supported: yes\n'
    for (const name of ['plugin.yml', 'paper-plugin.yml']) {
      const { version_number: number, game_versions: games, loaders } = await proposals([entry(name, unquoted)])
      assert.deepEqual([number.value, games.value[0], loaders.value.includes('folia')], ['1.20', '1.20', true], name)
    }
    assert.equal((await proposals([entry('bungee.yml', 'name: L\nversion: 2.10\n')])).version_number.value, '2.10')
    assert.deepEqual((await proposals([entry('bungee.yml', 'name: L\nversion: 1\n')])).loaders.value, [
      'bungeecord',
      'waterfall',
    ])
    const velocity = await proposals([
      entry('velocity-plugin.json', {
        id: 'lantern',
        version: '1.1',
        dependencies: [{ id: 'luckperms', optional: true }],
      }),
    ])
    assert.deepEqual([velocity.loaders.value, velocity.dependencies[0].declared_id], [['velocity'], 'luckperms'])
  })

  test('mcmod.info: a list or an object with the list, as old build tools wrote it', async () => {
    const mod = {
      modid: 'Lantern',
      name: 'Lantern',
      version: '1.12-3.4',
      mcversion: '1.12.2',
      requiredMods: ['Forge@[14,)'],
    }
    const old = await proposals([entry('mcmod.info', [{ ...mod, dependencies: ['after:jei@[4.15,)', 'baubles'] }])])
    assert.deepEqual(
      [old.loaders.value, old.version_number.value, old.game_versions.value],
      [['forge'], '1.12-3.4', ['1.12.2']],
    )
    assert.deepEqual(
      old.dependencies.map((each: Record<string, unknown>) => [each['declared_id'], each['dependency_type']]),
      [
        ['jei', 'optional'],
        ['baubles', 'optional'],
      ],
    )
    const text = JSON.stringify({ modListVersion: 2, modList: [{ ...mod, description: 'LINES' }] })
    const listed = await proposals([entry('mcmod.info', text.replace('LINES', 'two\nlines'))])
    assert.deepEqual([listed.loaders.value, listed.unreadable_manifests], [['forge'], []])
    const sponge = await proposals([entry('mcmod.info', [{ ...mod, dependencies: ['spongeapi@7.1.0'] }])])
    assert.deepEqual([sponge.loaders.value, sponge.dependencies], [['sponge'], []])
    // Newer mods still contain the file, often with placeholders.
    const newer = await proposals([entry('mcmod.info', [{ ...mod, version: '0' }]), fabric()])
    assert.deepEqual([newer.loaders.value, newer.version_number.value], [['fabric'], '2.3.1'])
  })

  test('packs', async () => {
    const resources = await proposals(
      [entry('pack.mcmeta', { pack: { pack_format: 34, supported_formats: [32, 34] } }), entry('assets/a', '')],
      'lights.zip',
    )
    assert.deepEqual(
      [resources.loaders.value, resources.game_versions.value],
      [['minecraft'], ['1.20.5', '1.20.6', '1.21', '1.21.1']],
    )
    const data = await proposals(
      [entry('pack.mcmeta', { pack: { pack_format: 48 } }), entry('data/a', '')],
      'lights-1.2.zip',
    )
    assert.deepEqual(
      [data.loaders.value, data.game_versions.value, data.version_number.value],
      [['datapack'], ['1.21', '1.21.1'], '1.2'],
    )
    const index = {
      formatVersion: 1,
      game: 'minecraft',
      versionId: '7.0',
      name: 'Lights',
      files: [],
      dependencies: { minecraft: '1.20.1', 'fabric-loader': '0.15' },
    }
    const pack = await proposals([entry('modrinth.index.json', index)], 'lights.mrpack')
    assert.deepEqual(
      [pack.loaders.value, pack.mrpack_loaders.value, pack.game_versions.value, pack.version_number.value],
      [['mrpack'], ['fabric'], ['1.20.1'], '7.0'],
    )
    assert.deepEqual((await proposals([entry('shaders/final.fsh', '')], 'Dusk.zip')).loaders.value, [
      'iris',
      'optifine',
    ])
  })

  test('shaders in one more folder, as code hosts pack them', async () => {
    const packed = await proposals([entry('Dusk-main/shaders/final.fsh', ''), entry('Dusk-main/a', '')], 'Dusk.zip')
    assert.deepEqual(packed.loaders.value, ['iris', 'optifine'])
    assert.equal(packed.loaders.proposals[0].source.entry, 'Dusk-main/shaders/')
  })

  test('ranges expand to released versions only', async () => {
    const latest = (await versionsFor('*')).at(-1)
    assert.deepEqual(await versionsFor('>=1.20 <1.20.2'), ['1.20', '1.20.1'])
    assert.deepEqual(await versionsFor(['1.19.4', '1.20.x']), [
      '1.19.4',
      '1.20',
      '1.20.1',
      '1.20.2',
      '1.20.3',
      '1.20.4',
      '1.20.5',
      '1.20.6',
    ])
    assert.equal((await versionsFor('>=1.20')).at(-1), latest)
    // A snapshot that the manifest names exactly, also as Fabric writes it.
    for (const named of ['24w44a', '=24w44a', ['24w44a'], '1.21.4-alpha.24.44.a'])
      assert.deepEqual(await versionsFor(named), ['24w44a'], JSON.stringify(named))
    assert.deepEqual(await versionsFor('1.20.1 || 24w44a'), ['1.20.1', '24w44a'])
    assert.equal(await versionsFor('99w99a'), null)
    assert.deepEqual(await versionsFor('>=1.20.6- <=1.21-rc.1'), ['1.20.6', '1.21'])
    assert.equal(await versionsFor('>=99.9'), null)
    for (const wrong of ['', 'soon', '>=', '1..2', {}, 7, null, ['~']])
      assert.equal(await versionsFor(wrong), null, JSON.stringify(wrong))
  })
})

describe('sources', () => {
  test('two sources that disagree are both offered', async () => {
    const { version_number } = await proposals([fabric()], 'lantern-2.4.0+mc1.20.1.jar')
    assert.equal(version_number.value, null)
    assert.deepEqual(
      version_number.proposals.map(({ value, source }: { value: string; source: { kind: string } }) => [
        value,
        source.kind,
      ]),
      [
        ['2.3.1', 'manifest'],
        ['2.4.0', 'file_name'],
      ],
    )
    assert.equal((await proposals([fabric()], 'lantern-fabric-2.3.1+mc1.20.1.jar')).version_number.value, '2.3.1')
    assert.equal((await proposals([entry('a', '')], 'lantern-1.20.1-0.9.0-alpha.jar')).version_type.value, 'alpha')
  })

  test('the previous version gives the title, the loaders and the choices of dependencies', async () => {
    const own = await t.make.project({ owner: project.owner })
    const oil = await t.make.project({ slug: 'oil-lamp' })
    const bytes = makeZip([fabric({ depends: { oil_lib: '*' } })])
    const data = versionData({
      project_id: own.id,
      version_number: '1.0.0',
      version_title: 'The 1.0.0 release',
      dependencies: [
        { project_id: oil.id, dependency_type: 'required', declared_id: 'Oil_Lib' },
        { file_name: 'wick.jar', dependency_type: 'optional', declared_id: 'wick' },
      ],
    })
    const { payload, headers } = await form(data, [{ name: 'file', bytes }])
    const published = await t.as(project.owner).post('/v3/version', payload, { headers })
    assert.equal(published.statusCode, 201, published.body)
    assert.equal(published.json().dependencies[0].declared_id, 'oil_lib')
    const next = (
      await dryRun(
        [fabric({ version: '1.1.0', depends: { oil_lib: '*', wick: '*', 'oil-lamp': '*', unknown_mod: '*' } })],
        { of: own.id },
      )
    ).json()
    assert.equal(next.name.value, 'The 1.1.0 release')
    assert.deepEqual(
      next.dependencies.map((each: Record<string, unknown>) => [
        each['declared_id'],
        each['project_id'],
        each['file_name'],
        each['resolved'],
      ]),
      [
        ['oil_lib', oil.id, null, true],
        ['wick', null, 'wick.jar', true],
        ['oil-lamp', oil.id, null, true],
        ['unknown_mod', null, null, false],
      ],
    )
    const bare = (await dryRun([entry('readme', '')], { of: own.id, filename: 'x.zip' })).json()
    assert.deepEqual(
      [bare.loaders.value, bare.loaders.proposals[0].source.kind, bare.dependencies.length],
      [['fabric'], 'previous_version', 2],
    )
    // Another project finds the first one by the ID in its file.
    const found = await proposals([fabric({ id: 'other', depends: { lantern: '*' } })])
    assert.deepEqual([found.dependencies[0].project_id, found.dependencies[0].confidence], [own.id, 'medium'])
    await t.as(project.owner).patch(`/v3/project/${own.id}`, { status: 'private' })
    assert.equal(
      (await proposals([fabric({ id: 'other', depends: { lantern: '*' } })])).dependencies[0].resolved,
      false,
    )
  })

  test('of a draft: the primary file is the one with a manifest', async () => {
    const { payload, headers } = await form({ project_id: project.id, status: 'draft' }, [
      { name: 'file', filename: 'sources.jar', bytes: makeZip([entry('a.java', '')]) },
    ])
    const { id } = (await t.as(project.owner).post('/v3/version', payload, { headers })).json()
    const path = `/v3/version/${id}/proposals`
    assert.deepEqual((await t.as(project.owner).get(path)).json().version_number, { value: null, proposals: [] })
    const second = await form({}, [
      { name: 'file', filename: 'lantern.jar', bytes: makeZip([fabric({ salt: 'draft' })]) },
    ])
    await t.as(project.owner).post(`/v3/version/${id}/file`, second.payload, { headers: second.headers })
    const answer = (await t.as(project.owner).get(path)).json()
    assert.deepEqual([answer.file, answer.version_number.value], ['lantern.jar', '2.3.1'])
    assert.equal((await t.as(project.owner).get(`/v3/version/${id}`)).json().files[0].filename, 'lantern.jar')
    assert.equal((await t.as(stranger).get(path)).statusCode, 404)
    assert.equal((await t.anyone.get(path)).statusCode, 401)
    const listed = await t.make.version({ project })
    assertError(await t.as(stranger).get(`/v3/version/${listed.id}/proposals`), 403, 'unauthorized')
    assert.equal((await t.as(await t.make.pat(project.owner, ALL_SCOPES - 32_768)).get(path)).statusCode, 403)
  })
})

describe('hostile input', () => {
  test('wrong manifests are ignored', async () => {
    const deep = '['.repeat(30_000)
    const wrong: unknown[] = [
      '',
      '{',
      'null',
      '[]',
      '7',
      '"x"',
      deep,
      { id: 5 },
      { id: 'a', version: {}, depends: 'x', name: ['y'] },
      '\ufeff{}',
      Buffer.from([0xff, 0xfe]).toString('latin1'),
      { id: `${'x'.repeat(1000)}` },
      { id: 'a', depends: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`d${i}`, '*'])) },
      '{"__proto__":{"id":"a"}}',
    ]
    const names = [
      'fabric.mod.json',
      'quilt.mod.json',
      'META-INF/mods.toml',
      'plugin.yml',
      'paper-plugin.yml',
      'bungee.yml',
      'velocity-plugin.json',
      'modrinth.index.json',
      'pack.mcmeta',
    ]
    for (const content of wrong) {
      const answer = await dryRun(names.map((name) => entry(name, content)))
      assert.equal(answer.statusCode, 200, `${JSON.stringify(content).slice(0, 60)} ${answer.body}`)
      assert.ok(answer.json().dependencies.length <= 64)
    }
  })

  test('manifests that cannot be parsed are named, also in the warnings of a dry run', async () => {
    for (const name of ['fabric.mod.json', 'META-INF/mods.toml', 'plugin.yml', 'mcmod.info', 'pack.mcmeta'])
      assert.deepEqual((await proposals([entry(name, '{"id": ["')])).unreadable_manifests, [name])
    assert.deepEqual((await proposals([fabric()])).unreadable_manifests, [])
    const files = [{ name: 'file', bytes: makeZip([entry('fabric.mod.json', '{"id"')]) }]
    const { payload, headers } = await form(versionData({ project_id: project.id }), files)
    const checked = await t.as(project.owner).post('/v3/version?dry_run=true', payload, { headers })
    assert.equal(checked.statusCode, 200, checked.body)
    assert.deepEqual(checked.json().warnings, [
      { field: 'file', message: 'The manifest fabric.mod.json cannot be parsed, so nothing was read from it' },
    ])
  })

  test('a manifest that is slow to parse takes little time', async () => {
    const yamls = [
      `a: &a [x]\n${Array.from({ length: 2000 }, (_, i) => `k${i}: *a`).join('\n')}`,
      Array.from({ length: 6000 }, (_, i) => `k${i}:`).join('\n'),
      '- '.repeat(10_000),
      '{'.repeat(16_000),
      '? '.repeat(10_000),
      `"${'\\u0041'.repeat(5000)}"`,
    ]
    const tomls = [
      Array.from({ length: 5000 }, (_, i) => `a.b${i}.c = 1`).join('\n'),
      '[a'.concat('.a'.repeat(20_000), ']'),
      'x = '.concat('['.repeat(30_000)),
    ]
    const start = performance.now()
    for (const text of yamls) assert.equal((await dryRun([entry('plugin.yml', text)])).statusCode, 200)
    for (const text of tomls) assert.equal((await dryRun([entry('META-INF/mods.toml', text)])).statusCode, 200)
    assert.ok(performance.now() - start < 20_000)
    assert.equal((await dryRun([entry('fabric.mod.json', `"${'x'.repeat(300_000)}"`)])).statusCode, 200)
  })

  test('bad requests name the field, and nothing is stored', async () => {
    const before = await t.deps.db.selectFrom('file').select('id').execute()
    assertError(await dryRun([fabric()], { of: 'AAAAAAAA' }), 400, 'validation_error', 'project_id')
    assertError(await dryRun([fabric()], { person: stranger }), 403, 'unauthorized')
    assertError(await dryRun([fabric()], { filename: 'a.exe' }), 400, 'invalid_input', 'file')
    const { payload, headers } = await form({ project_id: project.id })
    assertError(
      await t.as(project.owner).post('/v3/version/proposals', payload, { headers }),
      400,
      'invalid_input',
      'file',
    )
    const empty = await form({}, [{ name: 'file', bytes: makeZip([fabric()]) }])
    assertError(
      await t.as(project.owner).post('/v3/version/proposals', empty.payload, { headers: empty.headers }),
      400,
      'validation_error',
      'project_id',
    )
    assert.deepEqual(await t.deps.db.selectFrom('file').select('id').execute(), before)
  })
})
