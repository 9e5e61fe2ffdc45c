// Encrypts secrets that Depot needs in plain, such as those of webhooks. The key is a secret of the instance, which backups
// contain only if they are encrypted. An unencrypted backup therefore does not reveal these secrets.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { instanceSecret } from '#platform/db/instance-secret.ts'
import type { Deps } from '#ports/deps.ts'

type SealDeps = Pick<Deps, 'db'>

const FORMAT = 1
const KEY_ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES

/** Error for a secret that was encrypted with a key that this database does not have: it was restored without its keys. */
export class SecretLostError extends Error {
  override name = 'SecretLostError'

  constructor() {
    super('The secret was encrypted with a key of the instance that was lost in a restore. Renew the secret.')
  }
}

/** `context` names the use and the row of the secret. The secret can only be opened with the same context. */
export async function sealSecret({ db }: SealDeps, plain: Buffer, context: string): Promise<Buffer> {
  const root = await rootKey(db)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', derive(root, `secret ${context}`, 32), nonce, {
    authTagLength: TAG_BYTES,
  })
  const head = Buffer.concat([Buffer.from([FORMAT]), keyIdOf(root)])
  cipher.setAAD(Buffer.concat([head, Buffer.from(context)]))
  return Buffer.concat([head, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/**
 * Returns the plain secret.
 * @throws SecretLostError if the key of the instance was lost.
 * @throws Error if the secret was changed, or sealed for another context.
 */
export async function openSecret({ db }: SealDeps, sealed: Buffer, context: string): Promise<Buffer> {
  const root = await rootKey(db)
  const head = sealed.subarray(0, HEAD_BYTES)
  if (sealed[0] !== FORMAT) throw new Error('The secret has a format that this version of Depot does not know')
  if (!head.subarray(1).equals(keyIdOf(root))) throw new SecretLostError()
  const nonce = sealed.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES)
  const content = sealed.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES)
  const cipher = createDecipheriv('aes-256-gcm', derive(root, `secret ${context}`, 32), nonce, {
    authTagLength: TAG_BYTES,
  })
  cipher.setAAD(Buffer.concat([head, Buffer.from(context)]))
  cipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([cipher.update(content), cipher.final()])
}

const rootKey = (db: SealDeps['db']): Promise<Buffer> => instanceSecret(db, 'secrets')

/** Identifies the key without revealing it. */
const keyIdOf = (root: Buffer): Buffer => derive(root, 'key id', KEY_ID_BYTES)

function derive(root: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', root, '', `depot ${purpose}`, bytes))
}
