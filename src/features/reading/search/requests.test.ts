import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#lib/errors.ts'
import type { Filter } from '#ports/search-index/filter/tree.ts'
import { parseSearchRequest } from './requests.ts'

const parse = (new_filters: string) => parseSearchRequest({ new_filters }).filter

/** The normal form as short text: fields, `!` before a negated test. */
function show(filter: Filter): string {
  if (filter.kind === 'and' || filter.kind === 'or')
    return `(${filter.children.map(show).join(filter.kind === 'and' ? ' & ' : ' | ')})`
  const sign = filter.negated ? '!' : ''
  if (filter.kind === 'exists') return `${sign}${filter.field.name}?`
  if (filter.kind === 'compare') return `${sign}${filter.field.name}${filter.operator}${filter.value}`
  return `${sign}${filter.field.name}=${filter.values.join(',')}`
}

function problem(run: () => unknown): {
  description: string
  details: { position?: unknown; expected?: unknown; field?: unknown }
} {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof ApiError && error.kind === 'invalid_input', String(error))
    return { description: error.message, details: error.details ?? {} }
  }
  throw new assert.AssertionError({ message: 'nothing was refused' })
}

test('every form of the language comes out in the normal form', () => {
  const forms: [string, string][] = [
    ['', '()'],
    ['  ', '()'],
    ['categories=magic', 'categories=magic'],
    ['categories = "magic" AND loaders != fabric', '(categories=magic & !loaders=fabric)'],
    ['a.b = 1', ''],
    ['project_types=["mod"] AND categories=["magic"]', '(project_types=mod & categories=magic)'],
    ['loaders != [a, b, ]', '!loaders=a,b'],
    ["loaders IN ['b', `a`, b]", 'loaders=a,b'],
    ['loaders not in [a]', '!loaders=a'],
    ['NOT loaders NOT IN [a]', 'loaders=a'],
    ['license EXISTS or color not exists', ''],
    ['license EXISTS or environment NOT EXISTS', '(license? | !environment?)'],
    ['NOT"project_id"="x"', '!project_id=x'],
    ['NOT (a)', ''],
    ['not(name=a and (author=b or downloads>=5))', '(!name=a | (!author=b & !downloads>=5))'],
    ['name=a or name=b and name=c', '(name=a | (name=b & name=c))'],
    ['(name=a or name=b) and name=c', '((name=a | name=b) & name=c)'],
    ['name=a and (name=b and (name=c and name=a))', '(name=a & name=b & name=c)'],
    ['downloads > 1e3 and follows <= -0.5', '(downloads>1000 & follows<=-0.5)'],
    ['open_source=TRUE', 'open_source=true'],
    ['name = true', 'name=true'],
    ['game_versions = 1.20', 'game_versions=1.20'],
    ['game_versions = 1.20 and name="a\\"b\\\\"', '(game_versions=1.20 & name=a"b\\)'],
    ['author = Some_Body.', 'author=some-body'],
    ['components.fun_java_server.content.kind = x', 'fun_java_server.content.kind=x'],
    ['fun_java_server.ping.data.players_online > 3', 'fun_java_server.ping.data.players_online>3'],
    ['name = "森林 🎮"', 'name=森林 🎮'],
  ]
  for (const [text, expected] of forms) {
    if (expected === '') problem(() => parse(text))
    else assert.equal(show(parse(text)), expected, text)
  }
})

