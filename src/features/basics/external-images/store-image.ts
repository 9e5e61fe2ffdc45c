// Stores the result of a fetch.
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, removeLater, withClaims } from '#ports/files/claims.ts'
import type { Fetched } from './fetch-image.ts'
import { retryMs } from './freshness.ts'
import { imageIdOf, isBlocked, lockExternalImage } from './queries.ts'

/** Prefix of the keys of cached images. */
const KEYS = 'external/'

type StoreDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'log' | 'now'>

/** The URL was blocked while Depot fetched its image. */
class BlockedMeanwhile extends Error {}

/**
 * Stores an image, or notes the failure. A copy stays while its source fails, and is removed when the source no longer has
 * an image.
 */
export async function storeImage(deps: StoreDeps, url: string, fetched: Fetched): Promise<void> {
  try {
    if (fetched.outcome === 'image') await storeCopy(deps, url, fetched)
    else await transaction(deps, (tx) => updateRow(tx, deps, { url, fetched }))
  } catch (error) {
    if (!(error instanceof BlockedMeanwhile)) throw error
  }
}

async function storeCopy(deps: StoreDeps, url: string, fetched: Fetched & { outcome: 'image' }): Promise<void> {
  const { bytes, ext, contentType } = fetched.image
  // Each copy has a new key: servers that fetch the same image at the same time do not replace each other's file.
  const key = `${KEYS}${newId()}${newId()}.${ext}`
  await withClaims(deps, {
    keys: [key],
    store: () => deps.files.put(key, bytes, { contentType }),
    commit: () =>
      transaction(deps, async (tx) => {
        await updateRow(tx, deps, { url, fetched, key })
        await dropClaims(tx, [key])
      }),
  })
}

async function updateRow(
  tx: Tx,
  { now }: Pick<Deps, 'now'>,
  { url, fetched, key }: { url: string; fetched: Fetched; key?: string },
): Promise<void> {
  const id = imageIdOf(url)
  const at = new Date(now())
  const { storage_key, failures } = await lockExternalImage(tx, { id, url, fresh_until: at, last_used: at })
  if (await isBlocked(tx, id)) throw new BlockedMeanwhile()
  const columns = columnsOf(fetched, { key, failures, at })
  await tx.updateTable('external_image').set(columns).where('id', '=', id).execute()
  if (storage_key !== null && 'storage_key' in columns) await removeLater(tx, [storage_key])
}

function columnsOf(fetched: Fetched, { key, failures, at }: { key: string | undefined; failures: number; at: Date }) {
  const after = (ms: number): Date => new Date(at.getTime() + ms)
  const failure = { failures: failures + 1, fresh_until: after(retryMs(failures + 1)) }
  if (fetched.outcome === 'failed') return failure
  if (fetched.outcome === 'absent')
    return { ...failure, storage_key: null, content_type: null, size_bytes: 0, source_etag: null }
  const success = { failures: 0, fetched: at, fresh_until: after(fetched.freshMs) }
  if (fetched.outcome === 'unchanged' || key === undefined) return success
  const { image, etag } = fetched
  const { contentType: content_type, bytes } = image
  return { ...success, storage_key: key, content_type, size_bytes: bytes.byteLength, source_etag: etag }
}
