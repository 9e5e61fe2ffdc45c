// Plants faults into an instance, and checks that each is found, and corrected if the finding says so.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { checkFiles } from './check-files.ts'
import { checkInstance } from './check-instance.ts'
import type { Finding } from './finding.ts'

let t: TestApp
before(async () => {
  t = await testApp()
  await t.make.account({ role: 'admin' })
})
after(() => t.close())

const find = async (code: string): Promise<Finding | undefined> =>
  [
    ...(await checkInstance(t.deps)),
    ...(await checkFiles(t.deps, { isFull: true, canReadEvents: true })).findings,
  ].find((finding) => finding.code === code)

type Fault = {
  code: string
  plant: () => Promise<unknown>
  /** Undoes what the finding does not correct; without it, the finding must correct the fault. */
  undo?: () => Promise<unknown>
}

const run = (statement: string) => sql.raw(statement).execute(t.deps.db)
const job = async (identifier: string, columns: string): Promise<void> => {
  await run(`select graphile_worker.add_job('${identifier}', '{}')`)
  await run(`update graphile_worker._private_jobs set ${columns}`)
}
const madeBackup = (at: string, details: string) =>
  run(
    `insert into audit_entry (at, action, actor_kind, details) values (${at}, 'backup.made', 'command', '${details}')`,
  )
const noJobs = () => run('delete from graphile_worker._private_jobs')

/** The server of the tests gives durability up for speed. */
const OF_THE_SERVER = ['database_unsafe', 'database_commits_early']

const FAULTS: Fault[] = [
  {
    code: 'index_invalid',
    plant: () => run("update pg_index set indisvalid = false where indexrelid = 'collection_account_id_idx'::regclass"),
  },
  { code: 'trigger_off', plant: () => run('alter table project disable trigger project_revision') },
  {
    code: 'constraint_unchecked',
    plant: () => run("alter table saved_reply add constraint saved_reply_planted_check check (title <> '-') not valid"),
  },
  {
    code: 'followers_wrong',
    plant: async () => {
      const { id } = await t.make.project()
      await run(`update project set followers = 7 where id = '${id}'`)
    },
  },
  { code: 'statistics_wrong', plant: () => run('insert into catalogue_change (versions) values (5)') },
  { code: 'jobs_dead', plant: () => job('files.sweep', "attempts = max_attempts, last_error = 'No'") },
  { code: 'jobs_waiting', plant: () => job('files.sweep', "run_at = now() - interval '1 hour'"), undo: noJobs },
  { code: 'jobs_stuck', plant: () => job('files.sweep', "locked_at = now() - interval '5 hours'"), undo: noJobs },
  {
    code: 'index_foreign',
    plant: () =>
      run(`insert into search_index (name, database, snapshot, basis) values ('planted', 'another', '1:1:', 'x')
        on conflict (name) do update set database = 'another'`),
    undo: () => run("delete from search_index where name = 'planted'"),
  },
  {
    code: 'index_stale',
    plant: () => run('update search_rebuild set requested = finished + 1'),
    undo: () => run('update search_rebuild set finished = requested'),
  },
  {
    code: 'uploads_expired',
    plant: async () => {
      const { id } = await t.make.account()
      await run(`insert into upload (id, account_id, length, metadata, expires)
        values ('planted1', '${id}', 3, '', now() - interval '2 days')`)
    },
    undo: () => run('delete from upload'),
  },
  {
    code: 'claims_left',
    plant: () => run("insert into upload_claim (storage_key, created) values ('a/b', now() - interval '1 day')"),
  },
  {
    code: 'mail_rejected',
    plant: () =>
      run("insert into mail_delivery (at, kind, is_sent, response) values (now(), 'test', false, '550 Unknown user')"),
    undo: () => run('delete from mail_delivery'),
  },
  {
    code: 'backup_old',
    plant: () => madeBackup("now() - interval '30 days'", '{}'),
    undo: () => madeBackup('now()', '{}'),
  },
  {
    code: 'backup_incomplete',
    plant: () => madeBackup('now()', '{"missing": 3}'),
    undo: () => madeBackup('now()', '{}'),
  },
  {
    code: 'admin_missing',
    plant: () => run("update account set role = 'moderator' where role = 'admin'"),
    undo: () => run("update account set role = 'admin' where role = 'moderator'"),
  },
  {
    code: 'owner_missing',
    plant: async () => {
      const { teamId } = await t.make.project()
      await run(`delete from team_member where team_id = '${teamId}'`)
    },
    undo: () => run('delete from project where not exists (select from team_member where team_id = project.team_id)'),
  },
  {
    code: 'proxy_hides_clients',
    plant: async () => {
      for (let i = 0; i < 6; i += 1) await t.make.account()
      await run("update session set ip = '10.0.0.1'")
    },
    undo: () => run("update session set ip = '203.0.113.' || (abs(hashtext(id)) % 200)"),
  },
  {
    code: 'taxonomy_lacks',
    plant: async () => {
      const project = await t.make.project()
      await t.make.version({ project, loaders: ['no-such-loader'] })
    },
    undo: () => run("delete from version where 'no-such-loader' = any(loaders)"),
  },
  {
    code: 'file_missing',
    plant: async () => {
      const project = await t.make.project()
      await t.make.file({ version: await t.make.version({ project }), project, bytes: Buffer.from('gone') })
      const { storage_key } = await t.deps.db
        .selectFrom('file')
        .select('storage_key')
        .limit(1)
        .executeTakeFirstOrThrow()
      await t.deps.files.remove(storage_key)
    },
    undo: () => run('delete from file'),
  },
  {
    code: 'file_changed',
    plant: async () => {
      const project = await t.make.project()
      await t.make.file({ version: await t.make.version({ project }), project, bytes: Buffer.from('right') })
      const { storage_key } = await t.deps.db
        .selectFrom('file')
        .select('storage_key')
        .limit(1)
        .executeTakeFirstOrThrow()
      await t.deps.files.put(storage_key, Buffer.from('wrong'), { contentType: 'text/plain' })
    },
    undo: async () => {
      await run('delete from file')
      for await (const { key } of t.deps.files.list()) await t.deps.files.remove(key)
    },
  },
  {
    code: 'file_unused',
    plant: () =>
      t.deps.files.put('versions/planted/x.jar', Buffer.from('x'), { contentType: 'application/java-archive' }),
  },
  {
    code: 'downloads_wrong',
    plant: async () => {
      const { id } = await t.make.project()
      await run(`update project set downloads = 12 where id = '${id}'`)
    },
  },
]

