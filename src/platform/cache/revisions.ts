// Rejects an edit that is based on an outdated revision, with the state that the editor has not seen.
import { ApiError } from '#lib/errors.ts'
import { createEntityCache, type EntityCache } from './entity-cache.ts'

/** Field of the error: the header that contains the revision. */
const IF_MATCH = 'if-match'

/** Thrown inside a transaction. `withCurrentState` turns it into the error for the client. */
class OutdatedRevision extends Error {}

/**
 * Requires that a row, which the caller has locked, still has the revision that the editor has seen. Without an expected
 * revision, every revision is right.
 */
export function requireRevision({ revision }: { revision: number }, expected: number | undefined): void {
  if (expected !== undefined && revision !== expected) throw new OutdatedRevision()
}

/**
 * Runs an edit that calls `requireRevision`.
 * @param read returns the view of the current state for the editor. It reads from the database, because the cache of this
 * process might not have heard yet of the change.
 * @throws ApiError `conflict` with the current state, or null if the editor cannot read it.
 */
export async function withCurrentState<Reader extends { cache: EntityCache }, T>(
  reader: Reader,
  edit: () => Promise<T>,
  read: (reader: Reader) => Promise<unknown>,
): Promise<T> {
  try {
    return await edit()
  } catch (error) {
    if (!(error instanceof OutdatedRevision)) throw error
  }
  const current = await read(withoutCache(reader)).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return null
    throw error
  })
  const message = 'is not the current revision'
  throw new ApiError('conflict', `The resource has changed: if-match ${message}`, {
    details: { field: IF_MATCH, message, current },
  })
}

/** Whether `withCurrentState` threw the error because of an outdated revision. */
export const isOutdated = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.kind === 'conflict' && error.details?.['field'] === IF_MATCH

/** Returns the same dependencies with an empty cache, which reads the current state from the database. */
export const withoutCache = <Reader extends { cache: EntityCache }>(reader: Reader): Reader => ({
  ...reader,
  cache: createEntityCache({ maxBytes: 1 }),
})
