// Stores secrets that all processes on one database share and that survive restarts.
import { randomBytes } from 'node:crypto'
import type { Db } from './db.ts'

/** Returns the 32 bytes of the secret `name`, and creates them if necessary. Concurrent calls return the same secret. */
export async function instanceSecret(db: Db, name: string): Promise<Buffer> {
  const read = () => db.selectFrom('instance_secret').select('secret').where('name', '=', name).executeTakeFirst()
  const known = await read()
  if (known !== undefined) return known.secret
  const values = { name, secret: randomBytes(32) }
  await db
    .insertInto('instance_secret')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const made = await read()
  if (made === undefined) throw new Error(`The secret ${name} is missing from the database`)
  return made.secret
}
