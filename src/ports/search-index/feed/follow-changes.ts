// Updates an index: reads the log of changes, reads the current state of the changed projects, and applies it.

import { ApiError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { SearchDocument } from '#ports/search-index/document.ts'
import type { Catalogue, SearchChange, SearchIndex } from '#ports/search-index/search-index.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { type ChangePage, listChanges } from './changes.ts'
import { type DocumentRow, listDocumentRows, listNextDocumentRows } from './document-rows.ts'
import { toSearchDocument } from './search-document.ts'

/** Number of projects per batch, which limits the memory and the time that the event loop is blocked. */
const BATCH = 100
/** Number of projects per statement of a build: it costs the database a fifth less per project than `BATCH`. */
const BUILD_BATCH = 200

export type FeedSource = { db: Db; taxonomy: Taxonomy; log: Log }

export type Followed = Pick<ChangePage, 'snapshot' | 'requested' | 'database'> & { projects: number }

/**
 * Applies everything that was committed after the snapshot `from`, and returns the snapshot up to which the index is
 * current. Runs one statement if nothing changed, and two more per 100 projects.
 * @throws ApiError `search_error` if the index does not respond; call it again with the same `from`.
 */
export async function followChanges(source: FeedSource, index: SearchIndex, from: string): Promise<Followed> {
  let page = await listChanges(source.db, { from, limit: BATCH })
  const { snapshot, requested, database } = page
  let projects = 0
  for (;;) {
    if (page.sequence !== null) await applyStates(source, index, { ids: page.ids, sequence: page.sequence })
    projects += page.ids.length
    if (page.next === null) return { snapshot, requested, database, projects }
    page = await listChanges(source.db, { from, to: snapshot, after: page.next, limit: BATCH })
  }
}

async function applyStates(
  source: FeedSource,
  index: SearchIndex,
  { ids, sequence }: { ids: readonly string[]; sequence: number },
): Promise<void> {
  const rows = new Map((await listDocumentRows(source.db, ids)).map((row) => [row.id, row]))
  const changes = ids.map((id): SearchChange => {
    const row = rows.get(id)
    const document = row === undefined ? undefined : toDocument(source, row)
    return document === undefined ? { kind: 'delete', sequence, id } : { kind: 'upsert', sequence, document }
  })
  try {
    await index.apply(changes)
  } catch (error) {
    if (isTemporary(error) || !(await index.status()).ready) throw error
    await applyOneByOne(source.log, index, changes)
  }
}

/** A project that the index rejects must not block the others. */
async function applyOneByOne(log: Log, index: SearchIndex, changes: readonly SearchChange[]): Promise<void> {
  for (const change of changes) {
    try {
      await index.apply([change])
    } catch (error) {
      if (change.kind === 'delete' || isTemporary(error) || !(await index.status()).ready) throw error
      const { id } = change.document
      log.error({ err: error, project_id: id }, `Could not index project ${id}`)
      await index.apply([{ kind: 'delete', sequence: change.sequence, id }])
    }
  }
}

/** Whether another attempt could succeed, so that the error does not mean that the project is invalid. */
function isTemporary(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'service_unavailable'
}

function toDocument({ taxonomy, log }: FeedSource, row: DocumentRow): SearchDocument | undefined {
  try {
    return toSearchDocument(row, taxonomy)
  } catch (error) {
    log.error({ err: error, project_id: row.id }, `Could not index project ${row.id}`)
    return undefined
  }
}

/** Reads all searchable projects by ID. */
export async function* listCatalogue(source: FeedSource, isStopped: () => boolean): Catalogue['batches'] {
  const read = (after: string) => listNextDocumentRows(source.db, { after, limit: BUILD_BATCH })
  for (let next = read(''); ; ) {
    const rows = await next
    const last = rows.at(-1)
    if (last === undefined) return
    if (isStopped()) throw new Error('Depot is stopping')
    // The database reads the next batch while the index receives this one.
    next = read(last.id)
    next.catch(() => undefined)
    yield rows.flatMap((row) => toDocument(source, row) ?? [])
  }
}
