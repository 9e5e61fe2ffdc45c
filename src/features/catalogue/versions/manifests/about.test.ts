// The descriptions of projects in manifests: one row for each kind, and hostile values.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { About } from './manifest.ts'
import { readManifests } from './read-manifests.ts'

async function about(entry: string, data: unknown): Promise<About | undefined> {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const [manifest] = await readManifests({
    readable: true,
    entries: [{ name: entry, sizeBytes: text.length }],
    readEntry: async (name) => (name === entry ? Buffer.from(text) : undefined),
  })
  return manifest?.about
}

const SITE = 'https://lantern.example'
const CONTACT = { homepage: SITE, sources: `${SITE}/code`, issues: `${SITE}/issues`, discord: `${SITE}/chat`, irc: 'x' }
const LINKS = { site: SITE, source: `${SITE}/code`, issues: `${SITE}/issues`, discord: `${SITE}/chat` }
const fabric = (mod: object) => about('fabric.mod.json', { id: 'lantern', ...mod })

const KINDS: readonly (readonly [entry: string, data: unknown, expected: About])[] = [
  [
    'fabric.mod.json',
    { id: 'lantern', description: 'Adds lanterns.', license: 'MIT', contact: CONTACT, icon: 'assets/icon.png' },
    { summary: 'Adds lanterns.', license: 'MIT', links: LINKS, icon: 'assets/icon.png' },
  ],
  [
    'quilt.mod.json',
    {
      quilt_loader: {
        id: 'lantern',
        metadata: {
          description: 'Adds lanterns.',
          license: { id: 'Apache-2.0', name: 'Apache' },
          contact: CONTACT,
          icon: { 64: './small.png', 512: 'large.png' },
        },
      },
    },
    { summary: 'Adds lanterns.', license: 'Apache-2.0', links: LINKS, icon: 'large.png' },
  ],
  [
    'META-INF/mods.toml',
    `license="All Rights Reserved"\nissueTrackerURL="${SITE}/issues"\n[[mods]]\nmodId="lantern"\ndisplayURL="${SITE}"\nlogoFile="logo.png"\ndescription='''\nAdds\n  lanterns.\n'''\n`,
    {
      summary: 'Adds lanterns.',
      license: 'All Rights Reserved',
      links: { site: SITE, issues: `${SITE}/issues` },
      icon: 'logo.png',
    },
  ],
  [
    'META-INF/neoforge.mods.toml',
    'license="MIT"\nlogoFile="file.png"\n[[mods]]\nmodId="lantern"\n',
    { license: 'MIT', icon: 'file.png' },
  ],
  [
    'mcmod.info',
    [{ modid: 'lantern', description: 'Adds lanterns.', url: SITE, logoFile: '/logo.png' }],
    { summary: 'Adds lanterns.', links: { site: SITE }, icon: 'logo.png' },
  ],
  [
    'plugin.yml',
    `name: Lantern\nversion: 1\ndescription: Adds lanterns.\nwebsite: ${SITE}\n`,
    { summary: 'Adds lanterns.', links: { site: SITE } },
  ],
  [
    'paper-plugin.yml',
    `name: Lantern\nversion: 1\ndescription: Adds lanterns.\nwebsite: ${SITE}\n`,
    { summary: 'Adds lanterns.', links: { site: SITE } },
  ],
  ['bungee.yml', 'name: Lantern\ndescription: Adds lanterns.\n', { summary: 'Adds lanterns.' }],
  [
    'velocity-plugin.json',
    { id: 'lantern', description: 'Adds lanterns.', url: SITE },
    { summary: 'Adds lanterns.', links: { site: SITE } },
  ],
  ['modrinth.index.json', { formatVersion: 1, name: 'Lights', summary: 'A pack.' }, { summary: 'A pack.' }],
  [
    'pack.mcmeta',
    { pack: { pack_format: 34, description: ['', { text: '§aGreen ', extra: [{ text: 'lights' }] }, '§r!'] } },
    { summary: 'Green lights!' },
  ],
]

describe('descriptions in manifests', () => {
  for (const [entry, data, expected] of KINDS)
    test(entry, async () => assert.deepEqual(await about(entry, data), expected))

  test('a manifest without a description has none', async () => {
    assert.equal(await fabric({}), undefined)
    assert.equal(
      await about('pack.mcmeta', { pack: { description: 'Without a format' } }).then((it) => it?.icon),
      undefined,
    )
  })

  test('a long description ends after a word', async () => {
    const { summary = '' } = (await fabric({ description: 'lantern '.repeat(900) })) ?? {}
    assert.ok(summary.length <= 256, summary)
    assert.match(summary, /lantern…$/)
    assert.equal((await fabric({ description: '🏮'.repeat(300) }))?.summary?.isWellFormed(), true)
  })

  test('unexpected values are ignored', async () => {
    let nested: unknown = 'deep'
    for (let depth = 0; depth < 1000; depth += 1) nested = [nested]
    const wrong: unknown[] = [7, null, true, {}, [], [['a']], '', ' ', '\u0000', '\u001b[1m', '@DESCRIPTION@', nested]
    for (const value of wrong) {
      const found = await fabric({ description: value, license: value, contact: value, icon: value })
      for (const text of Object.values(found ?? {}))
        assert.equal(typeof text, 'string', JSON.stringify(value)?.slice(0, 40))
      assert.equal(
        await fabric({ contact: { homepage: value } }).then((it) => typeof it?.links?.['site']),
        value === 7 ? 'string' : 'undefined',
      )
    }
    assert.equal(await fabric({ license: ['MIT', 'Apache-2.0'] }), undefined)
    assert.deepEqual(await fabric({ license: ['MIT'] }), { license: 'MIT' })
    assert.equal(await fabric({ icon: 'x'.repeat(300), license: 'x'.repeat(300) }), undefined)
  })
})
