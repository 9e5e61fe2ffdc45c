// Iterators over lists that the server divides into pages, and lookups of many IDs.
import { LISTS } from './generated/tables.ts'
import type { Args, Data, PathOf } from './operations.ts'

export type ListPath = keyof typeof LISTS & PathOf<'get'>

/** The items of a list: the response itself, or the property of it that contains them. */
export type Item<Path extends ListPath> =
  Data<Path, 'get'> extends readonly (infer One)[]
    ? One
    : Data<Path, 'get'> extends { [Key in NonNullable<(typeof LISTS)[Path]['items']>]: readonly (infer One)[] }
      ? One
      : never

/** Paths of GET operations that take IDs. */
export type ManyPath = {
  [Path in PathOf<'get'>]: Args<Path, 'get'>[0] extends { params: { query: { ids: unknown } } }
    ? Data<Path, 'get'> extends readonly unknown[]
      ? Path
      : never
    : never
}[PathOf<'get'>]

export type Lists = {
  /** Iterates over the pages of a list, as the server returns them. `limit` or `count` is the size of a page. */
  pages<Path extends ListPath>(path: Path, ...args: Args<Path, 'get'>): AsyncGenerator<Data<Path, 'get'>, void>
  /** Iterates over all items of a list and requests pages as they are needed. */
  items<Path extends ListPath>(path: Path, ...args: Args<Path, 'get'>): AsyncGenerator<Item<Path>, void>
  /** Returns items by their IDs in the order of `ids`, with one request per 1,000 IDs. Unknown and hidden ones are left out. */
  many<Path extends ManyPath>(path: Path, ids: readonly string[]): Promise<Data<Path, 'get'>>
}

/** `link` is the header, which has the cursor of the next page if the response itself is the list. */
type Get = (path: string, init: Record<string, unknown>) => Promise<{ data: unknown; link: string | null }>
type Init = { params?: { query?: Record<string, unknown> } }

const IDS_PER_REQUEST = 1000

export function makeLists(get: Get): Lists {
  return {
    pages: ((path: ListPath, init: Init = {}) => readPages(get, path, init)) as unknown as Lists['pages'],
    items: ((path: ListPath, init: Init = {}) => readItems(get, path, init)) as unknown as Lists['items'],
    many: (async (path: string, ids: readonly string[]) => {
      const found: unknown[] = []
      for (let start = 0; start < ids.length; start += IDS_PER_REQUEST) {
        const query = { ids: ids.slice(start, start + IDS_PER_REQUEST) }
        found.push(...((await get(path, { params: { query } })).data as unknown[]))
      }
      return found
    }) as unknown as Lists['many'],
  }
}

async function* readItems(get: Get, path: ListPath, init: Init): AsyncGenerator<unknown, void> {
  for await (const page of readPages(get, path, init)) yield* itemsOf(path, page)
}

function itemsOf(path: ListPath, page: unknown): unknown[] {
  const { items } = LISTS[path]
  return (items === null ? page : (page as Record<string, unknown>)[items]) as unknown[]
}

async function* readPages(get: Get, path: ListPath, init: Init): AsyncGenerator<unknown, void> {
  const { by, start, size, max } = LISTS[path]
  const query = init.params?.query ?? {}
  const pageSize = typeof query[size] === 'number' ? query[size] : max
  let position = query[start]
  for (;;) {
    const params = { ...init.params, query: { ...query, [size]: pageSize, [start]: position } }
    const { data: page, link } = await get(path, { ...init, params })
    yield page
    const count = itemsOf(path, page).length
    const next = {
      next: nextOf(page),
      link: cursorOf(link),
      offset: count < pageSize ? null : Number(position ?? 0) + count,
    }[by]
    if (next === null || next === position) return
    position = next
  }
}

const nextOf = (page: unknown): unknown => (page as { next?: unknown }).next ?? null
const cursorOf = (link: string | null): string | null =>
  /<([^<>]*)>; rel="next"/.exec(link ?? '')?.[1]?.match(/[?&]cursor=([^&]+)/)?.[1] ?? null
