// Splits text into words for comparison, without case, accents, width, apostrophes, `-` and `_`.
import type { SearchDocument } from './document.ts'

const MARKS = /[\u0300-\u036f]/gu
const DROPPED_SIGNS = /['’‘ʼ`´™®©℠]/gu
/**
 * Letters that Unicode does not decompose, and letters that look like Latin ones: names use Greek and Cyrillic letters and
 * small capitals as decoration, and users type Latin ones. Texts in these scripts match as before, because queries and
 * names are folded in the same way.
 */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' }),
  ...pairs('øłđðıħƒɑɡŋɛƶƀŧɍɨʉȷ', 'olddihfagnezbtriuj'),
  ...pairs('αβγεηικμνορτυχω', 'abyenikuvoptuxw'),
  ...pairs('авекмнорстухіјѕһԁԛԝ', 'abekmhopctyxijshdqw'),
  ...pairs('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnopqrstuvwyz'),
])
const SPECIAL = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu')
/** `&`, `+`, `'n'` and `n` between two words mean `and`. */
const AND = /(?<=[\p{L}\p{N}])(?:\s*&\s*|\+|\s+\+\s+|['’‘`]n['’‘`]|[\s_-]+['’‘`]?n['’‘`]?[\s_-]+)(?=[\p{L}\p{N}])/giu
const HAS_AND = /[&+]|(?<![a-z0-9])n(?![a-z0-9])/i
const ASCII_WORD = /[a-z0-9]+/g
/** Scripts of languages that do not put spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
/** A run of text without spaces, a run of other letters and digits, or one symbol such as an emoji. */
const WORD = new RegExp(
  String.raw`[${UNSPACED}]+|[[\p{L}\p{N}]--[${UNSPACED}]][[\p{L}\p{N}\p{M}]--[${UNSPACED}]]*|[\p{So}\p{Extended_Pictographic}]`,
  'gv',
)
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u')
/** A letter with its marks, such as vowels above or below it. */
const SIGN = /\P{M}\p{M}*|\p{M}+/gu
const CASE_CHANGE = /(\p{Ll}|\p{N})(?=\p{Lu})/gu
/** The signs between a name and its subtitle. */
const SUBTITLE = /[([{|:–—]| - /u
/** Longer words are cut, because index terms need a maximum length. */
const MAX_WORD_LENGTH = 64

function pairs(from: string, to: string): [string, string][] {
  const letters = [...to]
  return [...from].map((letter, index) => [letter, letters[index] ?? letter])
}

/** Returns the folded words of a text, in order; a run of text without spaces is one word. */
export function foldWords(written: string): readonly string[] {
  const text = HAS_AND.test(written) ? written.replaceAll(AND, ' and ') : written
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII, including control characters, is the fast case.
  if (/^[\u0000-\u007f]*$/u.test(text)) return text.toLowerCase().replaceAll(/['`]/g, '').match(ASCII_WORD) ?? []
  // Decomposed to remove accents, then composed again, because the marks of kana and Hangul are part of the letters.
  const folded = text
    .toWellFormed()
    .replaceAll(DROPPED_SIGNS, '')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(SPECIAL, (letter) => LETTERS.get(letter) ?? letter)
  return folded.match(WORD) ?? []
}

/** Returns the terms of a query. Each must be a prefix of an indexed term. */
export function queryTerms(words: readonly string[]): string[] {
  const terms = new Set<string>()
  for (const word of words) {
    if (!IS_UNSPACED.test(word)) terms.add(cut(word))
    else for (const gram of isOneSign(word) ? [word] : bigrams(word)) terms.add(gram)
  }
  return [...terms]
}

/** The texts of a document that the index folds. */
export type NamedDocument = Pick<SearchDocument, 'name' | 'other_names' | 'slug' | 'author' | 'summary'>

/** Returns the terms of a document, the words of its name and slug, and its aliases: other names without spaces. */
export function documentWords({ name, other_names, slug, author, summary }: NamedDocument): {
  name: readonly string[]
  slug: readonly string[]
  aliases: readonly string[]
  terms: ReadonlySet<string>
} {
  const words = { name: foldWords(name), slug: slug === null ? [] : foldWords(slug) }
  const others = other_names.map(foldWords)
  const terms = new Set<string>()
  for (const each of [words.name, innerWords(name), words.slug, foldWords(author), foldWords(summary), ...others])
    indexTerms(each, terms)
  for (const each of [words.name, ...others]) for (const term of joinedTerms(each)) terms.add(term)
  const aliases = new Set([...initials(name), ...others.map((each) => cut(each.join('')))])
  aliases.delete('')
  return { ...words, aliases: [...aliases], terms }
}

/**
 * Returns the abbreviations of a name of several words, and of its part before a subtitle: `ae2` for `Applied Energistics 2`.
 * Abbreviations of two letters would fit too many names.
 */
function initials(name: string): string[] {
  const [title = ''] = name.split(SUBTITLE)
  return [name, title]
    .map((text) => foldWords(text))
    .filter((words) => words.length > 1 && !words.some((word) => IS_UNSPACED.test(word)))
    .map((words) => words.map((word) => (/^\p{N}/u.test(word) ? word : String.fromCodePoint(word.codePointAt(0) ?? 0))))
    .filter((letters) => letters.length > 2 || letters.join('').length > 2)
    .map((letters) => cut(letters.join('')))
}

/**
 * Returns the terms with which a name is found if some of its words are typed together: the words from each word to the
 * end, without spaces. A query matches the start of a term, so that this covers all adjacent words.
 */
export function joinedTerms(name: readonly string[]): string[] {
  const written = name.includes('and') ? [name, name.map((word) => (word === 'and' ? 'n' : word))] : [name]
  return written.flatMap((words) =>
    words.slice(0, -1).flatMap((word, index) => {
      const rest = words.slice(index)
      const end = rest.findIndex((each) => IS_UNSPACED.test(each))
      return IS_UNSPACED.test(word) || end === 1 || word === 'and' || word.length === 1
        ? []
        : [cut(rest.slice(0, end < 0 ? undefined : end).join(''))]
    }),
  )
}

/** Adds the terms of a text: its words; of a run without spaces, each pair of adjacent signs and
 * the last sign. */
export function indexTerms(words: readonly string[], terms: Set<string>): void {
  for (const word of words) {
    if (!IS_UNSPACED.test(word)) terms.add(cut(word))
    else {
      for (const gram of bigrams(word)) terms.add(gram)
      terms.add(signsOf(word).at(-1) ?? word)
    }
  }
}

/** Returns the words of a text with inner capitals (`TownCrier` → town, crier); no words for other texts. */
export function innerWords(text: string): readonly string[] {
  CASE_CHANGE.lastIndex = 0
  return CASE_CHANGE.test(text) ? foldWords(text.replaceAll(CASE_CHANGE, '$1 ')) : []
}

function signsOf(word: string): readonly string[] {
  return word.match(SIGN) ?? []
}

const isOneSign = (word: string): boolean => signsOf(word).length === 1

function bigrams(word: string): string[] {
  const signs = signsOf(word)
  return signs.slice(1).map((sign, i) => (signs[i] ?? '') + sign)
}

function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : word.slice(0, MAX_WORD_LENGTH).toWellFormed()
}

/** Whether a term is one of the `shortPrefixes`, which are separate terms, because too many terms share them. */
export function isShort(term: string): boolean {
  return term.length <= 2 || [...term].length <= 2
}

/** Returns the prefixes of one and two letters. */
export function shortPrefixes(term: string): string[] {
  const first = String.fromCodePoint(term.codePointAt(0) ?? 0)
  if (first.length === term.length) return [first]
  return [first, first + String.fromCodePoint(term.codePointAt(first.length) ?? 0)]
}
