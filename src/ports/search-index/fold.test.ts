import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldWords, indexTerms, innerWords, joinedTerms, queryTerms } from './fold.ts'

const termsOf = (text: string) => {
  const terms = new Set<string>()
  indexTerms(foldWords(text), terms)
  return [...terms]
}

test('words are folded the same however they are written', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['Crème-Brûlée_2', ['creme', 'brulee', '2']],
    ['ＡＢＣ １２', ['abc', '12']],
    ["Baker's baker’s", ['bakers', 'bakers']],
    ['Straße ØRKEN İzmir ŻÓŁTE', ['strasse', 'orken', 'izmir', 'zolte']],
    ['ﬁne™ ® &', ['fine']],
    ['ﾗﾝﾀﾝ', ['ランタン']],
    ['がか', ['がか']],
    ['겨울 등불', ['겨울', '등불']],
    ['v1.20.4-rc', ['v1', '20', '4', 'rc']],
    ['a🎮b', ['a', '🎮', 'b']],
    ['\ud800', ['\ufffd']],
    ['\0\u0007', []],
  ]
  for (const [text, words] of cases) assert.deepEqual([...foldWords(text)], words, text)
})

test('CJK is indexed by pairs of neighbours and asked for by them', () => {
  assert.deepEqual(termsOf('森の冒険 map'), ['森の', 'の冒', '冒険', '険', 'map'])
  assert.deepEqual(queryTerms(foldWords('森の冒')), ['森の', 'の冒'])
  assert.deepEqual(queryTerms(foldWords('森')), ['森'])
  assert.deepEqual(termsOf('𠮷野家'), ['𠮷野', '野家', '家'])
})

test('Thai, Lao, Khmer and Burmese are indexed by pairs of letters with their marks', () => {
  const isFound = (name: string, query: string) => {
    const terms = termsOf(name)
    return queryTerms(foldWords(query)).every((term) => terms.some((other) => other.startsWith(term)))
  }
  for (const [name, parts, absent] of [
    ['โคมไฟในป่าลึก', ['โคมไฟ', 'ป่า', 'ลึก', 'ในป่า'], 'น้ำ'],
    ['ໂຄມໄຟໃນປ່າ', ['ໂຄມໄຟ', 'ປ່າ'], 'ນ້ຳ'],
    ['ចង្កៀងក្នុងព្រៃ', ['ចង្កៀង', 'ព្រៃ'], 'ទឹក'],
    ['တောထဲကမီးအိမ်', ['မီးအိမ်', 'တော'], 'ရေ'],
  ] as const) {
    for (const part of parts) assert.ok(isFound(name, part), `${part} in ${name}`)
    assert.ok(!isFound(name, absent), `${absent} in ${name}`)
  }
  assert.deepEqual(termsOf('ป่าลึก'), ['ป่า', 'าลึ', 'ลึก', 'ก'])
})

test('&, +, n and and between two words are the same word', () => {
  for (const text of [
    'Steam and Rails',
    "Steam 'n' Rails",
    'Steam ’n’ Rails',
    "steam 'n rails",
    "steam n' rails",
    'steam n rails',
    'steam & rails',
    'Steam&Rails',
    'steam+rails',
    'steam + rails',
    "steam'n'rails",
    'steam-n-rails',
    'steam_and_rails',
  ])
    assert.deepEqual([...foldWords(text)], ['steam', 'and', 'rails'], text)
  for (const [text, words] of [
    ['Lamps+', ['lamps']],
    ['Lamps+ Addon', ['lamps', 'addon']],
    ['steam n', ['steam', 'n']],
    ['n rails', ['n', 'rails']],
    ["don't", ['dont']],
    ['& +', []],
  ] as const)
    assert.deepEqual([...foldWords(text)], words, text)
})

test('letters that look like Latin ones are folded to these', () => {
  for (const [text, words] of [
    ['ωorld Lεttεrs', ['world', 'letters']],
    ['Сreative Соre', ['creative', 'core']],
    ['ꜱɪᴍᴘʟᴇ', ['simple']],
    ['Smørrebrød', ['smorrebrod']],
  ] as const)
    assert.deepEqual([...foldWords(text)], words, text)
})

test('a name of several words has terms for adjacent words that are typed together', () => {
  assert.deepEqual(joinedTerms(['low', 'tide', 'bell']), ['lowtidebell', 'tidebell'])
  assert.deepEqual(joinedTerms(['steam', 'and', 'rails']), ['steamandrails', 'steamnrails'])
  assert.deepEqual(joinedTerms(['map', '森の冒険']), [])
  assert.deepEqual(joinedTerms(['one']), [])
})

test('words with inner capitals have parts, others none', () => {
  assert.deepEqual([...innerWords('TownCrier HTTP')], ['town', 'crier', 'http'])
  assert.deepEqual([...innerWords('Town Crier')], [])
})

test('a very long word is cut alike in the index and in the query', () => {
  assert.deepEqual(termsOf('y'.repeat(300)), queryTerms(foldWords('Y'.repeat(200))))
})
