import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLimiter } from './limiter.ts'
import { createPasswords } from './passwords.ts'
import { createStrengthMeter } from './strength-meter.ts'

const passwords = createPasswords()
after(() => passwords.close())

const refuse = () => new Error('full')

test('a hash names its kind and cost, has its own salt, and fits its password alone', async () => {
  const [one, two] = await Promise.all([passwords.hash('lantern'), passwords.hash('lantern')])
  assert.match(one, /^\$argon2id\$v=19\$m=32768,t=3,p=1\$/)
  assert.notEqual(one, two)
  assert.deepEqual(await Promise.all(['lantern', 'Lantern', ''].map((text) => passwords.verify(one, text))), [
    true,
    false,
    false,
  ])
  assert.equal(await passwords.verify(null, 'lantern'), false)
})

test('a judgement never gets better by what follows the first forty characters, and a long text is judged too', async () => {
  const owner = { username: 'mira', email: null }
  const weak = 'password'.repeat(5)
  await assert.rejects(passwords.check(`${weak}x7$Kq!zW5uN!k3Lm`, owner, 'password'), { fault: 'validation_error' })
  await passwords.check('kR7$wq2!zPvN'.repeat(21), owner, 'password')
})

test('a thread that was closed is replaced by the next question', async () => {
  const meter = createStrengthMeter({ refuse })
  const asked = meter.score('lantern glass orbit', [])
  await meter.close()
  await assert.rejects(asked, /closing/)
  assert.ok((await meter.score('lantern glass orbit', [])) >= 3)
  assert.equal(await meter.score('lantern', ['lantern']), 0)
  await meter.close()
})

test('at most a hundred questions wait', async () => {
  const meter = createStrengthMeter({ refuse })
  const asked = Array.from({ length: 101 }, () => meter.score('lantern', []))
  await assert.rejects(Promise.resolve(asked[100]), /full/)
  await meter.close()
  assert.ok((await Promise.allSettled(asked)).every(({ status }) => status === 'rejected'))
})

test('a limiter runs so many at once, keeps so many waiting in order, and refuses the rest', async () => {
  const inTurn = createLimiter({ running: 2, waiting: 3, refuse })
  const started: number[] = []
  const ends: (() => void)[] = []
  const work = (id: number) => () =>
    new Promise<number>((resolve) => {
      started.push(id)
      ends.push(() => resolve(id))
    })
  const results = [0, 1, 2, 3, 4, 5].map((id) => inTurn(work(id)))
  await assert.rejects(Promise.resolve(results[5]), /full/)
  assert.deepEqual(started, [0, 1])
  for (let i = 0; i < 5; i += 1) {
    ends[i]?.()
    await nextTurn()
  }
  assert.deepEqual(started, [0, 1, 2, 3, 4])
  assert.deepEqual(await Promise.all(results.slice(0, 5)), [0, 1, 2, 3, 4])
  await assert.rejects(
    inTurn(() => Promise.reject(new Error('failed'))),
    /failed/,
  )
  assert.equal(await inTurn(async () => 7), 7)
})
