// How text is compared: case, accents, width, apostrophes, `-` and `_` do not count; words are what is left.

const MARKS = /[\u0300-\u036f]/gu
const DROPPED_SIGNS = /['’‘ʼ`´™®©℠]/gu
/** Letters that no decomposition takes apart. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
}
const SPECIAL = /[ßæœøłđðþıħ]/gu
const ASCII_WORD = /[a-z0-9]+/g
const CJK = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`
/** A run of CJK text, a run of other letters and digits, or one symbol such as an emoji. */
const WORD = new RegExp(
  String.raw`[${CJK}]+|[[\p{L}\p{N}]--[${CJK}]][[\p{L}\p{N}\p{M}]--[${CJK}]]*|[\p{So}\p{Extended_Pictographic}]`,
  'gv',
)
const IS_CJK = new RegExp(`^[${CJK}]`, 'u')
const CASE_CHANGE = /(\p{Ll}|\p{N})(?=\p{Lu})/gu
/** A longer word is cut: nobody types it, and an index term must have a bound. */
const MAX_WORD_LENGTH = 64

/** The words of a text, folded, in order; a CJK run is one word. */
export function foldWords(text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the fast case, control characters included.
  if (/^[\u0000-\u007f]*$/u.test(text)) return text.toLowerCase().replaceAll(/['`]/g, '').match(ASCII_WORD) ?? []
  // Decomposed to drop accents, then composed again: the marks of kana and Hangul belong to their letters.
  const folded = text
    .toWellFormed()
    .replaceAll(DROPPED_SIGNS, '')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(SPECIAL, (letter) => LETTERS[letter] ?? letter)
  return folded.match(WORD) ?? []
}

/** The words a query asks for: each must be the beginning of an indexed term. */
export function queryTerms(words: readonly string[]): string[] {
  const terms = new Set<string>()
  for (const word of words) {
    if (!IS_CJK.test(word)) terms.add(cut(word))
    else for (const gram of word.length === 1 ? [word] : bigrams(word)) terms.add(gram)
  }
  return [...terms]
}

/** The terms a text is found by: its words; of a CJK run every pair of neighbours and the last sign. */
export function indexTerms(words: readonly string[], terms: Set<string>): void {
  for (const word of words) {
    if (!IS_CJK.test(word)) terms.add(cut(word))
    else {
      for (const gram of bigrams(word)) terms.add(gram)
      terms.add([...word].at(-1) ?? word)
    }
  }
}

/** The words inside words with inner capitals (`TownCrier` → town, crier); none when there are no such words. */
export function innerWords(text: string): readonly string[] {
  CASE_CHANGE.lastIndex = 0
  return CASE_CHANGE.test(text) ? foldWords(text.replaceAll(CASE_CHANGE, '$1 ')) : []
}

function bigrams(word: string): string[] {
  const signs = [...word]
  return signs.slice(1).map((sign, i) => (signs[i] ?? '') + sign)
}

function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : word.slice(0, MAX_WORD_LENGTH).toWellFormed()
}
