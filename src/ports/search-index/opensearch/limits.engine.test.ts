// Filters at the limits of the filter language, which OpenSearch must answer or reject as the client's error.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import { FIELDS } from '../filter/fields.ts'
import { normalize } from '../filter/normalize.ts'
import type { Expression, Filter } from '../filter/tree.ts'
import { openOpenSearchIndex } from './opensearch-search-index.ts'

const engine = await startOpenSearch()
const skip = typeof engine === 'string' ? engine : false
after(() => (typeof engine === 'string' ? undefined : engine.stop()))

function equals(name: string, value: string): Expression {
  const field = FIELDS.get(name)
  assert.ok(field)
  return { kind: 'equals', field, values: [value], negated: false }
}

/** AND and OR in turn, `depth` deep. */
function deep(depth: number): Expression {
  let filter = equals('loaders', 'drift')
  for (let i = 0; i < depth; i += 1)
    filter = { kind: i % 2 === 0 ? 'and' : 'or', children: [filter, equals('game_versions', `1.${i}`)] }
  return filter
}

/** Alternatives of a project's and a version's field, `count` of them in one conjunction. */
function mixed(count: number): Expression {
  const children = Array.from({ length: count }, (_, i): Expression => {
    return { kind: 'or', children: [equals('license', `L${i}`), equals('loaders', `l${i}`)] }
  })
  return { kind: 'and', children }
}

/** Groups that cannot be united, with two clauses each. */
function wide(count: number): Expression {
  const children = Array.from({ length: count }, (_, i): Expression => {
    return { kind: 'and', children: [equals('license', `L${i}`), equals('name', `N${i}`)] }
  })
  return { kind: 'or', children }
}

test('deep, mixed and wide filters are answered, or rejected with 400 that says why', { skip }, async (t) => {
  assert.ok(typeof engine !== 'string')
  const index = openOpenSearchIndex({ url: engine.url, prefix: engine.prefix() })
  t.after(() => index.close())
  await index.rebuild(async () => ({ sequence: 1, batches: nothing() }))
  const ask = (filter: Filter) => index.search({ text: 'word', filter, sort: 'relevance', offset: 0, limit: 10 })
  const isRefusal = (error: unknown) =>
    error instanceof ApiError && error.kind === 'invalid_input' && /fewer/.test(error.message)
  for (const [what, filter, isAnswered] of [
    ['deep', deep(15), true],
    ['mixed', mixed(6), true],
    ['wide', wide(300), true],
    ['too mixed', mixed(12), false],
  ] as const) {
    const answer = ask(normalize([filter]))
    if (isAnswered) assert.equal((await answer).totalHits, 0, what)
    else await assert.rejects(answer, isRefusal, what)
  }
  for (const filter of [deep(60), wide(512)]) {
    // A setting of the cluster decides which of these filters it accepts.
    const outcome = await ask(normalize([filter])).catch((error: unknown) => error)
    assert.ok(!(outcome instanceof Error) || isRefusal(outcome), String(outcome))
  }
  // A rejection is not a failure of the engine: the next search succeeds.
  assert.equal((await ask(normalize([]))).totalHits, 0)
})

async function* nothing(): AsyncGenerator<never> {}
