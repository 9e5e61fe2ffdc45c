// Records the data folder of the present commit for `test/upgrades/`:
//   node_modules/.bin/node test/upgrades/record.ts NAME
// The folder has rows in every table and files of every kind. Run it once for each release, before its tag. It deletes all
// but the two newest recordings.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { sql } from 'kysely'
import { VERSION } from '#platform/config/version.ts'
import { readMigrations } from '#platform/db/migration-files.ts'
import { everyAddress } from '#test/support/http/every-response.ts'
import { LINES_FILE, productLines, totalOf } from '../../scripts/product-lines.ts'
import { fillInstance, listEmptyTables } from './fill-instance.ts'
import { answersTo, countEvents, listFiles } from './recorded-answers.ts'
import { type OpenInstance, withInstance } from './recorded-instance.ts'
import { DESCRIPTIONS, listRecordings, pathOf, RECORDINGS_MAX, type Recording } from './recording.ts'

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** Returns what the instance contains and answers. */
async function describe(instance: OpenInstance, time: number, callers: Recording['callers']): Promise<Recording> {
  const { deps, client } = instance
  const addresses = await everyAddress(deps.db)
  const answers: Recording['answers'] = {}
  for (const [name, token] of Object.entries(callers))
    answers[name] = await answersTo(client(token ?? undefined), addresses)
  const failed = Object.entries(answers).flatMap(([caller, all]) =>
    Object.keys(all).flatMap((address) => ((all[address]?.status ?? 0) >= 500 ? `${caller} ${address}` : [])),
  )
  if (failed.length > 0) throw new Error(`Requests that failed: ${failed.join(', ')}`)
  const commit = git('rev-parse', 'HEAD')
  return {
    version: VERSION,
    commit,
    time,
    callers,
    answers,
    events: await countEvents(deps),
    files: await listFiles(deps),
  }
}

/** Removes the parts of the write-ahead log that no start needs, because they do not compress. */
async function startNewLog({ deps }: OpenInstance): Promise<string> {
  await sql`vacuum full`.execute(deps.db)
  await sql`select pg_switch_wal()`.execute(deps.db)
  await sql`checkpoint`.execute(deps.db)
  const { rows } = await sql<{ name: string }>`select pg_walfile_name(pg_current_wal_lsn()) as name`.execute(deps.db)
  return rows[0]?.name ?? ''
}

function trimLog(dataDir: string, kept: string): void {
  const folder = join(dataDir, 'postgres/pg_wal')
  for (const name of readdirSync(folder)) {
    if (/^[0-9A-F]{24}$/.test(name) && name !== kept) rmSync(join(folder, name))
  }
}

/** Size of the window of the compression: the whole folder. */
const WINDOW_BITS = 24

function compress(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

async function record(name: string): Promise<void> {
  const changed = git('status', '--porcelain', '--', 'src', 'migrations', 'demo', 'taxonomy')
  if (changed !== '') throw new Error(`The program differs from its commit:\n${changed}`)
  const dataDir = mkdtempSync(join(tmpdir(), 'depot-record-'))
  chmodSync(dataDir, 0o711)
  const time = Date.now()
  const { admin, person } = await withInstance(dataDir, time, fillInstance)
  // Again, because the samples were written around the caches.
  const { recording, log } = await withInstance(dataDir, time, async (instance) => {
    await instance.deps.search.caughtUp()
    const described = await describe(instance, time, { visitor: null, user: person.token, admin: admin.token })
    const empty = await listEmptyTables(instance.deps.db)
    if (empty.length > 0) throw new Error(`Tables without rows: ${empty.join(', ')}`)
    return { recording: described, log: await startNewLog(instance) }
  })
  trimLog(dataDir, log)
  mkdirSync(pathOf(name), { recursive: true })
  const tar = execFileSync('tar', ['-c', '--numeric-owner', '--sort=name', '-C', dataDir, '.'], { maxBuffer: 2 ** 30 })
  writeFileSync(join(pathOf(name), 'data.tar.br'), compress(tar))
  writeFileSync(join(pathOf(name), 'answers.json.br'), compress(Buffer.from(JSON.stringify(recording))))
  rmSync(dataDir, { recursive: true, force: true })
  const released = (await readMigrations()).map((migration) => `${migration.checksum}  ${migration.name}\n`)
  writeFileSync(join(pathOf(name), 'migrations.sha256'), released.join(''))
  const generated = join(import.meta.dirname, '../../docs/generated')
  copyFileSync(join(generated, 'schema.sql'), join(pathOf(name), 'schema.sql'))
  for (const file of DESCRIPTIONS)
    writeFileSync(join(pathOf(name), `${file}.br`), compress(readFileSync(join(generated, file))))
  writeFileSync(join(pathOf(name), LINES_FILE), `${totalOf(productLines())}\n`)
  for (const older of listRecordings().slice(0, -RECORDINGS_MAX)) rmSync(pathOf(older), { recursive: true })
  for (const file of readdirSync(pathOf(name))) console.log(`${file}: ${statSync(join(pathOf(name), file)).size} bytes`)
}

const [name = ''] = process.argv.slice(2)
if (!/^[\w.-]+$/.test(name)) throw new Error('Name the recording, for example 1.0.0')
await record(name)
