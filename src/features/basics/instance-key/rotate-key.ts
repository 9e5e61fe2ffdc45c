import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import { getCurrentKey, newKey, openPrivateKey } from './instance-keys.ts'
import { publicKeyText, rotationText, signWith } from './key-texts.ts'
import { type KeyRow, lockCurrentKey, updateKeyEnd, upsertCurrentKey } from './queries.ts'
import { SecretLostError } from './seal-secret.ts'

/** Time for which receivers find the previous key. */
const OVERLAP_MS = 90 * DAY_MS

/**
 * Replaces the current key and returns the new one, which the previous key signs. `seed`: the private key to use instead of
 * a random one.
 */
export async function rotateKey(deps: Pick<Deps, 'db' | 'now'>, actor: Actor, seed?: Buffer): Promise<KeyRow> {
  await getCurrentKey(deps)
  const key = await newKey(deps, seed)
  await deps.db.transaction().execute(async (tx) => {
    const previous = await lockCurrentKey(tx)
    if (previous?.public_key.equals(key.public_key) === true) return
    const signature = previous === undefined ? null : await signRotation({ ...deps, db: tx }, previous, key.public_key)
    if (previous !== undefined) {
      const until = Math.max(deps.now() + OVERLAP_MS, previous.since.getTime() + 1)
      await updateKeyEnd(tx, previous.id, new Date(until))
    }
    await upsertCurrentKey(tx, { ...key, signature })
    const details = {
      public_key: publicKeyText(key.public_key),
      previous: previous === undefined ? null : publicKeyText(previous.public_key),
      imported: seed !== undefined,
    }
    await recordAudit(tx, { action: 'instance_key.rotated', actor, details })
  })
  return getCurrentKey(deps)
}

/** Returns null if the previous key was lost in a restore, and so cannot sign. */
async function signRotation(deps: Pick<Deps, 'db'>, previous: KeyRow, publicKey: Buffer): Promise<Buffer | null> {
  try {
    return signWith(await openPrivateKey(deps, previous), rotationText(publicKey))
  } catch (error) {
    if (error instanceof SecretLostError) return null
    throw error
  }
}
