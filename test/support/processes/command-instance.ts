// An instance for tests of commands: a migrated database, a folder for its data, and an organization.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { testDatabase } from '#test/support/app/database.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { commandHere } from './command-here.ts'

/** Creates an instance, which is removed after the tests of the file. `owner` is the slug of the organization. */
export async function commandInstance() {
  const database = await testDatabase()
  after(() => database.close())
  const folder = await mkdtemp(join(tmpdir(), 'depot-command-'))
  after(() => rm(folder, { recursive: true, force: true }))
  const env = { DATABASE_URL: database.connectionString, DATA_DIR: join(folder, 'data') }
  // Creates the data folder.
  assert.equal((await commandHere(['migrate'], env)).code, 0)
  const make = createFactories({ db: database.db, files: undefined as never, now: Date.now })
  const { slug: owner } = await teamFactories(database.db).organization(await make.account())
  return { database, folder, make, owner, run: (...args: string[]) => commandHere(args, env) }
}
