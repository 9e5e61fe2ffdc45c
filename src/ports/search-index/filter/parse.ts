// The filter language of `new_filters`, `filters` and `version`, by recursive descent:
//
//   or        = and { OR and }
//   and       = unary { AND unary }
//   unary     = NOT unary | '(' or ')' | predicate
//   predicate = field ( EXISTS | NOT EXISTS | [NOT] IN list | ( = | != ) ( value | list ) | ( < | <= | > | >= ) value )
//   list      = '[' value { ',' value } [ ',' ] ']'
import {
  checkFilterSize,
  type FilterSource,
  filterError,
  MAX_FILTER_DEPTH,
  MAX_FILTER_NODES,
  MAX_FILTER_VALUES,
  quoted,
} from './filter-error.ts'
import { createPredicate, resolveField, type WrittenValue } from './predicate.ts'
import { type Token, tokenize } from './tokenize.ts'
import type { Expression } from './tree.ts'

type Parser = { readonly tokens: readonly Token[]; readonly source: FilterSource; next: number; nodes: number }

/**
 * Parses one expression; returns undefined for blank text.
 * @throws ApiError `invalid_input` with the position and the expected token, also if a limit is exceeded.
 */
export function parseFilter(text: string, source: FilterSource): Expression | undefined {
  checkFilterSize(text, source)
  const parser: Parser = { tokens: tokenize(text, source), source, next: 0, nodes: 0 }
  if (peek(parser).kind === 'end') return undefined
  const expression = parseGroup(parser, 'or', 0)
  if (peek(parser).kind !== 'end') throw unexpected(parser, 'AND, OR or the end')
  return expression
}

function parseGroup(parser: Parser, kind: 'and' | 'or', depth: number): Expression {
  const parseChild = () => (kind === 'or' ? parseGroup(parser, 'and', depth) : parseUnary(parser, depth))
  const children = [parseChild()]
  while (takeKeyword(parser, kind)) {
    countNode(parser)
    children.push(parseChild())
  }
  return children.length === 1 && children[0] !== undefined ? children[0] : { kind, children }
}

function parseUnary(parser: Parser, depth: number): Expression {
  if (depth > MAX_FILTER_DEPTH)
    throw filterError(parser.source, peek(parser).position, `Nested deeper than ${MAX_FILTER_DEPTH}`, 'fewer levels')
  countNode(parser)
  if (takeKeyword(parser, 'not')) return { kind: 'not', child: parseUnary(parser, depth + 1) }
  if (!takeMark(parser, '(')) return parsePredicate(parser)
  const inner = parseGroup(parser, 'or', depth + 1)
  if (!takeMark(parser, ')')) throw unexpected(parser, 'AND, OR or )')
  return inner
}

function parsePredicate(parser: Parser): Expression {
  const name = peek(parser)
  if ((name.kind !== 'word' && name.kind !== 'quoted') || isKeyword(name)) throw unexpected(parser, 'a field, NOT or (')
  const field = resolveField(name.text, name.position, parser.source)
  parser.next += 1
  if (takeKeyword(parser, 'exists')) return { kind: 'exists', field, negated: false }
  const start = peek(parser)
  const negated = takeKeyword(parser, 'not')
  if (negated && takeKeyword(parser, 'exists')) return { kind: 'exists', field, negated: true }
  if (takeKeyword(parser, 'in')) {
    const operator = { text: negated ? '!=' : '=', position: start.position }
    return createPredicate(field, operator, parseList(parser), parser.source)
  }
  if (negated) throw unexpected(parser, 'IN or EXISTS')
  if (start.kind !== 'operator') throw unexpected(parser, 'an operator')
  parser.next += 1
  const isList = peek(parser).kind === 'mark' && peek(parser).text === '['
  return createPredicate(field, start, isList ? parseList(parser) : [parseValue(parser)], parser.source)
}

function parseList(parser: Parser): WrittenValue[] {
  if (!takeMark(parser, '[')) throw unexpected(parser, 'a list in [ ]')
  const values = [parseValue(parser)]
  while (takeMark(parser, ',')) {
    if (peek(parser).kind === 'mark' && peek(parser).text === ']') break
    values.push(parseValue(parser))
    if (values.length > MAX_FILTER_VALUES)
      throw filterError(parser.source, peek(parser).position, `More than ${MAX_FILTER_VALUES} values`, 'fewer values')
  }
  if (!takeMark(parser, ']')) throw unexpected(parser, ', or ]')
  return values
}

function parseValue(parser: Parser): WrittenValue {
  const token = peek(parser)
  if (token.kind !== 'bare' && token.kind !== 'quoted') throw unexpected(parser, 'a value')
  parser.next += 1
  return { text: token.text, quoted: token.kind === 'quoted', position: token.position }
}

function peek(parser: Parser): Token {
  // The last token is `end`, which nothing consumes.
  return parser.tokens[parser.next] as Token
}

function isKeyword(token: Token): boolean {
  return token.kind === 'word' && /^(?:and|or|not|in|exists)$/iu.test(token.text)
}

function takeKeyword(parser: Parser, keyword: string): boolean {
  const token = peek(parser)
  if (token.kind !== 'word' || token.text.toLowerCase() !== keyword) return false
  parser.next += 1
  return true
}

function takeMark(parser: Parser, mark: string): boolean {
  const token = peek(parser)
  if (token.kind !== 'mark' || token.text !== mark) return false
  parser.next += 1
  return true
}

function countNode(parser: Parser): void {
  parser.nodes += 1
  if (parser.nodes <= MAX_FILTER_NODES) return
  throw filterError(parser.source, peek(parser).position, `More than ${MAX_FILTER_NODES} parts`, 'a shorter expression')
}

function unexpected(parser: Parser, expected: string): Error {
  const token = peek(parser)
  const problem = token.kind === 'end' ? 'Unexpected end' : `Unexpected ${quoted(token.text)}`
  return filterError(parser.source, token.position, problem, expected)
}
