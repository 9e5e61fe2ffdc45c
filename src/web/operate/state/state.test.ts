import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { createRecorder } from '#features/operation/overview/figures/record-figures.ts'
import { Secret } from '#lib/access/secret.ts'
import { DAY_MS } from '#lib/time.ts'
import { mailError } from '#ports/mail/mail.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let admin: Visitor
let rejection: Error | undefined
before(async () => {
  t = await testApp({
    deps: ({ mail }) => ({
      mail: {
        ...mail,
        send: async (message) => {
          if (rejection !== undefined) throw mailError(rejection)
          return mail.send(message)
        },
      },
    }),
  })
  admin = visitor(t, (await t.make.account({ role: 'admin', username: 'olga' })).token)
})
after(() => t.close())
beforeEach(() => t.deps.pool.query('delete from graphile_worker._private_jobs'))

const PAGES = [
  '/operator',
  '/operator/errors',
  '/operator/jobs',
  '/operator/storage',
  '/operator/index',
  '/operator/index/rebuild',
  '/operator/mail',
  '/operator/backups',
  '/operator/audit-log',
  '/operator/first-steps',
]

async function addFailed(task = 'files.remove'): Promise<string> {
  const { rows } = await t.deps.pool.query<{ id: string }>(
    'select id::text as id from graphile_worker.add_job($1, \'{"keys":[]}\')',
    [task],
  )
  const id = rows[0]?.id ?? ''
  await t.deps.pool.query(
    "update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'The disk <b>is</b> full' where id = $1::bigint",
    [id],
  )
  return id
}

const actions = async (): Promise<string[]> =>
  (await t.deps.db.selectFrom('audit_entry').select('action').orderBy('id').execute()).map(({ action }) => action)

test('only admins see the pages; visitors are led to sign in', async () => {
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  for (const path of PAGES) {
    assert.equal((await admin.get(path)).statusCode, 200, path)
    assert.equal((await moderator.get(path)).statusCode, 404, path)
    const answer = await visitor(t).get(path)
    assert.equal(answer.statusCode, 303, path)
    assert.match(String(answer.headers.location), /^\/account\/sign-in\?return=%2Foperator/)
  }
})

test('the overview begins with problems in sentences, and draws the figures', async () => {
  await addFailed()
  t.freeze()
  const recorder = createRecorder(t.deps)
  t.deps.metrics.figures.take()
  await t.anyone.get('/v3/statistics')
  await recorder.store()
  t.thaw()
  const page = await admin.get('/operator?period=1h')
  assertSays(page, 200, 'One job failed permanently')
  assertSays(page, 200, 'Types: files.remove. Read the errors, remove the cause, and retry the jobs.')
  assertSays(page, 200, 'Emails are not sent')
  assertSays(page, 200, 'One request; a rate limit rejected 0, and 0 failed.')
  assert.equal(page.body.match(/<figure class="plot"/g)?.length, 6)
  const csv = await admin.get('/operator/figures.csv?chart=requests&period=1h')
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
  const [head, ...lines] = csv.body.trim().split('\r\n')
  assert.equal(head, 'Time (UTC),All requests,Rejected by a rate limit,Failed')
  assert.equal(lines.length, 60)
  assert.equal(lines.filter((line) => line.endsWith(',1,0,0')).length, 1)
  assert.equal((await admin.get('/operator/figures.csv?chart=secrets')).statusCode, 404)
})

test('the overview shows the requests of moderators until they are read', async () => {
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  const person = await t.make.account()
  const path = `/moderation/user/${person.id}`
  const asked = await moderator.send(path, path, { message: 'Please delete this <account>', do: 'ask' })
  assert.equal(asked.statusCode, 303, asked.body)
  assertSays(await admin.get('/operator'), 200, 'Please delete this <account>')
  assert.ok(!(await admin.get('/operator')).body.includes('this <account>'))
  await t.deps.db.updateTable('notification').set({ read: true }).execute()
  assert.ok(!(await admin.get('/operator')).body.includes('Please delete this'))
})

