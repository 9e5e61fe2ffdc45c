// A restore returns exactly the content of the backup, for any instance, and rejects invalid backups completely.
import assert from 'node:assert/strict'
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import sharp from 'sharp'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, aView, batchOf } from '#test/support/factories/analytics-events.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { leaveEverything } from '#test/support/factories/full-account.ts'
import { everyAddress, everyAnswer, everyRow } from '#test/support/http/every-response.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import type { Head } from './archive/archive-format.ts'
import { openArchive } from './archive/archive-reader.ts'
import { createArchiveWriter } from './archive/archive-writer.ts'
import { fileSource } from './archive/encryption.ts'
import { readHeadOf } from './archive/open-previous.ts'
import { eventsOfStore } from './events/event-parts.ts'
import { restoreBackup } from './restore-backup.ts'
import { IMAGE_COLUMNS } from './stored-keys.ts'
import { verifyInstance } from './verify-instance.ts'
import { type BackupReport, writeBackup } from './write-backup.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-backup-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)

const backUp = (app: TestApp, path: string, since?: string): Promise<BackupReport> =>
  writeBackup(app.deps, {
    sink: createWriteStream(path),
    events: eventsOfStore(app.deps.analytics),
    version: '0.0.0-test',
    since,
  })

const restore = (app: TestApp, path: string, earlier: string[] = []) =>
  restoreBackup(app.deps, { source: createReadStream(path), earlier: earlier.map(fileSource) })

async function withApp<T>(act: (app: TestApp) => Promise<T>, options?: Parameters<typeof testApp>[0]): Promise<T> {
  const app = await testApp(options)
  try {
    return await act(app)
  } finally {
    await app.close()
  }
}

async function eventsOf({ deps }: TestApp): Promise<string[]> {
  const all: string[] = []
  for (const kind of EVENT_KINDS) await deps.analytics.readEvents(kind, async (lines) => void all.push(...lines))
  return all.sort()
}

const keysOf = async (app: TestApp): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of app.deps.files.list()) keys.push(key)
  return keys.sort()
}

/** Creates rows in every table that can refer to an account, files, images, events and jobs. */
async function fill(app: TestApp): Promise<{ admin: Person; person: Person }> {
  const { make, deps } = app
  const [admin, person, other] = [await make.account({ role: 'admin' }), await make.account(), await make.account()]
  await seedCatalogue(deps, 12)
  await leaveEverything(deps.db, person, other)
  const images = await deps.db.selectFrom('image').select(['storage_key', 'size_bytes']).execute()
  for (const { storage_key, size_bytes } of images)
    await deps.files.put(storage_key, Buffer.alloc(size_bytes), { contentType: 'image/png' })
  const later = { runAt: new Date('2099-01-02T03:04:05.678Z'), jobKey: 'a-key' }
  await deps.db.transaction().execute((tx) => enqueue(tx, 'versions.release', { version_id: 'AbCdEfGh' }, later))
  const picture = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#283' } })
    .png()
    .toBuffer()
  const sent = await app
    .as(person)
    .patch(`/v3/user/${person.id}/icon?ext=png`, picture, { headers: { 'content-type': 'image/png' } })
  assert.equal(sent.statusCode, 204, sent.body)
  const project = await make.project({ owner: person })
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const wide = await sharp({ create: { width: 800, height: 400, channels: 3, background: '#000', noise } })
    .jpeg()
    .toBuffer()
  const added = await app
    .as(person)
    .post(`/v3/project/${project.id}/gallery?ext=jpg`, wide, { headers: { 'content-type': 'image/jpeg' } })
  assert.equal(added.statusCode, 204, added.body)
  const { rows } = await sql<{ id: string; project_id: string }>`
    select id, project_id from version order by id limit 3`.execute(deps.db)
  const downloads = rows.flatMap(({ id, project_id }) => [
    aDownload({ project_id, version_id: id, recorded_at: Date.now() }),
    aDownload({ project_id, version_id: id, recorded_at: Date.now() - 86_400_000 }),
  ])
  for (const event of downloads) deps.events.add('download', event)
  await deps.events.flush()
  await deps.analytics.append('view', batchOf([aView({ project_id: rows[0]?.project_id ?? '' })]))
  return { admin, person }
}

