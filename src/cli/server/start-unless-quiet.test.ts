// A quiet copy of an instance: nothing runs or is sent until it is resumed, everything waits, and operators and visitors see it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { resume } from '#features/basics/settings/resume.ts'
import { SETTINGS_ID } from '#features/basics/settings/settings-cache.ts'
import { checkInstance } from '#features/operation/doctor/check-instance.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { startUnlessQuiet } from './start-unless-quiet.ts'

const t = await testApp()
after(() => t.close())

/** As a restore leaves it. */
const makeQuiet = () =>
  transaction(t.deps, async (tx, changed) => {
    await tx.updateTable('instance_copy').set({ quiet_since: new Date() }).execute()
    changed.add('settings', SETTINGS_ID)
  })

/** Counts the starts of the background work. */
function counted() {
  const counts = { started: 0, stopped: 0 }
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const start = async () => {
    counts.started += 1
    resolve()
    return {
      stop: async () => {
        counts.stopped += 1
      },
    }
  }
  return { counts, start, first }
}

test('the work of an instance that is not quiet starts immediately', async () => {
  const { counts, start } = counted()
  const background = await startUnlessQuiet(t.deps, start)
  await background.stop()
  assert.deepEqual(counts, { started: 1, stopped: 1 })
})

test('a quiet copy starts no work and sends no email, and says so; resumed, it does both', async () => {
  await makeQuiet()
  const ended = counted()
  await (await startUnlessQuiet(t.deps, ended.start, 5)).stop()
  assert.deepEqual(ended.counts, { started: 0, stopped: 0 })

  const { counts, start, first } = counted()
  const background = await startUnlessQuiet(t.deps, start, 5)
  const mail = {
    kind: 'test',
    accountId: null,
    message: { to: 'mira@example.org', subject: 'A', text: 'B', html: 'B' },
  }
  await assert.rejects(deliverMail(t.deps, mail), /This copy of the instance is quiet: .* `depot resume`/)
  const ready = (await t.anyone.get('/ready')).json()
  assert.deepEqual([ready.status, ready.dependencies.jobs], ['degraded', { status: 'degraded', state: 'quiet' }])
  assert.match(
    (await t.anyone.get('/about')).body,
    /This site is a copy that sends no emails and runs no scheduled tasks/,
  )
  const found = (await checkInstance(t.deps)).find(({ code }) => code === 'quiet')
  assert.match(found?.message ?? '', /wait until you run `depot resume`\.$/)
  assert.equal(counts.started, 0)

  assert.equal(await resume(t.deps, COMMAND), true)
  await first
  await background.stop()
  assert.deepEqual(counts, { started: 1, stopped: 1 })
  await deliverMail(t.deps, mail)
  assert.doesNotMatch((await t.anyone.get('/about')).body, /This site is a copy/)
  assert.equal(await resume(t.deps, COMMAND), false)
})
