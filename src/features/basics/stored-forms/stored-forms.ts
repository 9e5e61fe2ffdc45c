// Forms that were sent after the session had expired: stored under a one-time key until the user has signed in again.
import { sql } from 'kysely'
import { hashToken, newSecret } from '#lib/access/tokens.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'

/** Maximum number of forms of an IP address. A new form deletes the oldest, so that requests cannot fill the table. */
const FORMS_MAX = 10
/** Maximum size of a form, in characters of its JSON. */
const FORM_LENGTH_MAX = 256 * 1024
/** Fields that are never stored. */
const SECRET = /^_csrf$|password|secret|token|(^|_)code$/i

/** Fields of a form in the order of their first value. */
export type StoredFields = Record<string, string | string[]>

/** Returns the fields of a form without secrets and files. */
export function fieldsToKeep(body: unknown): StoredFields {
  const fields: StoredFields = {}
  if (typeof body !== 'object' || body === null) return fields
  for (const [name, value] of Object.entries(body)) {
    if (SECRET.test(name) || name === 'do') continue
    const texts = [value].flat().filter((text): text is string => typeof text === 'string')
    const [only] = texts
    if (only !== undefined) fields[name] = texts.length === 1 ? only : texts
  }
  return fields
}

type Form = {
  /** Secret in a cookie of the browser. */
  browser: string
  path: string
  now: number
}

/** Stores a form for an hour. Returns its one-time key; undefined if the form is too large. */
export async function storeForm(
  db: Db,
  { browser, path, now, caller, fields }: Form & { caller: string; fields: StoredFields },
): Promise<string | undefined> {
  const json = JSON.stringify(fields)
  if (json.length > FORM_LENGTH_MAX) return undefined
  const { secret, hash } = newSecret()
  await db
    .insertInto('stored_form')
    .values({
      key_hash: hash,
      browser_hash: hashToken(browser),
      caller,
      path,
      fields: json,
      expires: new Date(now + HOUR_MS),
    })
    .execute()
  await sql`delete from stored_form where caller = ${caller} and key_hash in (
    select key_hash from stored_form where caller = ${caller}
    order by expires desc, (key_hash = ${hash}) desc offset ${FORMS_MAX})`.execute(db)
  return secret
}

/** Returns and deletes the form of this key, browser and path; undefined if there is none or it has expired. */
export async function takeForm(
  db: Db,
  { key, browser, path, now }: Form & { key: string },
): Promise<StoredFields | undefined> {
  const row = await db
    .deleteFrom('stored_form')
    .where('key_hash', '=', hashToken(key))
    .where('browser_hash', '=', hashToken(browser))
    .where('path', '=', path)
    .where('expires', '>', new Date(now))
    .returning('fields')
    .executeTakeFirst()
  return row?.fields as StoredFields | undefined
}
