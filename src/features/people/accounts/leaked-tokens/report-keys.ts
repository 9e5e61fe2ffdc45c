// The public keys with which a code host signs its reports of leaked tokens.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { ApiError } from '#lib/errors.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'

const CACHED_MS = DAY_MS
/** Minimum time between two requests for the keys, so that reports with invented keys cause few requests. */
const COOLDOWN_MS = MINUTE_MS
const KEYS_MAX = 100

export type ReportKeys = { isSigned(body: Buffer, signature: { keyId: string; value: string }): Promise<boolean> }

/** @param url address of a JSON document `{public_keys: [{key_identifier, key, is_current}]}` with keys as PEM. */
export function createReportKeys(url: string, now: () => number): ReportKeys {
  let keys = new Map<string, KeyObject>()
  let loadedAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  const find = async (id: string): Promise<KeyObject | undefined> => {
    const isFresh = now() - loadedAt < CACHED_MS
    if ((isFresh && keys.has(id)) || now() - triedAt < COOLDOWN_MS) return keys.get(id)
    triedAt = now()
    try {
      keys = toKeys(await readJsonWithin(url))
      loadedAt = now()
    } catch (cause) {
      throw new ApiError('external_service_error', 'The keys of the code host cannot be read', { cause })
    }
    return keys.get(id)
  }
  return {
    isSigned: async (body, { keyId, value }) => {
      const key = await find(keyId)
      return key !== undefined && verify('sha256', body, { key, dsaEncoding: 'der' }, Buffer.from(value, 'base64'))
    },
  }
}

function toKeys(document: unknown): Map<string, KeyObject> {
  const { public_keys: list } = document as { public_keys?: unknown }
  if (!Array.isArray(list)) throw new Error('The document has no list public_keys')
  const keys = new Map<string, KeyObject>()
  for (const { key_identifier, key, is_current } of list.slice(0, KEYS_MAX)) {
    if (is_current !== true || typeof key_identifier !== 'string' || typeof key !== 'string') continue
    const parsed = createPublicKey(key)
    if (parsed.asymmetricKeyType === 'ec') keys.set(key_identifier, parsed)
  }
  return keys
}
