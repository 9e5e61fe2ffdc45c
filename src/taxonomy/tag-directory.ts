// Keeps the taxonomy of this process up to date with the lists that operators have edited.
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { TagLists } from './tag-lists.ts'
import { indexTaxonomy, type LoadedTaxonomy, type Taxonomy } from './taxonomy.ts'
import { withTagLists } from './taxonomy-files.ts'

/** A command that edits a list must call `changed.addAll` with this kind. */
const TAG_KIND = 'tags'
/** Pause after a failed load. */
const RETRY_MS = 1_000

export type TagDirectory = {
  /** Applies the lists as they are now. */
  refresh(): Promise<void>
  /** Apply the lists after a change. */
  subscribers: readonly InvalidationSubscriber[]
}

type DirectoryDeps = { db: Db; cache: EntityCache; log: Log } & Pick<LoadedTaxonomy, 'taxonomyData'> & {
    taxonomy: Taxonomy
  }

/** Starts with the lists of the files: `refresh`, or the first invalidation message, loads the edited ones. */
export function createTagDirectory({ db, cache, log, taxonomy, taxonomyData }: DirectoryDeps): TagDirectory {
  let applied = '[]'
  let loading: Promise<void> = Promise.resolve()

  const load = async (): Promise<void> => {
    const rows = await db.selectFrom('tag_list').select(['name', 'rows']).orderBy('name').execute()
    const found = JSON.stringify(rows)
    if (found === applied) return
    const lists = Object.fromEntries(rows.map(({ name, rows: list }) => [name, list])) as Partial<TagLists>
    applied = found
    try {
      // Code that has the taxonomy sees the new parts. Cached responses contain names of the old ones.
      Object.assign(taxonomy, indexTaxonomy(withTagLists(taxonomyData, lists)))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.error(
        { reason },
        'The edited tags contradict the data files of the taxonomy, so the tags of the files apply. Edit one of them',
      )
      Object.assign(taxonomy, indexTaxonomy(taxonomyData))
    }
    cache.clear()
  }
  // Loads run in sequence, so that an older result never replaces a newer one.
  const refresh = (): Promise<void> => {
    loading = loading.then(load, load)
    return loading
  }
  const refreshSoon = (): void => {
    refresh().catch((error: unknown) => {
      log.warn({ err: error }, 'Could not load the tags; the previous ones still apply')
      setTimeout(refreshSoon, RETRY_MS).unref()
    })
  }
  return { refresh, subscribers: [{ kind: TAG_KIND, handle: refreshSoon }] }
}
