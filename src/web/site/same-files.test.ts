// The project page, the version page, the archive, `/v3/resolve` and the packs offer the same files.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Entry, fromBufferPromise } from 'yauzl'
import type { AnswerView } from '#features/catalogue/resolve/views.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { seededRandom } from '#test/support/factories/search-catalogue.ts'
import { visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())

const LOADERS = ['fabric', 'forge', 'quilt']
const GAME_VERSIONS = ['1.20.1', '1.20.4', '1.21']
const KINDS = [...Array<string>(8).fill('required'), 'optional', 'incompatible', 'embedded']

type Setup = { loader?: string; gameVersion?: string }

/** Publishes projects whose versions differ in loaders, game versions and dependencies. */
function makeRandom(seed: number, count: number): Promise<TestCatalogue> {
  const next = seededRandom(seed)
  const random = (below: number) => Math.floor(next() * below)
  const some = (values: readonly string[]) => {
    const first = random(2)
    return values.slice(first, first + 2)
  }
  const numbers = Array.from({ length: count }, () => 1 + random(3))
  const project = (own: number) =>
    Object.fromEntries(
      Array.from({ length: numbers[own] ?? 1 }, (_, index) => {
        const dependencies = Array.from({ length: random(4) }, () => {
          const other = random(count)
          const pin = random(4) === 0 ? `/${1 + random(numbers[other] ?? 1)}` : ''
          return `${KINDS[random(KINDS.length)]} p${other}${pin}`
        }).filter((text) => text.split(/[ /]/)[1] !== `p${own}`)
        const fields = { loaders: some(LOADERS), game_versions: some(GAME_VERSIONS) }
        return [String(index + 1), { ...fields, dependencies: [...new Set(dependencies)] }]
      }),
    )
  return makeCatalogue(t, Object.fromEntries(numbers.map((_, own) => [`p${own}`, project(own)])), (slug) =>
    slug === 'p1' ? { status: 'private' } : {},
  )
}

type Shown = { offered: string; isCompatible: boolean; direct: string[]; archive: string[] }

/** Returns the names of the files that a page offers, and of those in the archive to which it leads. */
async function readPage(path: string, { loader = '', gameVersion = '' }: Setup): Promise<Shown> {
  const person = visitor(t)
  person.cookies.set('__Host-depot-setup', encodeURIComponent(`${gameVersion}|${loader}`))
  const { body, statusCode } = await person.get(path)
  assert.equal(statusCode, 200, body.slice(0, 300))
  const box = /<section class="get"[\s\S]*?<\/section>/.exec(body)?.[0] ?? ''
  const files = [...box.matchAll(/href="[^"]*\/data\/[^"]*\/([^"/]+)"/g)].map(([, name]) =>
    decodeURIComponent(name ?? ''),
  )
  const [offered = '', ...direct] = files
  const href = /href="([^"]*\/archive\?[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
  const isCompatible = !box.includes('button quiet')
  return {
    offered,
    isCompatible,
    direct: direct.sort(),
    archive: href === undefined ? [offered] : await readArchive(href),
  }
}

async function readArchive(href: string): Promise<string[]> {
  const answer = await t.anyone.get(href)
  assert.equal(answer.statusCode, 200, answer.body.slice(0, 300))
  const names: string[] = []
  const zip = await fromBufferPromise(answer.rawPayload)
  for await (const entry of zip.eachEntry() as AsyncIterable<Entry>) names.push(entry.fileName)
  return names.sort()
}

/** Returns the names of the chosen files, or undefined if the item has no version. The pack must contain the same files. */
async function resolve(item: object, { loader, gameVersion }: Setup): Promise<string[] | undefined> {
  const answer = await t.anyone.post('/v3/resolve?store=true', {
    items: [item],
    ...(loader === undefined ? {} : { loaders: [loader] }),
    ...(gameVersion === undefined ? {} : { game_versions: [gameVersion] }),
  })
  assert.equal(answer.statusCode, 200, answer.body)
  const { items, chosen, lock } = answer.json<AnswerView>()
  if (items[0]?.state !== 'chosen') return undefined
  const names = chosen.map(({ file }) => file?.filename ?? '').sort()
  const index = await t.anyone.get(`/v3/lock/${lock}/index.toml`)
  assert.equal(index.body.match(/^file = /gm)?.length, names.length, index.body)
  return names
}

test('a required file is for the loader and the game version of the offered version', async () => {
  const made = await makeCatalogue(t, {
    lantern: { '2': { game_versions: ['1.20.1'], dependencies: ['required engine'] } },
    engine: { '3': { game_versions: ['1.21'] }, '2': { loaders: ['forge'] }, '1': {} },
  })
  const slug = made.projects['lantern']?.slug
  for (const setup of [{}, { loader: 'fabric' }, { gameVersion: '1.20.1' }]) {
    const shown = await readPage(`/mod/${slug}`, setup)
    assert.deepEqual(shown.direct, ['engine-1.jar'], JSON.stringify(setup))
    assert.deepEqual(await resolve({ project: slug }, setup), ['engine-1.jar', 'lantern-2.jar'])
    const tree = visitor(t)
    tree.cookies.set('__Host-depot-setup', encodeURIComponent(`${setup.gameVersion ?? ''}|${setup.loader ?? ''}`))
    const { body } = await tree.get(`/mod/${slug}/dependencies`)
    assert.ok(body.includes(`version/${made.versions['engine/1']}`), JSON.stringify(setup))
  }
})

test('a resource pack offers the mods that it requires for the loader of the visitor', async () => {
  const made = await makeCatalogue(t, {
    texture: { '1': { loaders: ['minecraft'], dependencies: ['required engine'] } },
    engine: { '2': { loaders: ['forge'] }, '1': {} },
  })
  const shown = await readPage(`/resourcepack/${made.projects['texture']?.slug}`, { loader: 'fabric' })
  assert.deepEqual(shown.direct, ['engine-1.jar'])
})

for (const seed of [3, 17]) {
  test(`all offer the same files in a random catalogue (seed ${seed})`, async () => {
    const made = await makeRandom(seed, 8)
    const setups: Setup[] = [
      {},
      { loader: 'fabric' },
      { gameVersion: '1.20.4' },
      { loader: 'fabric', gameVersion: '1.20.1' },
    ]
    let compared = 0
    for (const [name, { slug }] of Object.entries(made.projects)) {
      if (name === 'p1') continue
      for (const setup of setups) {
        const label = `${name} ${JSON.stringify(setup)}`
        const shown = await readPage(`/mod/${slug}`, setup)
        assert.deepEqual(
          [shown.offered, ...shown.direct].filter((file) => !shown.archive.includes(file)),
          [],
          label,
        )
        const resolved = await resolve({ project: slug }, setup)
        if (!shown.isCompatible) assert.equal(resolved, undefined, label)
        if (resolved !== undefined) {
          assert.deepEqual(resolved, shown.archive, label)
          compared += shown.archive.length > 1 ? 1 : 0
        }
      }
      for (const [version, id] of Object.entries(made.versions).filter(([key]) => key.startsWith(`${name}/`))) {
        const shown = await readPage(`/mod/${slug}/version/${id}`, {})
        const resolved = await resolve({ version: id }, {})
        if (resolved !== undefined) assert.deepEqual(shown.archive, resolved, version)
      }
    }
    assert.ok(compared >= 5, `only ${compared} choices have required files`)
  })
}
