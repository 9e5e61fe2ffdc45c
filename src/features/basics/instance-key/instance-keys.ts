// The keys of the instance: webhooks and exports are signed with the current one, and mirrors recognise the instance by it.
import { randomBytes } from 'node:crypto'
import type { Deps } from '#ports/deps.ts'
import { publicKeyOf, signWith } from './key-texts.ts'
import { findCurrentKey, insertFirstKey, type KeyRow, listValidKeys, type NewKey } from './queries.ts'
import { openSecret, sealSecret } from './seal-secret.ts'

export type KeyDeps = Pick<Deps, 'db' | 'now'>

const SEED_BYTES = 32

/** Returns the Ed25519 signature (64 bytes) of the current key. Creates the first key if necessary. */
export async function signWithInstanceKey(deps: KeyDeps, bytes: Buffer): Promise<Buffer> {
  return signWith(await openPrivateKey(deps, await getCurrentKey(deps)), bytes)
}

/** Returns the valid keys, newest first. Creates the first key if necessary. */
export async function listInstanceKeys(deps: KeyDeps): Promise<KeyRow[]> {
  await getCurrentKey(deps)
  return listValidKeys(deps.db, new Date(deps.now()))
}

export async function getCurrentKey(deps: KeyDeps): Promise<KeyRow> {
  const found = await findCurrentKey(deps.db)
  if (found !== undefined) return found
  await insertFirstKey(deps.db, { ...(await newKey(deps)), signature: null })
  const created = await findCurrentKey(deps.db)
  if (created === undefined) throw new Error('The database has no current key of the instance')
  return created
}

/** Returns a key to store; `seed` is random unless the operator imports a key. */
export async function newKey(
  deps: KeyDeps,
  seed: Buffer = randomBytes(SEED_BYTES),
): Promise<Omit<NewKey, 'signature'>> {
  const publicKey = publicKeyOf(seed)
  const sealed = await sealSecret(deps, seed, contextOf(publicKey))
  return { public_key: publicKey, private_key: sealed, since: new Date(deps.now()) }
}

/** @throws SecretLostError */
export function openPrivateKey(
  deps: Pick<Deps, 'db'>,
  { public_key, private_key }: Pick<KeyRow, 'public_key' | 'private_key'>,
): Promise<Buffer> {
  return openSecret(deps, private_key, contextOf(public_key))
}

const contextOf = (publicKey: Buffer): string => `instance-key:${publicKey.toString('hex')}`
