// The key in an emailed link with which a user continues a sign-up. It proves that they read the email address. Nothing is stored:
// only this instance can compute the key.
import { createHmac } from 'node:crypto'
import { secretsEqual } from '#lib/access/tokens.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { instanceSecret } from '#platform/db/instance-secret.ts'

const LIFETIME_MS = DAY_MS

/** Returns a key for an email address, which is valid for 24 hours. */
export function makeEmailKey(db: Db, email: string, now: number): Promise<string> {
  return keyAt(db, email, now + LIFETIME_MS)
}

/** Returns whether a key belongs to an email address and has not expired. */
export async function isEmailKey(
  db: Db,
  key: string,
  { email, now }: { email: string; now: number },
): Promise<boolean> {
  const expires = Number.parseInt(key.split('.')[0] ?? '', 36)
  return expires > now && secretsEqual(key, await keyAt(db, email, expires))
}

async function keyAt(db: Db, email: string, expires: number): Promise<string> {
  const secret = await instanceSecret(db, 'sign-up')
  const mac = createHmac('sha256', secret).update(`${expires} ${email.toLowerCase()}`).digest('base64url')
  return `${expires.toString(36)}.${mac}`
}
