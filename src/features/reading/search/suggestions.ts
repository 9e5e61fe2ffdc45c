// Suggestions while a user types: projects, users and tags that begin with or match the text.

import type { Static } from 'typebox'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { listUsersByPrefix } from '#features/people/users/queries.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import { foldWords } from '#ports/search-index/fold.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { searchProjects } from './search-projects.ts'
import type { SearchResult, Suggestions } from './views.ts'

type SuggestionDeps = Pick<Deps, 'search' | 'dbRead' | 'taxonomy' | 'config' | 'cache'>
type Found = Static<typeof Suggestions>
type Tag = Found['tags'][number]

const PROJECTS_MAX = 5
const USERS_MAX = 3
const TAGS_MAX = 4

/** Many users type the same words. */
const SUGGESTIONS = defineCache<RememberDefinition<Found>>({
  name: 'suggestions',
  contains: 'Suggestions for a text in the search field',
  maxAgeMs: 10_000,
  maxBytes: 4 * MIB,
  sizeOf: (found) => 2 * JSON.stringify(found).length,
})

/**
 * Returns the suggestions for a text; nothing for a text without letters and digits. `caller` identifies the client.
 * @throws ApiError as the index
 */
export function findSuggestions(deps: SuggestionDeps, text: string, caller: string): Promise<Found> {
  const typed = text.trim().toLowerCase()
  if (foldWords(typed).length === 0) return Promise.resolve({ projects: [], users: [], tags: [] })
  return deps.cache.remember(SUGGESTIONS).get(typed, async () => {
    const [projects, users] = await Promise.all([
      findProjects(deps, typed, caller),
      listUsersByPrefix(deps.dbRead, typed, USERS_MAX),
    ])
    return {
      projects,
      users: users.map((user) => ({ ...user, avatar_url: imageUrl(deps.config, user.avatar_url) })),
      tags: findTags(deps.taxonomy, typed),
    }
  })
}

async function findProjects(deps: SuggestionDeps, text: string, caller: string): Promise<Found['projects']> {
  const query = { text, filter: EVERYTHING, sort: 'relevance', offset: 0, limit: PROJECTS_MAX } as const
  const { body } = await searchProjects(deps, query, caller)
  const { hits } = JSON.parse(Buffer.from(body).toString()) as Static<typeof SearchResult>
  return hits.map(({ project_id, slug, name, project_types, icon_url, color }) => ({
    id: project_id,
    slug: slug ?? project_id,
    name,
    project_types,
    icon_url,
    color,
  }))
}

/** Finds the tags with words that begin with the typed words. The order puts an exact match first. */
function findTags(taxonomy: Taxonomy, text: string): Tag[] {
  const typed = foldWords(text)
  const versions = offered(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])
  const all: Tag[] = [
    ...offered(taxonomy.categories).map(({ name }) => ({ name, kind: 'category' as const })),
    ...offered(taxonomy.loaders.values()).map(({ name }) => ({ name, kind: 'loader' as const })),
    ...versions
      .filter(({ metadata }) => metadata?.['type'] === 'release')
      .map(({ value }) => ({ name: value, kind: 'game_version' as const })),
  ]
  const unique = [...new Map(all.map((tag) => [`${tag.kind} ${tag.name}`, tag])).values()]
  const matches = ({ name, kind }: Tag): boolean => {
    if (kind === 'game_version') return name.startsWith(text)
    const words = foldWords(name)
    return (
      words.join('').startsWith(typed.join('')) || typed.every((word) => words.some((other) => other.startsWith(word)))
    )
  }
  return unique
    .filter(matches)
    .sort((a, b) => Number(b.name === text) - Number(a.name === text))
    .slice(0, TAGS_MAX)
}