describe('a full instance', () => {
  let from: TestApp
  let people: { admin: Person; person: Person }
  let report: BackupReport
  let events: string[]
  /** As they were when the archive was made. */
  let rows: Map<string, string[]>
  let keys: string[]
  before(async () => {
    from = await testApp()
    people = await fill(from)
    // Unfinished uploads are not part of a backup.
    await from.deps.db.deleteFrom('upload').execute()
    events = await eventsOf(from)
    rows = await everyRow(from.deps.db)
    keys = await keysOf(from)
    report = await backUp(from, at('full.tar'))
  })
  after(() => from.close())

  test('the restored instance returns the same responses to visitors, users and an admin, and has the same rows', async () => {
    assert.deepEqual(report.missing, [])
    assert.ok(report.events === events.length && events.length >= 7 && report.files >= 12, JSON.stringify(report))
    await withApp(async (to) => {
      const restored = await restore(to, at('full.tar'))
      assert.deepEqual(
        [restored.rows, restored.files, restored.events, restored.missing],
        [report.rows, report.files, report.events, 0],
      )
      assert.deepEqual(await everyRow(to.deps.db), withoutSecrets(rows))
      assert.deepEqual(await keysOf(to), keys)
      for (const app of [from, to]) await app.searchable()
      const addresses = await everyAddress(from.deps.db)
      assert.ok(addresses.length > 200, `only ${addresses.length} addresses`)
      const clients = [undefined, people.admin, people.person]
      for (const who of clients) {
        const [before, now] = [from, to].map((app) =>
          everyAnswer(who === undefined ? app.anyone : app.as(who), addresses),
        )
        assert.deepEqual(await now, await before)
      }
      const verified = await verifyInstance(to.deps, { canReadEvents: true })
      assert.deepEqual([verified.findings, verified.skipped], [0, []])
      assert.equal(verified.files, report.files)
    })
  })

  test('jobs that wait, events and the next IDs are restored with it', async () => {
    const jobs = async (app: TestApp) =>
      (
        await sql`select task.identifier, job.payload::text, job.run_at, job.key from graphile_worker._private_jobs job
        join graphile_worker._private_tasks task on task.id = job.task_id order by 1, 2`.execute(app.deps.db)
      ).rows
    await withApp(async (to) => {
      await restore(to, at('full.tar'))
      assert.ok((await jobs(from)).length > 0)
      assert.deepEqual(await jobs(to), await jobs(from))
      assert.deepEqual(await eventsOf(to), events)
      await sql`insert into catalogue_change (projects) values (0)`.execute(to.deps.db)
      const person = await to.make.account({ username: 'somebody-new' })
      assert.equal((await to.as(person).get('/v3/user')).statusCode, 200)
    })
  })

  test('at another URL, its images have that URL', async () => {
    await withApp(
      async (to) => {
        await restore(to, at('full.tar'))
        const { avatar_url } = (await to.anyone.get(`/v3/user/${people.person.id}`)).json()
        assert.match(avatar_url, /^https:\/\/other\.test\/data\//)
        assert.equal((await to.anyone.get(new URL(avatar_url).pathname)).statusCode, 200)
        assert.equal((await verifyInstance(to.deps, { canReadEvents: true })).findings, 0)
      },
      { env: { BASE_URL: 'https://other.test' } },
    )
  })

  test('an increment copies only what is new, and is restored with the archives before it', async () => {
    const first = await backUp(from, at('inc-0.tar'))
    const project = await from.make.project({ owner: people.person })
    const version = await from.make.version({ project })
    await from.make.file({ version, project, bytes: Buffer.from(version.id) })
    const second = await backUp(from, at('inc-1.tar'), at('inc-0.tar'))
    assert.equal(second.earlier, first.files)
    assert.equal(second.files, first.files + 1)
    const third = await backUp(from, at('inc-2.tar'), at('inc-1.tar'))
    assert.deepEqual([third.earlier, third.files], [third.files, second.files])
    assert.ok(statSync(at('inc-2.tar')).size < statSync(at('inc-0.tar')).size)
    await withApp(async (to) => {
      await assert.rejects(restore(to, at('inc-2.tar'), [at('inc-1.tar')]), new RegExp(`Missing: ${first.id}`))
      assert.equal((await restore(to, at('inc-2.tar'), [at('inc-0.tar'), at('inc-1.tar')])).files, third.files)
      assert.deepEqual(await keysOf(to), await keysOf(from))
      assert.equal((await verifyInstance(to.deps, { canReadEvents: true })).findings, 0)
    })
    await sql`delete from version where id = ${version.id}`.execute(from.deps.db)
  })

  test('an instance that is not empty is rejected, and stays as it is', async () => {
    await withApp(async (to) => {
      await to.make.account()
      const before = await everyRow(to.deps.db)
      await assert.rejects(restore(to, at('full.tar')), /not empty: its table account has rows/)
      assert.deepEqual(await everyRow(to.deps.db), before)
      assert.deepEqual(await keysOf(to), [])
    })
    await withApp(async (to) => {
      await to.deps.analytics.append('view', batchOf([aView()]))
      await assert.rejects(restore(to, at('full.tar')), /not empty: its analytics store has events/)
    })
  })

  test('an archive that is cut off or has a byte changed is rejected whole; the same instance takes a good one', async () => {
    const good = readFileSync(at('full.tar'))
    const end = good.length - 2048
    await withApp(async (to) => {
      const before = await everyRow(to.deps.db)
      const isUntouched = async () => {
        assert.deepEqual(await everyRow(to.deps.db), before)
        assert.deepEqual(await keysOf(to), [])
      }
      for (const bytes of [0, 100, 512, 20_000, Math.floor(good.length / 2), end, end + 512]) {
        writeFileSync(at('cut.tar'), good.subarray(0, bytes))
        await assert.rejects(restore(to, at('cut.tar')), { name: 'ArchiveError' }, `cut at ${bytes}`)
        await isUntouched()
      }
      // Every part of the archive: head, rows, files, events, manifest, end.
      for (const part of [
        '"format"',
        'rows/project/',
        'rows/file/',
        'files/versions/',
        'events/download/',
        '"sha256"',
        '"manifestSha256"',
      ]) {
        const bytes = Buffer.from(good)
        const place = good.indexOf(part) + (part.startsWith('"') ? 12 : 512 + 12)
        bytes[place] = (bytes[place] ?? 0) ^ 1
        writeFileSync(at('flipped.tar'), bytes)
        await assert.rejects(restore(to, at('flipped.tar')), { name: 'ArchiveError' }, part)
        await isUntouched()
      }
      for (const text of ['', 'no archive', 'x'.repeat(5_000)]) {
        writeFileSync(at('other.tar'), text)
        await assert.rejects(restore(to, at('other.tar')), { name: 'ArchiveError' })
      }
      await restore(to, at('full.tar'))
      assert.deepEqual(await everyRow(to.deps.db), withoutSecrets(rows))
    })
  })

  test('an archive whose rows end early or are not those of its head is rejected', async () => {
    const ending = Buffer.from('\\.\n')
    const copies: [name: string, change: (head: Head) => Head, rows: (name: string, text: Buffer) => Buffer, RegExp][] =
      [
        [
          'ended',
          (head) => ({ ...head, tables: head.tables.map(({ rows: _, ...table }) => table) }),
          (name, text) => (name.startsWith('rows/version/') ? Buffer.concat([ending, text]) : text),
          /contains \d+ rows of version, of which 0 can be read/,
        ],
        [
          'lacking',
          (head) => head,
          (name, text) => (name.startsWith('rows/version/') ? text.subarray(text.indexOf('\n') + 1) : text),
          /contains \d+ rows of version, of which \d+ can be read/,
        ],
        [
          'without a table',
          (head) => ({ ...head, tables: head.tables.map((table) => ({ ...table, rows: (table.rows ?? 0) + 1 })) }),
          (_name, text) => text,
          /contains \d+ rows of \w+, of which \d+ can be read/,
        ],
      ]
    await withApp(async (to) => {
      for (const [name, change, rewrite, reason] of copies) {
        await copyArchive(at('full.tar'), at('rewritten.tar'), { change, rewrite })
        await assert.rejects(restore(to, at('rewritten.tar')), { name: 'ArchiveError', message: reason }, name)
        assert.equal((await to.deps.db.selectFrom('account').select('id').execute()).length, 0)
      }
    })
  })

  test('of a newer version of Depot, or of a newer format, an archive is rejected with what to do', async () => {
    const head = await readHeadOf(fileSource(at('full.tar')))
    const newer = { name: '9999_from_the_future.sql', checksum: '0'.repeat(64) }
    await withApp(async (to) => {
      for (const [changed, reason] of [
        [
          { ...head, version: '99.0', migrations: [...head.migrations, newer] },
          /Depot 99\.0, which is newer .* Restore it with that version/,
        ],
        [{ ...head, format: 2 }, /format 2 of a newer version of Depot\. Restore it with that version/],
      ] satisfies [Head, RegExp][]) {
        const writer = await createArchiveWriter(changed, createWriteStream(at('newer.tar')))
        await writer.finish()
        await writer.dispose()
        await assert.rejects(restore(to, at('newer.tar')), reason)
      }
    })
  })

  test('a store that is full rejects, and the restore can be run again', async () => {
    let left = 1
    const problem = () => (left-- > 0 ? undefined : Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
    await withApp(
      async (to) => {
        await assert.rejects(restore(to, at('full.tar')), { name: 'ApiError' })
        assert.deepEqual(await keysOf(to), [])
        assert.equal((await to.deps.db.selectFrom('account').select('id').execute()).length, 0)
        left = Number.POSITIVE_INFINITY
        await restore(to, at('full.tar'))
        assert.deepEqual(await keysOf(to), keys)
      },
      { deps: ({ files }) => ({ files: failingFiles(files, { putAll: problem, putStream: problem }) }) },
    )
  })

  test('a sink that is full ends the backup with its error', async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
    })
    const work = writeBackup(from.deps, { sink: full, events: eventsOfStore(from.deps.analytics), version: '0' })
    await assert.rejects(work, { code: 'ENOSPC' })
    // Nothing is held any more.
    assert.ok((await backUp(from, at('after.tar'))).files > 0)
  })

  test('rejects the second of two concurrent backups', async () => {
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sink = new Writable({
      write: (_chunk, _encoding, done) => {
        begun.resolve()
        void finish.promise.then(() => done())
      },
    })
    const first = writeBackup(from.deps, { sink, events: eventsOfStore(from.deps.analytics), version: '0' })
    await begun.promise
    await assert.rejects(backUp(from, at('b.tar')), /Another backup of this instance is running/)
    finish.resolve()
    await first
  })

  test('a file that is deleted during a backup is still in the backup', async () => {
    const project = await from.make.project({ owner: people.person, status: 'approved' })
    const version = await from.make.version({ project })
    await from.make.file({ version, project, bytes: Buffer.from(version.id) })
    const { storage_key: key } = await from.deps.db
      .selectFrom('file')
      .select('storage_key')
      .where('version_id', '=', version.id)
      .executeTakeFirstOrThrow()
    const { files } = from.deps
    let deletion: Promise<void> | undefined
    async function deleteIt(): Promise<void> {
      const answer = await from.as(people.person).delete(`/v3/project/${project.id}`)
      assert.equal(answer.statusCode, 204, answer.body)
      await from.runJobs()
    }
    // The first file is read when the snapshot has been taken.
    const readAll: typeof files.readAll = async (...args) => {
      deletion ??= deleteIt()
      await deletion
      return files.readAll(...args)
    }
    await writeBackup(
      { ...from.deps, files: { ...files, readAll } },
      { sink: createWriteStream(at('deleted.tar')), events: eventsOfStore(from.deps.analytics), version: '0' },
    )
    assert.ok((await files.stat(key)) !== undefined, 'the removal waits')
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(from.deps.db)
    await from.runJobs()
    assert.equal(await files.stat(key), undefined)
    await withApp(async (to) => {
      const { missing } = await restore(to, at('deleted.tar'))
      assert.equal(missing, 0)
      const [kept] = (
        await sql<{ n: number }>`select count(*)::int as n from file where storage_key = ${key}`.execute(to.deps.db)
      ).rows
      assert.equal((await to.deps.files.stat(key)) !== undefined, kept?.n === 1)
      assert.equal((await verifyInstance(to.deps, { canReadEvents: true })).findings, 0)
    })
  })
})

