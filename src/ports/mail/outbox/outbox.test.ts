import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused, mailConformance } from '#test/conformance/mail.ts'
import { createOutbox } from './outbox.ts'

const from = 'Depot <noreply@example.org>'
const message = { to: 'mira@example.org', subject: 'Hello', text: 'Hello' }

async function scratch() {
  const folder = await mkdtemp(join(tmpdir(), 'depot-outbox-'))
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

mailConformance('outbox', async () => {
  const { folder, [Symbol.asyncDispose]: close } = await scratch()
  const outbox = join(folder, 'made', 'on demand')
  return {
    mail: createOutbox({ folder: outbox, from, now: () => 1_750_000_000_000 }),
    async received() {
      const names = await readdir(outbox).catch(() => [])
      return Promise.all(names.sort().map((name) => readFile(join(outbox, name), 'utf8')))
    },
    close,
  }
})

test('file names sort by time, and within a millisecond by the order of sending', async () => {
  await using dir = await scratch()
  const times = [1_750_000_000_001, 1_750_000_000_001, 1_750_000_000_000, 1_750_000_000_002]
  const clock = { ms: 0 }
  const mail = createOutbox({ folder: dir.folder, from, now: () => clock.ms })
  for (const [i, ms] of times.entries()) {
    clock.ms = ms
    await mail.send({ ...message, subject: `no. ${i}` })
  }
  const names = (await readdir(dir.folder)).sort()
  const contents = await Promise.all(names.map((name) => readFile(join(dir.folder, name), 'utf8')))
  const order = contents.map((content) => /no\. (\d)/.exec(content)?.[1])
  assert.deepEqual(order, ['2', '0', '1', '3'])
  assert.match(names[0] ?? '', /^2025-06-15T15-06-40-000Z-\d{8}-[0-9a-f]{8}\.eml$/)
})

test('messages are readable by their owner alone', async () => {
  await using dir = await scratch()
  await createOutbox({ folder: join(dir.folder, 'outbox'), from, now: () => 0 }).send(message)
  const [name = ''] = await readdir(join(dir.folder, 'outbox'))
  assert.equal((await stat(join(dir.folder, 'outbox'))).mode & 0o777, 0o700)
  assert.equal((await stat(join(dir.folder, 'outbox', name))).mode & 0o777, 0o600)
})

test('stores only the newest messages', async () => {
  await using dir = await scratch()
  for (let i = 0; i < 12; i += 1) await writeFile(join(dir.folder, `2020-01-01T00-00-${10 + i}.eml`), '')
  await createOutbox({ folder: dir.folder, from, now: () => 1_750_000_000_000, messagesMax: 5 }).send(message)
  const names = (await readdir(dir.folder)).sort()
  assert.deepEqual(
    names.slice(0, 4),
    ['18', '19', '20', '21'].map((s) => `2020-01-01T00-00-${s}.eml`),
  )
  assert.equal(names.length, 5)
})

test('an invalid folder is a mail error, in the check and when sending', async () => {
  await using dir = await scratch()
  await writeFile(join(dir.folder, 'file'), '')
  const mail = createOutbox({ folder: join(dir.folder, 'file', 'outbox'), from, now: () => 0 })
  await assertRefused(mail, message)
  await assert.rejects(mail.check(), { kind: 'mail_error' })
})
