import { type FilesConfig, IMAGE_KEYS, imageUrl } from '#features/basics/images/hosted-image.ts'
import type { Deps } from '#ports/deps.ts'
import type { SearchAnswer, SearchQuery } from '#ports/search-index/search-index.ts'

/** Members of a hit with keys of images. Within a string, JSON escapes the quotes. No key contains a bracket. */
const MEMBERS = /"(?:icon_url|featured_gallery)":"[^"]+|"gallery":\["[^\]]+/g

/** Searches one page. The index contains keys of images, so that it does not depend on the base URL. @throws as the index */
export async function searchProjects(
  { search, config }: Pick<Deps, 'search'> & { config: FilesConfig },
  query: SearchQuery,
  caller?: string,
): Promise<SearchAnswer> {
  const { body, totalHits } = await search.search(query, caller)
  // One character per byte, which is faster than UTF-8. Keys and URLs are ASCII.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
  const base = imageUrl(config, IMAGE_KEYS)
  const shown = text.replace(MEMBERS, (member) => member.replaceAll(`"${IMAGE_KEYS}`, `"${base}`))
  return { body: Buffer.from(shown, 'latin1'), totalHits }
}
