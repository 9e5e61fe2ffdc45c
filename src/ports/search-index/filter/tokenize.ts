// Splits a filter expression into tokens. At the position of a value, bare text extends to a space, comma, bracket or
// parenthesis. At other positions, a bare word is a field or a keyword.
import { type FilterSource, filterError, quoted } from './filter-error.ts'

export type Token = {
  /** `word`: bare field or keyword; `bare`: bare value; `quoted`: either; `mark`: one of `( ) [ ] ,`. */
  readonly kind: 'word' | 'bare' | 'quoted' | 'operator' | 'mark' | 'end'
  readonly text: string
  readonly position: number
}

const SPACE = /\s+/uy
const WORD = /[A-Za-z_.][A-Za-z0-9_.]*/uy
const BARE = /[^\s,()[\]"'`=<>!][^\s,()[\]]*/uy
const OPERATOR = /!=|<=|>=|=|<|>/uy

/** @throws ApiError `invalid_input` at the first character that cannot begin a token, or at an unclosed quote. */
export function tokenize(text: string, source: FilterSource): Token[] {
  const tokens: Token[] = []
  let position = 0
  let listDepth = 0
  let valueNext = false
  for (;;) {
    position += matchAt(SPACE, text, position)?.length ?? 0
    if (position >= text.length) break
    const token = readToken(text, position, valueNext || listDepth > 0, source)
    tokens.push(token.token)
    position = token.end
    if (token.token.kind === 'mark' && token.token.text === '[') listDepth += 1
    if (token.token.kind === 'mark' && token.token.text === ']') listDepth = Math.max(0, listDepth - 1)
    valueNext = token.token.kind === 'operator'
  }
  tokens.push({ kind: 'end', text: '', position: text.length })
  return tokens
}

function readToken(
  text: string,
  position: number,
  valueNext: boolean,
  source: FilterSource,
): { token: Token; end: number } {
  const first = text.charAt(position)
  if ('()[],'.includes(first)) return { token: { kind: 'mark', text: first, position }, end: position + 1 }
  if ('"\'`'.includes(first)) return readQuoted(text, position, source)
  const operator = valueNext ? undefined : matchAt(OPERATOR, text, position)
  if (operator !== undefined) {
    return { token: { kind: 'operator', text: operator, position }, end: position + operator.length }
  }
  const word = matchAt(valueNext ? BARE : WORD, text, position)
  if (word !== undefined) {
    return { token: { kind: valueNext ? 'bare' : 'word', text: word, position }, end: position + word.length }
  }
  const character = String.fromCodePoint(text.codePointAt(position) ?? 0)
  throw filterError(
    source,
    position,
    `Unexpected ${quoted(character)}`,
    valueNext ? 'a value' : 'a field or an operator',
  )
}

/** Reads text between two equal quotes. A backslash escapes the next character. */
export function readQuoted(text: string, position: number, source: FilterSource): { token: Token; end: number } {
  const quote = text.charAt(position)
  let value = ''
  for (let i = position + 1; i < text.length; i += 1) {
    const char = text.charAt(i)
    if (char === quote) return { token: { kind: 'quoted', text: value, position }, end: i + 1 }
    if (char === '\\') i += 1
    value += text.charAt(i)
  }
  throw filterError(source, position, 'Unclosed quote', `a closing ${quote}`)
}

function matchAt(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0]
}
