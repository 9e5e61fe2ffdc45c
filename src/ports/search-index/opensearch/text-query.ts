// What was typed, as OpenSearch queries whose score is the class of relevance.
import { foldWords, queryTerms } from '../fold.ts'
import { firstLetterCost, MAX_TYPOS, MAX_WORDS_FOR_TYPOS, typosAllowed } from '../typo-rules.ts'
import { beginningKey, isShort } from './terms.ts'

export type Query = Readonly<Record<string, unknown>>

/** Lucene takes up to 1000 bytes of a beginning; a character of these has at most three. */
const MAX_PREFIX_LENGTH = 300

export type TextQueries = {
  /** Exact slug 4, exact name 3, beginning of the name 2, all words by their beginning 1. */
  readonly exact: Query
  /** One typo scores higher than two. Asked only when nothing in the whole catalogue is exact. */
  readonly typos: Query | undefined
}

/** Undefined when the text asks for nothing. */
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
  // Words typed as one also find names that are written as several.
  const name = words.length > 1 ? 'name' : 'joined_name'
  const written = words.length > 1 ? spaced : joined
  return best([
    scored(term('slug', spaced), 4),
    scored(term(name, written), 3),
    // `WorldEdit` is exactly `world edit`, whose words it has inside; `Carpet` is not `car pet`.
    scored({ bool: { filter: [term('joined_name', joined), all] } }, 3),
    ...beginsWith(name, written, 2),
    scored(all, 1),
  ])
}

/**
 * Each word scores one more than the typos it may have in all, less those it has; the sum then tells the typos of the
 * query. What has none at all does not exist when this is asked.
 */
function typoQuery(words: readonly string[], terms: readonly string[]): Query {
  const perfect = (MAX_TYPOS + 1) * terms.length
  const each = { bool: { must: terms.map(nearTerm) } }
  const joined = words.join('')
  // A space too many is one typo: `town crier` for a name written in one word.
  const spaces =
    words.length < 2
      ? []
      : [scored(term('slug', joined), perfect - 1), ...beginsWith('joined_name', joined, perfect - 1)]
  return { function_score: { query: best([each, ...spaces]), min_score: perfect - MAX_TYPOS } }
}

/** The word with no, one and two typos. */
function nearTerm(word: string): Query {
  const allowed = typosAllowed(word)
  const ways = [scored(startsWith(word), MAX_TYPOS + 1)]
  for (let typos = 1; typos <= allowed; typos += 1) {
    ways.push(scored({ bool: { should: withTypos(word, typos, firstLetterCost(allowed)) } }, MAX_TYPOS + 1 - typos))
  }
  return best(ways)
}

/** Whole terms, and the beginnings of longer ones, that far from the word or nearer. */
function withTypos(word: string, typos: number, firstCost: number): Query[] {
  if (firstCost === 1) return fuzzy(word, typos, 0)
  // A typo in the first letter takes another one's place.
  return [...fuzzy(word, typos, 1), ...(typos > 1 ? fuzzy(word, typos - 1, 0) : [])]
}

function fuzzy(word: string, fuzziness: number, kept: number): Query[] {
  const letters = [...word]
  const last = letters.at(-1) ?? ''
  const beginnings = Array.from({ length: fuzziness + 1 }, (_, longer) =>
    fuzzyTerm('long_beginnings', beginningKey(word, last, letters.length + longer), fuzziness, kept + 2),
  )
  return [fuzzyTerm('terms', word, fuzziness, kept), ...beginnings]
}

function fuzzyTerm(field: string, value: string, fuzziness: number, prefix_length: number): Query {
  return { fuzzy: { [field]: { value, fuzziness, prefix_length, transpositions: true, rewrite: 'constant_score' } } }
}

/** Names that begin so; nobody types more than that of one. */
function beginsWith(field: string, written: string, boost: number): Query[] {
  return written.length > MAX_PREFIX_LENGTH ? [] : [scored(prefix(field, written), boost)]
}

function startsWith(word: string): Query {
  return isShort(word) ? term('short_beginnings', word) : prefix('terms', word)
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
