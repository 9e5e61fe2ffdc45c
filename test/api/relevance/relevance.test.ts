// Search relevance: fixed queries on a fixed catalogue must reach a minimum score.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { parseSearchRequest } from '#features/reading/search/requests.ts'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import { makeDocument } from '#test/conformance/search-index/tools.ts'

/** The current score. A change must not lower it; if a change raises it, raise this value too. */
const FLOOR = { meanReciprocalRank: 0.981, inFirstThree: 0.987 }
/** A wanted hit further down counts as absent. */
const DEPTH = 20

type Row = [slug: string, name: string, summary: string, author: string, downloads: number]
type Query = [text: string, wantedSlug: string]

const fixture = async (name: string) =>
  JSON.parse(await readFile(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'))

test('the wanted project comes first as often as before', async (t) => {
  const rows: Row[] = await fixture('catalogue')
  const queries: Query[] = await fixture('queries')
  assert.ok(rows.length >= 3000 && queries.length >= 150)
  const index = await openEmbeddedSearchIndex()
  t.after(() => index.close())
  const changes = rows.map(([slug, name, summary, author, downloads], i) => {
    const id = i.toString(36).padStart(8, '0')
    return {
      kind: 'upsert',
      sequence: i + 1,
      document: makeDocument(slug, { id, name, summary, author, downloads }),
    } as const
  })
  for (let i = 0; i < changes.length; i += 1000) await index.apply(changes.slice(i, i + 1000))

  const misses: string[] = []
  let reciprocalRanks = 0
  let inFirstThree = 0
  for (const [text, wanted] of queries) {
    const { body } = await index.search(parseSearchRequest({ query: text, limit: DEPTH }))
    const slugs: string[] = JSON.parse(Buffer.from(body).toString()).hits.map((hit: { slug: string }) => hit.slug)
    const rank = slugs.indexOf(wanted) + 1
    if (rank > 0) reciprocalRanks += 1 / rank
    if (rank > 0 && rank <= 3) inFirstThree += 1
    if (rank !== 1)
      misses.push(
        `${JSON.stringify(text)} wants ${wanted}, which is ${rank || 'absent'}; first is ${slugs[0] ?? 'nothing'}`,
      )
  }
  const score = { meanReciprocalRank: reciprocalRanks / queries.length, inFirstThree: inFirstThree / queries.length }
  t.diagnostic(`${queries.length} queries over ${rows.length} projects: ${JSON.stringify(score)}`)
  for (const miss of misses) t.diagnostic(miss)
  assert.ok(score.meanReciprocalRank >= FLOOR.meanReciprocalRank, misses.join('\n'))
  assert.ok(score.inFirstThree >= FLOOR.inFirstThree, misses.join('\n'))
})

/** Names of real projects with their downloads, and how people type them. */
type Named = [slug: string, name: string, downloads: number, queries: string[]]
/** Minimum proportion of the queries for a name whose first hit is the project. */
const NAMES_FLOOR = 0.99

test('a name is found first, however people type it', async (t) => {
  const rows: Row[] = await fixture('catalogue')
  const names: Named[] = await fixture('names')
  const queries = names.flatMap(([slug, , , typed]) => typed.map((text) => ({ text, slug })))
  assert.ok(names.filter(([, , , typed]) => typed.length > 0).length >= 60 && queries.length >= 200)
  const index = await openEmbeddedSearchIndex()
  t.after(() => index.close())
  const all: Row[] = [
    ...rows,
    ...names.map(([slug, name, downloads]): Row => [slug, name, 'A project.', 'maker', downloads]),
  ]
  const changes = all.map(([slug, name, summary, author, downloads], i) => {
    const id = i.toString(36).padStart(8, '0')
    const document = makeDocument(slug, { id, name, summary, author, downloads })
    return { kind: 'upsert', sequence: i + 1, document } as const
  })
  for (let i = 0; i < changes.length; i += 1000) await index.apply(changes.slice(i, i + 1000))
  const misses: string[] = []
  for (const { text, slug } of queries) {
    const { body } = await index.search(parseSearchRequest({ query: text, limit: 1 }))
    const first = JSON.parse(Buffer.from(body).toString()).hits[0]?.slug ?? 'nothing'
    if (first !== slug) misses.push(`${JSON.stringify(text)} wants ${slug}; first is ${first}`)
  }
  t.diagnostic(`${queries.length} queries for ${names.length} names: ${misses.length} misses`)
  assert.ok(1 - misses.length / queries.length >= NAMES_FLOOR, misses.join('\n'))
})