test('an error gives its position and what was expected', () => {
  const cases: [string, number, string][] = [
    ['categories=', 11, 'a value'],
    ['categories', 10, 'an operator'],
    ['categories=a loaders=b', 13, 'AND, OR or the end'],
    ['(categories=a', 13, 'AND, OR or )'],
    ['categories=a)', 12, 'AND, OR or the end'],
    ['wrong=a', 0, 'a filterable field'],
    ['name=a AND versions=b', 11, 'a filterable field'],
    ['downloads=many', 10, 'a number of at most 32 characters'],
    ['downloads="5"', 10, 'a number of at most 32 characters'],
    ['downloads>1e999', 10, 'a number of at most 32 characters'],
    ['open_source=1', 12, 'true or false'],
    ['name > 5', 5, '= or !='],
    ['open_source >= true', 12, '= or !='],
    ['downloads > [1,2]', 10, '= or !='],
    ['name IN []', 9, 'a value'],
    ['name IN [a', 10, ', or ]'],
    ['name IN a', 8, 'a list in [ ]'],
    ['name == a', 6, 'a value'],
    ['name = "a', 7, 'a closing "'],
    ['name NOT a', 9, 'IN or EXISTS'],
    ['^(.*)+$', 0, 'a field or an operator'],
    ['🎮=1', 0, 'a field or an operator'],
    ['AND', 0, 'a field, NOT or ('],
    ['name="\u0000" \u0000', 9, 'a field or an operator'],
  ]
  for (const [text, position, expected] of cases) {
    const { details, description } = problem(() => parse(text))
    assert.deepEqual([details.position, details.expected, details.field], [position, expected, 'new_filters'], text)
    assert.match(description, /^new_filters: .* at position \d+, expected /u)
  }
})

test('size, depth, parts, values, comparisons and groups are limited', () => {
  const repeat = (text: string, count: number, joint: string) => Array(count).fill(text).join(joint)
  const refused: [string, RegExp][] = [
    [`name="${'x'.repeat(65_536)}"`, /Longer than 65536 bytes/u],
    [`name="${'€'.repeat(22_000)}"`, /Longer than 65536 bytes/u],
    [`${'('.repeat(66)}name=a${')'.repeat(66)}`, /Nested deeper than 64/u],
    [`${'NOT '.repeat(66)}name=a`, /Nested deeper than 64/u],
    [repeat('name=a', 600, ' OR '), /More than 1024 parts/u],
    [`name IN [${repeat('a', 10_000, ',')}]`, /More than 1024 values/u],
    [Array.from({ length: 33 }, (_, i) => `downloads>${i}`).join(' OR '), /More than 32 number comparisons/u],
    [`downloads NOT IN [${Array.from({ length: 33 }, (_, i) => i)}]`, /More than 32 number comparisons/u],
    [
      Array.from({ length: 65 }, (_, i) => `(loaders=a AND game_versions!=${i})`).join(' OR '),
      /More than 64 groups with fields of versions/u,
    ],
    [
      repeat(`name IN [${Array.from({ length: 600 }, (_, i) => i)}]`, 1, '').concat(
        ` OR author IN [${Array.from({ length: 600 }, (_, i) => i)}]`,
      ),
      /1024 values in total/u,
    ],
  ]
  for (const [text, message] of refused) assert.match(problem(() => parse(text)).description, message)
  assert.equal(show(parse(`${'('.repeat(64)}name=a${')'.repeat(64)}`)), 'name=a')
  assert.equal(show(parse(repeat('name=a', 500, ' OR '))), 'name=a')
  // Many values of a version field are one group, and groups about the project alone cost little.
  assert.ok(parse(Array.from({ length: 500 }, (_, i) => `game_versions=${i}`).join(' OR ')))
  assert.ok(parse(Array.from({ length: 150 }, (_, i) => `(name=a${i} AND author=b)`).join(' OR ')))
})

test('legacy facets nest three levels, take operators and the old names', () => {
  const facets = (value: unknown) => show(parseSearchRequest({ facets: JSON.stringify(value) }).filter)
  assert.equal(facets([['categories:magic']]), 'categories=magic')
  assert.equal(
    facets([['categories:a', 'categories:b'], ['project_type:mod']]),
    '((categories=a | categories=b) & project_types=mod)',
  )
  assert.equal(facets([[['versions:1.20', 'loaders:x'], 'name:y']]), '((game_versions=1.20 & loaders=x) | name=y)')
  assert.equal(
    facets(['downloads>=5', ['title:My: great name', 'follows != 3']]),
    '(downloads>=5 & (name=My: great name | !follows=3))',
  )
  assert.equal(facets([["name:'Quiet Harbour'"], ['author:Some_One']]), '(name=Quiet Harbour & author=some-one)')
  assert.equal(
    facets([['loaders IN [a, b]', 'loaders:[c]'], ['environment EXISTS']]),
    '((loaders=a,b | loaders=c) & environment?)',
  )
  assert.equal(facets([]), '()')
  assert.equal(facets([[], [[]]]), '()')
  for (const bad of [
    {},
    [1],
    [[1]],
    [[['a:b', ['c:d']]]],
    [['nonsense']],
    [['name:']],
    [['wrong:x']],
    [['downloads:x']],
    null,
    'x',
  ])
    problem(() => facets(bad))
  assert.equal(problem(() => parseSearchRequest({ facets: '[["a:b"' })).details.field, 'facets')
  assert.match(problem(() => facets([['name:a'], ['name:b', 'wrong:x']])).description, /position 2/u)
})

