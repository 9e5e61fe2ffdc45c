// Converts a text to OpenSearch queries whose score is the class of relevance.
import { foldWords, isShort, queryTerms } from '../fold.ts'
import { firstLetterCost, MAX_TYPOS, MAX_WORDS_FOR_TYPOS, typosAllowed } from '../typo-rules.ts'
import { prefixKey } from './documents.ts'

export type Query = Readonly<Record<string, unknown>>

/** The limit of Lucene is 1,000 bytes; a character has at most 3 bytes. */
const MAX_PREFIX_LENGTH = 300

export type TextQueries = {
  /** Scores: exact slug 5, exact name 4, name that differs in its spaces 3, name prefix or alias 2, all words by prefix 1. */
  readonly exact: Query
  /** One typo scores higher than two, and a similar whole name half a typo higher. Used only if nothing in the whole catalogue matches exactly. */
  readonly typos: Query | undefined
}

/** Returns undefined for a text without words. */
export function textQueries(text: string): TextQueries | undefined {
  const words = foldWords(text)
  if (words.length === 0) return undefined
  const terms = queryTerms(words)
  return {
    exact: exactQuery(words, terms),
    typos: terms.length > MAX_WORDS_FOR_TYPOS ? undefined : typoQuery(words, terms),
  }
}

function exactQuery(words: readonly string[], terms: readonly string[]): Query {
  const spaced = words.join(' ')
  const joined = words.join('')
  const all = { bool: { filter: terms.map(startsWith) } }
  // One word also finds names that are written as several words.
  const name = words.length > 1 ? 'name' : 'joined_name'
  const written = words.length > 1 ? spaced : joined
  return best([
    scored(term('slug', spaced), 5),
    scored(term(name, written), 4),
    // `WorldEdit` counts as exactly `world edit`, because it contains both words. `Carpet` for `car pet` comes after that.
    scored({ bool: { filter: [term('joined_name', joined), all] } }, 4),
    scored(term('joined_name', joined), 3),
    ...beginsWith(name, written, 2),
    scored(term('aliases', joined), 2),
    scored(all, 1),
  ])
}

/**
 * Each word scores one more than the maximum number of typos, minus its typos, so that the sum gives the typos of the
 * query. Documents without typos do not exist when this query is used.
 */
function typoQuery(words: readonly string[], terms: readonly string[]): Query {
  const perfect = (MAX_TYPOS + 1) * terms.length
  const each = { bool: { must: terms.map(nearTerm) } }
  const joined = words.join('')
  // An extra space is one typo: `town crier` for a name of one word.
  const spaces =
    words.length < 2
      ? []
      : [scored(term('slug', joined), perfect - 1), ...beginsWith('joined_name', joined, perfect - 1)]
  // A similar whole name comes before similar words with as many typos.
  const whole = scored(fuzzyTerm('joined_name', joined, MAX_TYPOS, 0), 0.5)
  const query = { bool: { must: [best([each, ...spaces])], should: [whole] } }
  return { function_score: { query, min_score: perfect - MAX_TYPOS } }
}

/** Matches the word with 0, 1 and 2 typos. */
function nearTerm(word: string): Query {
  const allowed = typosAllowed(word)
  const ways = [scored(startsWith(word), MAX_TYPOS + 1)]
  for (let typos = 1; typos <= allowed; typos += 1)
    ways.push(scored({ bool: { should: withTypos(word, typos, firstLetterCost(allowed)) } }, MAX_TYPOS + 1 - typos))
  return best(ways)
}

/** Matches terms, and prefixes of longer terms, with at most this many typos. */
function withTypos(word: string, typos: number, firstCost: number): Query[] {
  if (firstCost === 1) return fuzzy(word, typos, 0)
  // A typo in the first letter counts as two.
  return [...fuzzy(word, typos, 1), ...(typos > 1 ? fuzzy(word, typos - 1, 0) : [])]
}

function fuzzy(word: string, fuzziness: number, exactLetters: number): Query[] {
  const letters = [...word]
  const last = letters.at(-1) ?? ''
  const prefixes = Array.from({ length: fuzziness + 1 }, (_, longer) =>
    fuzzyTerm('long_prefixes', prefixKey(word, last, letters.length + longer), fuzziness, exactLetters + 2),
  )
  return [fuzzyTerm('terms', word, fuzziness, exactLetters), ...prefixes]
}

function fuzzyTerm(field: string, value: string, fuzziness: number, prefix_length: number): Query {
  return { fuzzy: { [field]: { value, fuzziness, prefix_length, transpositions: true, rewrite: 'constant_score' } } }
}

/** Matches names with the prefix, up to the maximum length of a prefix. */
function beginsWith(field: string, written: string, boost: number): Query[] {
  return written.length > MAX_PREFIX_LENGTH ? [] : [scored(prefix(field, written), boost)]
}

function startsWith(word: string): Query {
  return isShort(word) ? term('short_prefixes', word) : prefix('terms', word)
}

function term(field: string, value: string): Query {
  return { term: { [field]: value } }
}

function prefix(field: string, value: string): Query {
  return { prefix: { [field]: { value, rewrite: 'constant_score' } } }
}

function scored(filter: Query, boost: number): Query {
  return { constant_score: { filter, boost } }
}

function best(queries: readonly Query[]): Query {
  return { dis_max: { queries } }
}
