// The two newest recorded releases are upgraded to the present one, which then answers what the release answered. An upgrade of
// an older release applies the migrations of these, and `test/rules/migrations.test.ts` proves that they have not changed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyInstance } from '#features/operation/backup/verify-instance.ts'
import { depot, ENTRY, startDepot } from '#test/support/processes/running-depot.ts'
import { answersTo, countEvents, differences, listFiles } from '#test/upgrades/recorded-answers.ts'
import { type OpenInstance, withInstance } from '#test/upgrades/recorded-instance.ts'
import {
  addedMigrations,
  listRecordings,
  RECORDINGS_MAX,
  type Recording,
  readRecording,
  unpack,
} from '#test/upgrades/recording.ts'
import { describeSchema } from '../../../scripts/describe-schema.ts'

const SCHEMA = join(import.meta.dirname, '../../../docs/generated/schema.sql')
/** Each part of the upgrade is interrupted: the start of the database, the migrations, and the end. */
const KILLS = 6

async function withUnpacked(name: string, act: (dataDir: string) => Promise<void>): Promise<void> {
  const { dataDir, remove } = unpack(name)
  try {
    await act(dataDir)
  } finally {
    remove()
  }
}

/**
 * Responses about the program and its default tags, which later releases extend, and the audit log, to which an upgrade adds
 * entries.
 */
const OF_THE_PROGRAM = [
  '/docs/openapi.json',
  '/docs/v2/openapi.json',
  '/.well-known/oauth-authorization-server',
  '/.well-known/depot-publishing',
  '/.well-known/depot.json',
  '/client.tgz',
  '/v3/games',
  '/_internal/admin/tags',
  '/_internal/admin/audit-log',
  '/_internal/admin/audit-log/export',
]

/** The newest game version, which projects of a recording do not support, is also in the data files. */
const isNewGameVersion = (address: string, difference: string): boolean =>
  /^\/v3\/user\/\w+\/attention$/.test(address) &&
  /^\/items\/\d+\/quote: "\d+\.\d[\d.]*" instead of "\d+\.\d[\d.]*"$/.test(difference)

/** Kinds of emails that users without a choice receive since they were recorded. */
const isNewEmailDefault = (address: string, difference: string): boolean =>
  /^\/v3\/user\/\w+\/notification-settings$/.test(address) &&
  /^\/email\/(version_quarantined|content_taken_down): true instead of false$/.test(difference)

/** Compares what the instance answers, and its files and events, with the recording. */
async function assertSame(
  { deps, client }: OpenInstance,
  recording: Recording,
  callers = Object.keys(recording.callers),
): Promise<void> {
  await deps.search.caughtUp()
  const found: string[] = []
  for (const caller of callers) {
    const token = recording.callers[caller]
    const recorded = recording.answers[caller] ?? {}
    const present = await answersTo(client(token ?? undefined), Object.keys(recorded))
    for (const [address, answer] of Object.entries(recorded)) {
      if (OF_THE_PROGRAM.includes(address)) continue
      const now = present[address]
      assert.ok(now !== undefined)
      const different = differences(answer, now).filter(
        (text) => !isNewGameVersion(address, text) && !isNewEmailDefault(address, text),
      )
      found.push(...different.map((text) => `${caller} ${address}: ${text}`))
    }
  }
  assert.deepEqual(found, [])
  assert.deepEqual(await listFiles(deps), recording.files)
  const events = await countEvents(deps)
  for (const [kind, count] of Object.entries(recording.events)) assert.equal(events[kind], count, kind)
}

test('the newest releases are recorded', () => {
  const { length } = listRecordings()
  assert.ok(length > 0 && length <= RECORDINGS_MAX, `${length} recordings`)
})

for (const name of listRecordings()) {
  const added = await addedMigrations(name)
  describe(`Depot ${name}`, () => {
    const recording = readRecording(name)

    test('an upgrade keeps every answer, file and event, and ends with the schema of a new instance', () =>
      withUnpacked(name, async (dataDir) => {
        await withInstance(dataDir, recording.time, async (instance) => {
          assert.deepEqual(instance.migrations, added)
          assert.ok(Object.keys(recording.answers['visitor'] ?? {}).length > 200)
          await assertSame(instance, recording)
          assert.equal(await describeSchema(instance.deps.pool), readFileSync(SCHEMA, 'utf8'))
          const verified = await verifyInstance(instance.deps, { canReadEvents: true })
          assert.deepEqual(
            verified.listed.filter(({ what }) => what !== 'wrong-counter' && what !== 'unused-file'),
            [],
          )
        })
      }))

    test('`depot serve` starts on the folder, and the former sessions remain valid', () =>
      withUnpacked(name, async (dataDir) => {
        const server = await startDepot(dataDir)
        try {
          const open = () =>
            fetch(`${server.url}/`, { headers: { accept: 'text/html', 'user-agent': 'upgrade-test/1.0' } })
          let home = await open()
          // Until the search index is open.
          while (home.status === 503) home = await open()
          assert.equal(home.status, 200)
          assert.match(await home.text(), /Recorded/)
        } finally {
          assert.equal(await server.stop(), 0)
        }
        assert.equal((await depot(dataDir, ['migrate', '--json'])).stdout, '{"applied":[]}\n')
      }))
  })
}

// The upgrade of the oldest release applies the migrations of all others.
const [oldest = ''] = listRecordings()
test(`an upgrade that is killed at ${KILLS} moments loses nothing`, {
  skip: (await addedMigrations(oldest)).length === 0 && 'it applies no migrations',
}, async () => {
  const recording = readRecording(oldest)
  const durationMs = await durationOfUpgrade(oldest)
  for (let i = 0; i < KILLS; i += 1) {
    await withUnpacked(oldest, async (dataDir) => {
      await killAfter(migrating(dataDir), (durationMs * (i + Math.random())) / KILLS)
      // The admin sees everything.
      await withInstance(dataDir, recording.time, (instance) => assertSame(instance, recording, ['admin']))
    })
  }
})

function migrating(dataDir: string): ChildProcess {
  const { DATABASE_URL: _, TEST_DATABASE_URL: __, ...env } = process.env
  return spawn(process.execPath, [ENTRY, 'migrate'], { env: { ...env, DATA_DIR: dataDir }, stdio: 'ignore' })
}

async function durationOfUpgrade(name: string): Promise<number> {
  const startedAt = performance.now()
  await withUnpacked(name, async (dataDir) => void (await once(migrating(dataDir), 'exit')))
  return performance.now() - startedAt
}

async function killAfter(child: ChildProcess, ms: number): Promise<void> {
  const ended = once(child, 'exit')
  await Promise.race([sleep(ms, undefined, { ref: false }), ended])
  child.kill('SIGKILL')
  await ended
}