test('facets, new_filters, filters and version are one conjunction', () => {
  const { filter } = parseSearchRequest({
    new_filters: 'name=a',
    filters: 'versions=b',
    version: 'loaders=c',
    facets: '[["license:d"]]',
  })
  assert.equal(show(filter), '(name=a & game_versions=b & loaders=c & license=d)')
})

test('paging, order and types of the request are checked', () => {
  assert.deepEqual(parseSearchRequest({}), {
    text: '',
    filter: { kind: 'and', children: [] },
    sort: 'relevance',
    offset: 0,
    limit: 10,
  })
  assert.deepEqual(parseSearchRequest({ query: 'x', limit: '100', offset: 7, index: 'date_created' }), {
    text: 'x',
    filter: { kind: 'and', children: [] },
    sort: 'newest',
    offset: 7,
    limit: 100,
  })
  const bad = [
    { limit: 0 },
    { limit: 101 },
    { limit: '1.5' },
    { limit: -1 },
    { limit: 'ten' },
    { limit: true },
    { limit: '' },
    { offset: -1 },
    { offset: 0.5 },
    { offset: '1e3' },
    { index: 'toString' },
    { index: 'best' },
    { query: 5 },
    { query: 'x'.repeat(1025) },
    { query: '😀'.repeat(1025) },
    { facets: {} },
    { facets: [7] },
  ]
  for (const request of bad) problem(() => parseSearchRequest(request))
  assert.equal(parseSearchRequest({ query: '😀'.repeat(1024) }).text.length, 2048)
  assert.equal(show(parseSearchRequest({ facets: [['name:x', ['name:y']]] }).filter), '(name=x | name=y)')
})

const PIECES = [
  'name',
  '=',
  '!=',
  '>',
  '(',
  ')',
  '[',
  ']',
  ',',
  '"',
  "'",
  '`',
  '\\',
  ' AND ',
  ' or ',
  ' NOT ',
  ' IN ',
  ' EXISTS',
  '5',
  'true',
  '\0',
  '🎮',
  '\ud800',
  '.*',
  'downloads',
  ' ',
]
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join('')),
)

test('no text crashes a parser: it is read, or rejected with a position', () => {
  const { FUZZ_RUNS = '2000' } = process.env
  fc.assert(
    fc.property(anyText, fc.constantFrom('new_filters', 'facets', 'filters', 'version'), (text, parameter) => {
      try {
        parseSearchRequest({ [parameter]: text })
        if (parameter === 'facets') parseSearchRequest({ facets: JSON.stringify([[text], [[[text]]]]) })
      } catch (error) {
        assert.ok(error instanceof ApiError && error.kind === 'invalid_input', String(error))
        assert.match(error.message, /at position \d+/u)
      }
    }),
    { numRuns: Number(FUZZ_RUNS) },
  )
})

test('reads or rejects hostile expressions of 64 KiB immediately', () => {
  for (const unit of [
    '(',
    '[',
    'NOT ',
    'name=',
    '"',
    '\\',
    'name=a OR ',
    'downloads>1 AND ',
    '((name=a) or ',
    '[[',
    '"a",',
    '\ud83c',
  ]) {
    const text = unit.repeat(Math.floor(65_000 / unit.length))
    for (const parameter of ['new_filters', 'facets']) {
      const before = process.threadCpuUsage().user
      // `name=name=…` is legal: it searches for a long name.
      if (unit !== 'name=' || parameter === 'facets') problem(() => parseSearchRequest({ [parameter]: text }))
      assert.ok((process.threadCpuUsage().user - before) / 1000 < 2000, `${parameter} ${unit}`)
    }
  }
})
