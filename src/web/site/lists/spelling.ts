// Recognises results for other words than the typed ones. The index searches for typos only if nothing matches the text.
import { editDistance } from '#lib/text/edit-distance.ts'
import { documentWords, foldWords, queryTerms } from '#ports/search-index/fold.ts'
import type { Hit } from './rows.ts'

/** Number of hits whose words can replace a misspelt word. */
const HITS_READ = 5

/**
 * Returns the text with the nearest words of the first hits in place of words that no hit contains; undefined if the first
 * hit matches the text as typed.
 */
export function correctedText(text: string, hits: readonly Hit[]): string | undefined {
  const words = foldWords(text)
  const [first, ...others] = hits.slice(0, HITS_READ).map(wordsOf)
  if (words.length === 0 || first === undefined) return undefined
  const has = (word: string) => queryTerms([word]).every((term) => first.terms.some((other) => other.startsWith(term)))
  const misspelt = words.filter((word) => !has(word))
  // A name that differs in its spaces does not count as misspelt.
  if (misspelt.length === 0 || [first.name, first.slug].some((name) => name.startsWith(words.join(''))))
    return undefined
  const candidates = [first, ...others].flatMap(({ terms }) => terms)
  return words.map((word) => (misspelt.includes(word) ? nearest(word, candidates) : word)).join(' ')
}

function wordsOf({ name, slug, author, summary }: Hit): { name: string; slug: string; terms: string[] } {
  const words = documentWords({ name, slug, author, summary })
  return { name: words.name.join(''), slug: words.slug.join(''), terms: [...words.terms] }
}

/** Returns the candidate with the fewest edits. A word that is still being typed counts as the beginning of a candidate. */
function nearest(word: string, candidates: readonly string[]): string {
  const distances = candidates.map((term) => ({
    term,
    edits: Math.min(editDistance(word, term), editDistance(word, term.slice(0, word.length)) + 0.5),
  }))
  return distances.reduce((best, each) => (each.edits < best.edits ? each : best), {
    term: word,
    edits: word.length / 2 + 1,
  }).term
}
