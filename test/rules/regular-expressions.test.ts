// `npm run lint` checks every regular expression of the product. This is a test of the check.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemOfExpression } from '../../scripts/regular-expressions/check-expression.ts'
import { findExpressions } from '../../scripts/regular-expressions/find.ts'

test('rejects expressions that need quadratic time, and no others', () => {
  const quadratic = [
    /^([^?]*?)\/+(\?.*)?$/s,
    /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu,
    /^\s*([^\s;]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?\s*$/i,
    /^(?:'?([a-z_]+)'?\s*(:|!=|=))?\s*(.+)$/,
    /\/+$/,
  ]
  for (const { source, flags } of quadratic)
    assert.match(problemOfExpression(source, flags) ?? 'safe', /2nd degree polynomial/, source)
  for (const { source, flags } of [/^[a-z]+$/, /^'?([a-z_]+)'?\s*(:|!=|=)/])
    assert.equal(problemOfExpression(source, flags), null, source)
})

test('finds literals, calls of RegExp, patterns of schemas, and constants of other files', () => {
  const found = findExpressions()
  const sourcesIn = (file: string) => found.filter(({ where }) => where.startsWith(file)).map(({ source }) => source)
  assert.ok(sourcesIn('src/features/exchange/webhooks/address.ts').some((source) => source?.includes('discordapp')))
  assert.ok(sourcesIn('src/lib/text/text-rules.ts').includes('^[A-Za-z0-9._-]{3,64}$'))
  assert.ok(sourcesIn('src/taxonomy/file-rules.ts').includes('^\\d{4}-\\d{2}-\\d{2}$'))
  assert.ok(sourcesIn('src/features/people/users/requests.ts').includes('^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,39}$'))
  assert.ok(sourcesIn('src/web/ui/assets/').length > 0)
  assert.ok(sourcesIn('docs/generated/openapi.json').length > 10)
})
