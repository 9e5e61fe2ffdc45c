import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPasswords } from './passwords.ts'
import { createStrengthMeter } from './strength-meter.ts'

const passwords = createPasswords()
after(() => passwords.close())

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

test('a rating never improves because of text after the first forty characters, and a long password is rated too', async () => {
  const owner = { username: 'mira', email: null }
  const weak = 'password'.repeat(5)
  await assert.rejects(passwords.check(`${weak}x7$Kq!zW5uN!k3Lm`, owner, 'password'), { kind: 'validation_error' })
  await passwords.check('kR7$wq2!zPvN'.repeat(21), owner, 'password')
})

/** A thread that immediately returns the length of the password, crashes for `die` and does not respond for `hang`. */
const ODD_WORKER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ password }) => {
      if (password === 'die') process.exit(1)
      if (password !== 'hang') parentPort.postMessage({ answer: { score: password.length, warning: null } })
    })
    parentPort.postMessage({ ready: true })
  `)}`,
)

test('the real thread rates passwords, and known words count as guessed', async () => {
  const meter = createStrengthMeter()
  assert.ok((await meter.rate('lantern glass orbit', [])).score >= 3)
  assert.equal((await meter.rate('lantern', ['lantern'])).score, 0)
  await meter.close()
  await assert.rejects(meter.rate('lantern', []), { status: 503 })
})

test('a rating follows the rules of the check, and names the weakness', async () => {
  const owner = { username: 'miraculix', email: 'mira@example.org' }
  const expected = {
    '': 'short',
    kR7$wq2: 'short',
    'miraculix-1': 'owner',
    vbnmkjhg: 'keys',
    aaaaaaaaaa: 'repeat',
    abcdefghij: 'sequence',
    '1987-11-03': 'date',
    password1: 'common',
    'lantern glass orbit': undefined,
  }
  for (const [password, weakness] of Object.entries(expected)) {
    const rating = await passwords.rate(password, owner)
    assert.equal(rating.weakness, weakness, password)
    const isAccepted = await passwords.check(password, owner, 'password').then(
      () => true,
      () => false,
    )
    assert.equal(isAccepted, weakness === undefined, password)
  }
  assert.equal((await passwords.rate('kR7$wq', owner)).missing, 2)
})

test('a thread that crashes fails only the password that crashed it', async () => {
  const meter = createStrengthMeter({ worker: ODD_WORKER })
  const asked = await Promise.allSettled(['a', 'die', 'abc', 'die', 'abcde'].map((text) => meter.rate(text, [])))
  assert.deepEqual(
    asked.map((result) => (result.status === 'fulfilled' ? result.value.score : result.reason.status)),
    [1, 503, 3, 503, 5],
  )
  await meter.close()
})

test('rejects only a password that takes too long; its time starts with the work', async () => {
  const meter = createStrengthMeter({ worker: ODD_WORKER, answerMs: 200 })
  // Three that hang need three times the limit: who waits behind them is answered all the same.
  const asked = await Promise.allSettled(['hang', 'hang', 'hang', 'abcd'].map((text) => meter.rate(text, [])))
  assert.deepEqual(
    asked.map((result) => (result.status === 'fulfilled' ? result.value.score : result.reason.status)),
    [503, 503, 503, 4],
  )
  await meter.close()
})

test('one caller waits with ten passwords at most, and another is served between them', async () => {
  const meter = createStrengthMeter({ worker: ODD_WORKER })
  const order: string[] = []
  const ask = (text: string, caller: string) => meter.rate(text, [], caller).then(() => order.push(caller))
  const loud = Array.from({ length: 30 }, () => ask('a', 'loud'))
  const quiet = ask('abc', 'quiet')
  const results = await Promise.allSettled([...loud, quiet])
  assert.equal(results.filter(({ status }) => status === 'rejected').length, 19)
  assert.ok(order.indexOf('quiet') <= 2, order.join())
  await meter.close()
})