for (const { code, plant, undo } of FAULTS) {
  test(code, async () => {
    assert.equal(await find(code), undefined, 'before the fault is planted')
    await plant()
    const finding = await find(code)
    assert.ok(finding !== undefined, 'the fault is not found')
    assert.match(finding.message, /^[A-Z0-9].*\.$/s)
    if (finding.fix === undefined) assert.ok(undo !== undefined)
    await finding.fix?.()
    await (undo ?? (async () => undefined))()
    if (code === 'jobs_dead') await noJobs()
    if (code === 'index_foreign') await run('update search_rebuild set finished = requested')
    assert.equal(await find(code), undefined, 'afterwards')
  })
}

describe('faults of the machine', () => {
  test('database_unsafe and database_commits_early: the server of the tests does not sync; mail_off: no mail server', async () => {
    const { rows } = await sql<{ fsync: string; commit: string }>`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`.execute(t.deps.db)
    assert.equal((await find('database_unsafe')) !== undefined, rows[0]?.fsync === 'off')
    assert.equal((await find('database_commits_early')) !== undefined, rows[0]?.commit === 'off')
    assert.ok(await find('mail_off'))
  })

  test('clock_differs and taxonomy_old: the clock of this machine is wrong', async () => {
    assert.equal(await find('clock_differs'), undefined)
    t.advance(400 * DAY_MS)
    assert.match((await find('clock_differs'))?.message ?? '', /by 34560\d\d\d seconds; synchronize both with NTP/)
    assert.ok(await find('taxonomy_old'))
    t.advance(-1000 * DAY_MS)
    assert.ok(await find('clock_behind'))
    t.advance(600 * DAY_MS)
  })

  test('a service that fails is named, and a check that cannot run is a finding', async () => {
    const broken = { ...t.deps.mail, check: () => Promise.reject(new Error('535 wrong password')) }
    const findings = await checkInstance({ ...t.deps, mail: broken })
    const mail = findings.find(({ code }) => code === 'mail_fails')
    assert.match(mail?.message ?? '', /^The mail server cannot be used \(535 wrong password\)/)
    const none = new Error('no such table')
    const failing = {
      ...t.deps,
      taxonomy: new Proxy(t.deps.taxonomy, {
        get: () => {
          throw none
        },
      }),
    }
    assert.ok(
      (await checkInstance(failing)).some(
        ({ code, message }) => code === 'check_failed' && message.includes('no such table'),
      ),
    )
  })
})

test('an instance without these faults has no errors except what its server does not sync', async () => {
  const errors = [
    ...(await checkInstance(t.deps)),
    ...(await checkFiles(t.deps, { isFull: true, canReadEvents: true })).findings,
  ].filter(({ severity, code }) => severity === 'error' && !OF_THE_SERVER.includes(code))
  assert.deepEqual(errors, [])
})
