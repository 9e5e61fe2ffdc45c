// Secrets that all processes on one database share and that outlive each of them.
import { randomBytes } from 'node:crypto'
import type { Db } from './db.ts'

/** The 32 bytes kept under `name`; made when there are none yet. Processes that ask at once get the same. */
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
  if (made === undefined) throw new Error(`The secret ${name} has gone`)
  return made.secret
}
