import assert from 'node:assert/strict'
import { type Each, makeDocument, where } from './tools.ts'

export function testText(each: Each): void {
  each('exact slug comes before exact name, name prefix and words, each by downloads', async ({ put, slugs }) => {
    await put(
      makeDocument('lamp', { name: 'Something', downloads: 1 }),
      makeDocument('x-one', { name: 'Lamp', downloads: 2 }),
      makeDocument('x-two', { name: 'Lamplighter', downloads: 3 }),
      makeDocument('x-three', { name: 'Lamps and more', downloads: 4 }),
      makeDocument('x-four', { name: 'Big Lamp', downloads: 5 }),
      makeDocument('x-five', { name: 'Other', summary: 'Adds a lamp.', downloads: 6 }),
      makeDocument('x-six', { name: 'Other', author: 'lampman', downloads: 7 }),
      makeDocument('x-seven', { name: 'Lump', downloads: 800 }),
    )
    assert.deepEqual(await slugs({ text: 'lamp' }), ['lamp', 'x-one', 'x-three', 'x-two', 'x-six', 'x-five', 'x-four'])
    assert.deepEqual(await slugs({ text: 'lamp', sort: 'downloads' }), [
      'x-six',
      'x-five',
      'x-four',
      'x-three',
      'x-two',
      'x-one',
      'lamp',
    ])
  })

  each('initials and other names find a project, with names that begin so, by downloads', async ({ put, slugs }) => {
    await put(
      makeDocument('applied-energistics', { name: 'Applied Energistics 2', downloads: 9 }),
      makeDocument('x-things', { name: 'AE2 Things', downloads: 5 }),
      makeDocument('x-title', { name: 'Amber Echo 2: Forge Edition', downloads: 4 }),
      makeDocument('x-pair', { name: 'Amber Echo', downloads: 3 }),
      makeDocument('jade', { name: 'Jade', other_names: ['Hwyla', 'Here Is What You See'], downloads: 1 }),
    )
    assert.deepEqual(await slugs({ text: 'AE2' }), ['applied-energistics', 'x-things', 'x-title'])
    assert.deepEqual(await slugs({ text: 'ae2fe' }), ['x-title'])
    assert.deepEqual(await slugs({ text: 'ae' }), ['x-things'])
    for (const text of ['hwyla', 'here is what you see', 'hereiswhatyou', 'you see'])
      assert.deepEqual(await slugs({ text }), ['jade'], text)
    await put(makeDocument('jade', { name: 'Jade', downloads: 1 }))
    assert.deepEqual(await slugs({ text: 'hwyla' }), [])
  })

  each('all words must match, each as a prefix, in any field', async ({ put, slugs }) => {
    await put(
      makeDocument('red-door', { name: 'Red Door', summary: 'Opens.', author: 'maria' }),
      makeDocument('red-wall', { name: 'Red Wall', summary: 'Stands.', author: 'maria' }),
    )
    assert.deepEqual(await slugs({ text: 'door mar' }), ['red-door'])
    assert.deepEqual(await slugs({ text: 're op' }), ['red-door'])
    assert.deepEqual(await slugs({ text: 'red nothing' }), [])
  })

  each('case, accents, width, apostrophes, - and _ do not count', async ({ put, slugs }) => {
    await put(
      makeDocument('zoe-s-cafe', { name: "Zoë's Café_Straße" }),
      makeDocument('wide', { name: 'Ｗｉｄｅ Ｌｅｔｔｅｒｓ' }),
    )
    for (const query of ["ZOE'S cafe", 'zoes-café', 'zoe’s cafe strasse', 'Zoë_s'])
      assert.deepEqual(await slugs({ text: query }), ['zoe-s-cafe'], query)
    assert.deepEqual(await slugs({ text: 'wide letters' }), ['wide'])
    assert.deepEqual(await slugs({ text: 'ｗｉｄｅ' }), ['wide'])
  })

  each('CJK is found by parts, words run together by their whole and by their parts', async ({ put, slugs }) => {
    await put(
      makeDocument('mori', { name: '静かな森の冒険' }),
      makeDocument('town-crier', { name: 'TownCrier' }),
      makeDocument('low-tide-bell', { name: 'Low Tide Bell' }),
    )
    for (const query of ['森', '冒険', '森の冒', '静かな森の冒険'])
      assert.deepEqual(await slugs({ text: query }), ['mori'], query)
    assert.deepEqual(await slugs({ text: '冒森' }), [])
    await put(makeDocument('x-more', { name: 'Town Crier Bells', downloads: 9 }))
    assert.deepEqual(await slugs({ text: 'town crier' }), ['town-crier', 'x-more'])
    await put(makeDocument('x-more', { name: 'Bells', summary: 'Nothing more.' }))
    for (const query of ['crier', 'towncr', 'town crier'])
      assert.deepEqual(await slugs({ text: query }), ['town-crier'], query)
    assert.deepEqual(await slugs({ text: 'lowtideb' }), ['low-tide-bell'])
  })

  each('Thai, Lao, Khmer and Burmese are found by the words inside a name', async ({ put, slugs }) => {
    await put(
      makeDocument('thai', { name: 'โคมไฟในป่าลึก' }),
      makeDocument('lao', { name: 'ໂຄມໄຟໃນປ່າ' }),
      makeDocument('khmer', { name: 'ចង្កៀងក្នុងព្រៃ' }),
      makeDocument('burmese', { name: 'တောထဲကမီးအိမ်' }),
    )
    for (const [query, slug] of [
      ['ป่าลึก', 'thai'],
      ['ไฟ', 'thai'],
      ['ປ່າ', 'lao'],
      ['ព្រៃ', 'khmer'],
      ['မီးအိမ်', 'burmese'],
    ] as const)
      assert.deepEqual(await slugs({ text: query }), [slug], query)
    assert.deepEqual(await slugs({ text: 'น้ำ' }), [])
  })

  each(
    'typos count only when nothing is exact, filters notwithstanding; one comes before two',
    async ({ put, slugs }) => {
      await put(
        makeDocument('lantern', { name: 'Lantern', downloads: 1 }),
        makeDocument('lanterns-galore', { name: 'Galore of Lanterns', downloads: 2 }),
        makeDocument('carpenters-bench', { name: 'Carpenters Bench', downloads: 3 }),
        makeDocument('carpentors', { name: 'Carpentors', downloads: 2 }),
      )
      // The whole name comes before names with similar words.
      assert.deepEqual(await slugs({ text: 'lantren' }), ['lantern', 'lanterns-galore'])
      assert.deepEqual(await slugs({ text: 'latern' }), ['lantern', 'lanterns-galore'])
      assert.deepEqual(await slugs({ text: 'lantern', filter: where('downloads > 2') }), [])
      assert.deepEqual(await slugs({ text: 'carpentorz' }), ['carpentors', 'carpenters-bench'])
      assert.deepEqual(await slugs({ text: 'lxntxrn' }), [])
      assert.deepEqual(await slugs({ text: 'carpen tors' }), ['carpentors'])
      assert.deepEqual(await slugs({ text: 'lan' }), ['lantern', 'lanterns-galore'])
    },
  )

  each(
    'words of a name are found run together or split, and a name that differs in its spaces comes early',
    async ({ put, slugs }) => {
      await put(
        makeDocument('low-tide-bell', { name: 'Low Tide Bell', downloads: 1 }),
        makeDocument('x-keys', { name: 'Keybinds', downloads: 2 }),
        makeDocument('x-other', { name: 'Other', summary: 'More key binds.', downloads: 3 }),
        makeDocument('x-more', { name: 'Key Binds Galore', downloads: 4 }),
        makeDocument('x-steam', { name: "Big Steam 'n' Rails", downloads: 5 }),
      )
      for (const query of ['tidebell', 'low tidebell', 'lowtide bell', 'tidebe'])
        assert.deepEqual(await slugs({ text: query }), ['low-tide-bell'], query)
      assert.deepEqual(await slugs({ text: 'key binds' }), ['x-keys', 'x-more', 'x-other'])
      for (const query of ['steam & rails', 'steam+rails', 'steam n rails', 'steamnrails', 'big steamandrails'])
        assert.deepEqual(await slugs({ text: query }), ['x-steam'], query)
    },
  )

  each('hostile text gives an answer', async ({ put, ask }) => {
    await put(makeDocument('fine'))
    for (const query of ['\0', '&', '...', '   '])
      assert.equal((await ask({ text: query })).total_hits, 1, JSON.stringify(query))
    for (const query of ['🎮', '\ud800', '(a+)+$', '%00', "' OR 1=1 --", 'x'.repeat(1024), 'ab '.repeat(340)])
      assert.equal((await ask({ text: query })).total_hits, 0, JSON.stringify(query))
  })
}