/** Copies an archive with a changed head and changed rows, as a program could that knows the format. */
async function copyArchive(
  from: string,
  to: string,
  { change, rewrite }: { change(head: Head): Head; rewrite(name: string, text: Buffer): Buffer },
): Promise<void> {
  const reader = await openArchive(createReadStream(from))
  const writer = await createArchiveWriter(change(reader.head), createWriteStream(to))
  for await (const member of reader.members()) {
    const bytes = await member.bytes()
    const isRows = member.name.startsWith('rows/')
    await writer.add(member.name, isRows ? gzipSync(rewrite(member.name, gunzipSync(bytes))) : bytes)
  }
  await writer.finish()
  await writer.dispose()
  await reader.dispose()
}

/** A backup without a key for encryption has no secrets, so the restored webhooks are switched off. */
function withoutSecrets(rows: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const switchOff = (row: string) =>
    row
      .replace('"active": true', '"active": false')
      .replace('"disabled_reason": null', '"disabled_reason": "secret_lost"')
  return new Map([...rows].map(([table, list]) => [table, table === 'webhook' ? list.map(switchOff) : list]))
}

test('all columns with image URLs are known', async () => {
  await withApp(async ({ deps }) => {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name ~ '(^|_)url$' order by 1`.execute(deps.db)
    // Not images, or not in backups.
    const others = [
      'blocked_external_image.url',
      'external_image.url',
      'image.url',
      'oauth_client.url',
      'project.license_url',
      'removed_gallery_item.url',
      'text_base_url.url',
      'webhook.url',
    ]
    assert.deepEqual(
      rows.map(({ name }) => name).filter((name) => !others.includes(name)),
      IMAGE_COLUMNS.map((parts) => parts.join('.')).sort(),
    )
  })
})

test('verify names a missing file, a changed one, one without a row, and a wrong counter', async () => {
  await withApp(async (app) => {
    const { deps, make } = app
    const project = await make.project({ status: 'approved' })
    const files = []
    for (const name of ['lost.jar', 'changed.jar', 'good.jar']) {
      const version = await make.version({ project })
      await make.file({ version, project, filename: name, bytes: Buffer.from(name) })
      files.push(
        await deps.db
          .selectFrom('file')
          .select(['storage_key', 'size_bytes'])
          .where('version_id', '=', version.id)
          .executeTakeFirstOrThrow(),
      )
    }
    const [lost, changed] = files
    const start = await verifyInstance(deps, { canReadEvents: false })
    await deps.analytics.check()
    await deps.files.remove(lost?.storage_key ?? '')
    await deps.files.put(changed?.storage_key ?? '', Buffer.alloc(changed?.size_bytes ?? 0, 1), { contentType: 'x/y' })
    await deps.files.put('versions/none/none', Buffer.from('nobody'), { contentType: 'x/y' })
    await sql`update project set downloads = downloads + 3 where id = ${project.id}`.execute(deps.db)
    const found = await verifyInstance(deps, { canReadEvents: true })
    assert.deepEqual(
      new Set(
        found.listed
          .filter(
            (finding) => !start.listed.some((known) => 'key' in known && 'key' in finding && known.key === finding.key),
          )
          .map(({ what }) => what),
      ),
      new Set(['missing-file', 'changed-file', 'unused-file', 'wrong-counter']),
    )
    const wrong = found.listed.find(({ what }) => what === 'wrong-counter')
    assert.deepEqual(wrong, { what: 'wrong-counter', of: 'project', id: project.id, difference: 3 })
    // A claim, or a removal to come, is an owner.
    await sql`insert into upload_claim (storage_key) values ('versions/none/none')`.execute(deps.db)
    const after = await verifyInstance(deps, { canReadEvents: true, quick: true })
    assert.deepEqual(after.listed.filter(({ what }) => what === 'unused-file').length, 0)
  })
})
