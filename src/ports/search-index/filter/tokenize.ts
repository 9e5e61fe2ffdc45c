// Splits a filter expression into tokens. At the position of a value, bare text extends to a space, comma, bracket or
// parenthesis. At other positions, a bare word is a field or a keyword.
import { type FilterSource, filterError, quoted } from './filter-error.ts'

export type Token = {
  /** `word`: bare field or keyword; `bare`: bare value; `quoted`: either; `mark`: one of `( ) [ ] ,`. */
  readonly kind: 'word' | 'bare' | 'quoted' | 'operator' | 'mark' | 'end'
  readonly text: string
  readonly position: number
  /** Position after the token. */
  readonly end: number
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
    tokens.push(token)
    position = token.end
    if (token.kind === 'mark' && token.text === '[') listDepth += 1
    if (token.kind === 'mark' && token.text === ']') listDepth = Math.max(0, listDepth - 1)
    valueNext = token.kind === 'operator'
  }
  tokens.push({ kind: 'end', text: '', position: text.length, end: text.length })
  return tokens
}

function readToken(text: string, position: number, valueNext: boolean, source: FilterSource): Token {
  const first = text.charAt(position)
  if ('"\'`'.includes(first)) return readQuoted(text, position, source)
  const token = (kind: Token['kind'], found: string): Token => ({
    kind,
    text: found,
    position,
    end: position + found.length,
  })
  if ('()[],'.includes(first)) return token('mark', first)
  const operator = valueNext ? undefined : matchAt(OPERATOR, text, position)
  if (operator !== undefined) return token('operator', operator)
  const word = matchAt(valueNext ? BARE : WORD, text, position)
  if (word !== undefined) return token(valueNext ? 'bare' : 'word', word)
  const character = String.fromCodePoint(text.codePointAt(position) ?? 0)
  const expected = valueNext ? 'a value' : 'a field or an operator'
  throw filterError(source, position, `Unexpected ${quoted(character)}`, expected)
}

/** Reads text between two equal quotes. A backslash escapes the next character. */
export function readQuoted(text: string, position: number, source: FilterSource): Token {
  const quote = text.charAt(position)
  let value = ''
  for (let i = position + 1; i < text.length; i += 1) {
    const char = text.charAt(i)
    if (char === quote) return { kind: 'quoted', text: value, position, end: i + 1 }
    if (char === '\\') i += 1
    value += text.charAt(i)
  }
  throw filterError(source, position, 'Unclosed quote', `a closing ${quote}`)
}

function matchAt(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0]
}