test('each number of the overview is the number of rows of the list that it links to', async () => {
  const long = new Date(Date.now() - 9 * DAY_MS)
  for (const task of ['files.remove', 'files.remove', 'accounts.send-mail', 'notifications.send-mail'])
    await addFailed(task)
  for (const status of ['processing', 'processing', 'processing', 'approved', 'draft']) await t.make.project({ status })
  await t.deps.db.updateTable('project').set({ queued: long }).where('status', '=', 'processing').execute()
  const project = await t.make.project()
  for (const state of ['pending', 'pending', 'quarantine'] as const) {
    const { id } = await t.make.version({ project, status: 'unknown' })
    const scan = { version_id: id, state, requested: long, next_attempt: new Date(Date.now() + DAY_MS) }
    await t.deps.db.insertInto('version_scan').values(scan).execute()
  }
  const { body } = await admin.get('/operator')
  const rowsAt = async (path: string) => {
    const tables = [...(await admin.get(path)).body.matchAll(/<tbody>([\s\S]*?)<\/tbody>/g)]
    return tables.at(-1)?.[1]?.match(/<tr/g)?.length
  }
  const notes = [...body.matchAll(/<p class="strong">([^<]*)<\/p><p>([^<]*) <a href="([^"]+)">Show details/g)]
  const counted = notes.flatMap(([, title = '', text = '', path = '']) => {
    const [, count, what = ''] = /(\d+) (jobs|emails|projects|versions)/.exec(`${title} ${text}`) ?? []
    return count === undefined ? [] : [{ what, count: Number(count), path }]
  })
  assert.deepEqual(
    counted.map(({ what, count }) => [what, count]),
    [
      ['jobs', 4],
      ['emails', 2],
      ['versions', 2],
      ['projects', 3],
    ],
  )
  for (const { what, count, path } of counted) assert.equal(await rowsAt(path), count, `${what}: ${path}`)
  const tasks = [...body.matchAll(/<tr>(?:(?!<\/tr>)[\s\S])*?href="(\/operator\/jobs\?task=[^"]+)"[\s\S]*?<\/tr>/g)]
  assert.equal(tasks.length, 3)
  for (const [row, path = ''] of tasks) {
    const cells = [...row.matchAll(/<td class="num[^"]*">([\s\S]*?)<\/td>/g)]
    const numbers = cells.map(([, cell = '']) => Number(cell.replaceAll(/<[^>]+>/g, '')))
    assert.equal(numbers.length, 5, row)
    assert.equal(
      await rowsAt(path),
      numbers.reduce((sum, number) => sum + number),
      path,
    )
  }
})

test('the overview takes the same number of statements with many jobs, errors and entries', async () => {
  await admin.get('/operator')
  const { queries: few } = await t.queriesOf(() => admin.get('/operator'))
  for (let n = 0; n < 20; n += 1) await addFailed(`task.${n}`)
  const { queries: many } = await t.queriesOf(() => admin.get('/operator'))
  assert.equal(many.length, few.length)
})

test('a failed job is retried on the list, and discarded after a confirmation', async () => {
  const [one, two] = [await addFailed(), await addFailed()]
  const list = await admin.get('/operator/jobs?state=failed')
  assertSays(list, 200, 'The disk <b>is</b> full')
  assert.ok(!list.body.includes('<b>is</b>'), 'markup of an error is shown as text')
  const retried = await admin.post('/operator/jobs?state=failed', { _csrf: csrfOf(list.body), do: 'retry', id: one })
  assert.equal(retried.statusCode, 303, retried.body)
  assertSays(await admin.get(String(retried.headers.location)), 200, 'The worker runs the job again.')
  const confirm = `/operator/jobs/confirm?action=discard&id=${two}`
  const question = await admin.get(confirm)
  assertSays(question, 200, 'Discard one job?')
  const answer = await admin.post(confirm, { _csrf: csrfOf(question.body), do: 'confirm' })
  assertSays(
    await admin.get(assertLeads(answer, '/operator/jobs?done=jobs-discarded&count=1')),
    200,
    'One job was deleted.',
  )
  assertSays(await admin.post(confirm, { _csrf: csrfOf(question.body), do: 'confirm' }), 404, 'does not exist')
  assert.deepEqual((await actions()).slice(-2), ['job.retried', 'job.discarded'])
})

test('all failed jobs of a type are retried after a confirmation that counts them', async () => {
  await addFailed()
  await addFailed()
  const path = '/operator/jobs/confirm?action=retry&task=files.remove'
  const question = await admin.get(path)
  assertSays(question, 200, 'Retry 2 jobs?')
  const answer = await admin.post(path, { _csrf: csrfOf(question.body), do: 'confirm' })
  assertSays(await admin.get(assertLeads(answer, '/operator/jobs?done=jobs-retried&count=2')), 200, 'runs 2 jobs again')
  for (const wrong of ['', '?action=erase&task=x', '?action=retry', '?action=retry&id=1x', '?action=retry&id=999999']) {
    const { statusCode } = await admin.get(`/operator/jobs/confirm${wrong}`)
    assert.ok([400, 404].includes(statusCode), `${wrong} ${statusCode}`)
  }
})

test('a retry of a job that is running shows the reason on the list', async () => {
  const id = await addFailed()
  const list = await admin.get('/operator/jobs')
  await t.deps.pool.query("update graphile_worker._private_jobs set locked_by = 'x', locked_at = now(), attempts = 1")
  const answer = await admin.post('/operator/jobs', { _csrf: csrfOf(list.body), do: 'retry', id })
  assertSays(answer, 409, 'This job is running')
})

test('the storage page shows the last measurement and starts another one', async () => {
  assertSays(await admin.get('/operator/storage'), 200, 'The storage has not been measured yet')
  const project = await t.make.project({ name: 'Lantern <x>' })
  const version = await t.make.version({ project })
  await t.make.file({ project, version, bytes: Buffer.alloc(5_000), filename: 'lantern.jar' })
  await t.deps.files.put('pictures/lost/one.png', Buffer.alloc(70), { contentType: 'image/png' })
  const answer = await admin.send('/operator/storage', '/operator/storage')
  assertSays(await admin.get(assertLeads(answer, '/operator/storage?done=storage-measuring')), 200, 'Measuring…')
  await t.runJobs()
  const page = await admin.get('/operator/storage')
  assertSays(page, 200, 'Lantern <x>')
  assertSays(page, 200, 'Nothing refers to one file (70 bytes).')
  assertSays(page, 200, 'pictures/lost/one.png')
  assertSays(await admin.get('/operator'), 200, 'One file belongs to nothing')
})

test('a rebuild of the index is confirmed and recorded', async () => {
  await t.searchable()
  assertSays(await admin.get('/operator/index'), 200, 'Up to date')
  const answer = await admin.send('/operator/index/rebuild', '/operator/index/rebuild')
  const path = assertLeads(answer, '/operator/index?done=rebuild-requested')
  assertSays(await admin.get(path), 200, 'The rebuild was requested.')
  await t.searchable()
  assert.equal((await actions()).at(-1), 'search.rebuild_requested')
})

test('repairs work in read-only mode, as in the API', async () => {
  const id = await addFailed()
  const settings = (read_only: boolean | null) =>
    t.anyone.patch('/_internal/admin/settings', { read_only }, { headers: { 'x-admin-key': ADMIN_KEY } })
  await settings(true)
  const list = '/operator/jobs?state=failed'
  const jobs = await admin.get(list)
  const { _csrf = '' } = hiddenFields(jobs, list)
  assertLeads(await admin.post(list, { _csrf, do: 'retry', id }), '/operator/jobs?done=job-retried&state=failed')
  assertLeads(
    await admin.post('/operator/storage', { _csrf, do: 'measure' }),
    '/operator/storage?done=storage-measuring',
  )
  const rebuilt = await admin.post('/operator/index/rebuild', { _csrf, do: 'confirm' })
  assert.equal(rebuilt.statusCode, 303, rebuilt.body)
  const refused = await admin.post('/operator/mail', { _csrf })
  assert.equal(refused.statusCode, 503, refused.body)
  await settings(null)
})

test('a test email is sent, and a rejected one shows the response of the server', async () => {
  const sent = await admin.send('/operator/mail', '/operator/mail')
  const written = await admin.get(assertLeads(sent, '/operator/mail?test=accepted'))
  assertSays(written, 200, /The test email to <bdi>[^<]+<\/bdi> is in the folder “outbox” of the data folder: <code/)
  const [, path = ''] = /href="(\/operator\/mail\/\d+)">Test email</.exec(written.body) ?? []
  assertSays(await admin.get(path), 200, /outbox\/[^<]+\.eml<[\s\S]*Hello olga/)
  for (const missing of ['/operator/mail/0', '/operator/mail/x', '/operator/mail/999999'])
    assert.equal((await admin.get(missing)).statusCode, 404, missing)
  rejection = Object.assign(new Error('refused'), { response: '550 <olga@example.org> is unknown' })
  const refused = await admin.send('/operator/mail', '/operator/mail')
  rejection = undefined
  const page = await admin.get(assertLeads(refused, '/operator/mail?test=rejected'))
  assertSays(page, 200, 'The mail server rejected the test email to ')
  assertSays(page, 200, '550 <[address]> is unknown')
  // Only the sentence names the operator's own address: the response of the server has none.
  assert.equal(page.body.split('olga@example.org').length - 1, 1)
  const accepted = await admin.get('/operator/mail?show=written')
  // Without a mail server, the page says nowhere that an email was sent.
  assertSays(accepted, 200, 'Written in 24 hours')
  assert.ok(!/>Sent/.test(accepted.body), accepted.body)
  assert.ok(!accepted.body.includes('is unknown'))
})

test('emails in files stay written when the instance gets a mail server', async () => {
  const from = 'Depot <noreply@example.org>'
  const app = await testApp({
    deps: ({ config }) => ({
      config: { ...config, mail: { kind: 'smtp', url: new Secret('smtp://127.0.0.1'), from } },
    }),
  })
  try {
    const file = '2026-01-02T03-04-05-006Z-00000001-0123abcd.eml'
    await app.deps.pool.query(
      "insert into mail_delivery (at, kind, is_sent, response) values (now(), 'test', true, $1)",
      [file],
    )
    app.deps.metrics.figures.add('mails_sent')
    await createRecorder(app.deps).store()
    const operator = visitor(app, (await app.make.account({ role: 'admin' })).token)
    const page = await operator.get('/operator/mail')
    assertSays(page, 200, /Sent in 24 hours<\/dt><dd class="big">0<[\s\S]*Written in 24 hours<\/dt><dd class="big">1</)
    assert.equal(page.body.split(/>Sent(?:<|$)/).length - 1, 1, 'only the filter says Sent')
    assertSays(await operator.get('/operator/mail?show=sent'), 200, 'No email in the last 7 days')
    assertSays(await operator.get('/operator/mail?show=written'), 200, file)
  } finally {
    await app.close()
  }
})

test('the backups page shows known backups with their age', async () => {
  assertSays(await admin.get('/operator/backups'), 200, 'No backup is known')
  assertSays(await admin.get('/operator'), 200, 'No good backup yet')
  const details = { id: 'b1', name: 'daily.tar', rows: 10, files: 2, events: 0, bytes: 61_000_000, missing: 1 }
  await recordAudit(t.deps.db, { action: 'backup.made', actor: COMMAND, details })
  const page = await admin.get('/operator/backups')
  assertSays(page, 200, 'daily.tar')
  assertSays(page, 200, 'One file missing')
  assertSays(await admin.get('/operator'), 200, 'No good backup yet')
  await t.deps.pool.query(
    "insert into audit_entry (at, action, actor_kind, details) values ($1, 'backup.made', 'command', $2)",
    [new Date(t.deps.now() - 3 * DAY_MS), { ...details, missing: 0 }],
  )
  const overview = await admin.get('/operator')
  assert.match(overview.body.replaceAll(/<[^>]+>/g, ''), /Last good backup:? 3 days ago/)
})

test('a backup at the target is made and verified from the page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depot-target-'))
  const own = await testApp({ env: { BACKUP_TARGET: folder } })
  try {
    const operator = visitor(own, (await own.make.account({ role: 'admin' })).token)
    const path = '/operator/backups'
    assertSays(await operator.get(path), 200, 'No backup was verified yet')
    assertLeads(await operator.send(path, path, { do: 'make' }), '/operator/backups?done=backup-requested')
    const waiting = await operator.get(path)
    assertSays(waiting, 200, 'The backup waits for a worker.')
    assert.ok(waiting.body.includes('data-refresh') && !waiting.body.includes('Back up now'))
    await own.runJobs()
    assertSays(await operator.get(path), 200, 'The last backup failed')
    await own.deps.pool.query('delete from graphile_worker._private_jobs')
    const name = 'depot-20261129T031500000Z-abcd1234'
    await mkdir(join(folder, 'objects'))
    await writeFile(join(folder, 'objects', `${name}.tar`), 'rows')
    await own.runJob('backups.list')
    assertSays(await operator.get(path), 200, `depot restore ${name}<`)
    assertLeads(
      await operator.send(path, path, { do: 'verify', name }),
      '/operator/backups?done=verification-requested',
    )
    assertSays(await operator.get(path), 200, 'A verification is running.')
    // Without BACKUP_RECIPIENT, a backup would contain the instance as it is.
    const refused = await operator.send(path, path, { do: 'download' })
    assertSays(refused, 409, 'only an encrypted backup can be downloaded')
  } finally {
    await own.close()
    await rm(folder, { recursive: true })
  }
})

function csrfOf(body: string): string {
  return /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
}
