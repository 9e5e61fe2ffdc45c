import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@redis/client'
import { OperatorError } from '#lib/operator-error.ts'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { counterConformance } from '#test/conformance/counters.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { startTcpProxy, type TcpProxy } from '#test/support/stand-ins/tcp-proxy.ts'
import type { Counters } from '../counters.ts'
import { withFallback } from '../fallback.ts'
import { createMemoryCounters } from '../memory/memory-counters.ts'
import { openRedisCounters } from './redis-counters.ts'

const started = await startEngine('redis')
const skip = typeof started === 'string' ? started : false
const engine = started as Engine
const url = skip ? '' : (engine.settings['REDIS_URL'] ?? '')

const RATE = { limit: 300, periodMs: MINUTE_MS, burst: 300 }
const WINDOW = { max: 10, windowMs: 900_000 }

describe('Redis', { skip }, () => {
  const opened: Counters[] = []
  after(async () => {
    // A test that failed has left its own open.
    await Promise.all(opened.map((counters) => counters.close()))
    await engine.remove()
  })

  async function open(more: Partial<Parameters<typeof openRedisCounters>[0]> = {}): Promise<Counters> {
    const counters = await openRedisCounters({ url, prefix: 'depot:', ...more })
    opened.push(counters)
    return counters
  }

  const connectAdmin = () => createClient({ url }).connect()

  /** A connection of the test's own, as an operator has one. */
  async function withAdmin<T>(act: (admin: Awaited<ReturnType<typeof connectAdmin>>) => Promise<T>): Promise<T> {
    const admin = await connectAdmin()
    try {
      return await act(admin)
    } finally {
      admin.destroy()
    }
  }

  counterConformance('Redis', (now) => open({ now, prefix: 'conformance:' }))

  test('processes count together, by the clock of the server', async () => {
    const all = await Promise.all(Array.from({ length: 3 }, () => open()))
    const taken = await Promise.all(
      Array.from({ length: 360 }, (_, i) => all[i % 3]?.take('together', { limit: 1, periodMs: HOUR_MS, burst: 300 })),
    )
    assert.equal(taken.filter((each) => each?.allowed).length, 300)
    const hits = await Promise.all(Array.from({ length: 60 }, (_, i) => all[i % 3]?.hit('together', WINDOW)))
    assert.equal(hits.filter((each) => each?.counted).length, 10)
    const spent = await Promise.all(
      Array.from({ length: 60 }, (_, i) => all[i % 3]?.spend('together', 7, { max: 100, spanMs: HOUR_MS })),
    )
    assert.equal(
      spent.reduce((sum, each) => (sum ?? 0) + (each ?? 0), 0),
      100,
    )
    await Promise.all(all.map((each) => each.close()))
  })

  test('every key has the prefix and expires automatically', async () => {
    const counters = await open({ prefix: 'expiry:' })
    await counters.take('a', RATE)
    await counters.take('b', RATE, 2)
    await counters.giveBack('b', RATE)
    await counters.hit('a', WINDOW)
    await counters.hit('b', WINDOW)
    await counters.hit('b', WINDOW)
    await counters.giveBackHit('b', WINDOW)
    await counters.spend('a', 5, { max: 10, spanMs: 60_000 })
    await withAdmin(async (admin) => {
      const keys = await admin.keys('expiry:*')
      // The rates may be full again already: they take 200 ms.
      assert.ok(
        ['window:a', 'window:b', 'allowance:a'].every((key) => keys.includes(`expiry:${key}`)),
        String(keys),
      )
      for (const key of keys) assert.notEqual(await admin.pTTL(key), -1, key)
    })
    await counters.close()
  })

  test('scripts that the server has forgotten are sent again', async () => {
    const counters = await open()
    await withAdmin((admin) => admin.scriptFlush())
    assert.equal((await counters.take('forgotten', RATE)).remaining, 299)
    await counters.close()
  })

  test('calls are reported with their time and outcome', async () => {
    const calls: [string, boolean][] = []
    const counters = await open({
      onCall: (operation, seconds, failed) => {
        assert.ok(seconds >= 0)
        calls.push([operation, failed])
      },
    })
    await counters.hit('reported', WINDOW)
    await counters.close()
    await assert.rejects(async () => counters.hit('reported', WINDOW))
    assert.deepEqual(calls, [
      ['hit', false],
      ['hit', true],
    ])
  })

  describe('a start fails with the reason when', () => {
    const refused = async (address: string, reason: RegExp) => {
      await assert.rejects(openRedisCounters({ url: address, prefix: 'depot:' }), (error: unknown) => {
        assert.ok(error instanceof OperatorError)
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /hidden/)
        return true
      })
    }
    const at = (user: string, database = '0') => `redis://${user}127.0.0.1:${engine.port}/${database}`

    test('the password is wrong', () => refused(at('depot:hidden@'), /WRONGPASS.*user and the password/s))
    test('the database does not exist', () => refused(at('', '99'), /number of the database/))
    test('the host does not exist', () => refused('redis://no-such-host.invalid:6379', /host in REDIS_URL/))
    test('the user lacks a right, and the rights that the page lists are enough', async () => {
      const rights =
        '+@connection +info +ping +eval +evalsha +time +get +set +del +unlink +lrange +rpush +pexpire +hget +hset'
      await withAdmin(async (admin) => {
        await admin.sendCommand(['ACL', 'SETUSER', 'narrow', 'on', '>hidden', '~depot:*', '+@connection', '+info'])
        await refused(at('narrow:hidden@'), /NOPERM.*docs\/operators\/engines\/redis\.md/s)
        await admin.sendCommand(['ACL', 'SETUSER', 'narrow', ...rights.split(' ')])
      })
      const counters = await open({ url: at('narrow:hidden@') })
      assert.equal((await counters.hit('narrow', WINDOW)).count, 1)
      await counters.close()
    })
    test('it is a replica', async () => {
      await withAdmin(async (admin) => {
        await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
        await refused(url, /REDIS_URL must name the primary/).finally(() =>
          admin.sendCommand(['REPLICAOF', 'NO', 'ONE']),
        )
      })
    })
  })

  test('a Redis that forgets keys when it is full is advised against', async () => {
    const advice: string[] = []
    await withAdmin(async (admin) => {
      await admin.configSet('maxmemory-policy', 'allkeys-lru')
      await (await open({ onAdvice: (sentence) => advice.push(sentence) })).close()
      await admin.configSet('maxmemory-policy', 'noeviction')
    })
    assert.match(advice.join(), /allkeys-lru/)
  })

  describe('errors', () => {
    let proxy: TcpProxy
    before(async () => {
      proxy = await startTcpProxy(engine.port)
    })
    after(() => proxy.close())

    /** Opens the counters as the server does: with a fallback to counters in this process. */
    async function openWithFallback() {
      const events: string[] = []
      const primary = await open({
        url: `redis://127.0.0.1:${proxy.port}`,
        prefix: `problems:${Math.random()}:`,
        onUnreachable: () => events.push('unreachable'),
      })
      const now = Date.now
      const counters = withFallback(primary, createMemoryCounters({ now }), {
        now,
        onLost: () => events.push('lost'),
        onBack: () => events.push('back'),
      })
      return { counters, primary, events }
    }

    /** Asks until Redis itself answers again, which its own limit of 300 shows. */
    async function untilBack(counters: Counters): Promise<void> {
      while ((await counters.take('probe', RATE)).limit !== 300) await new Promise((resolve) => setTimeout(resolve, 20))
    }

    async function limitedToSixty(counters: Counters): Promise<void> {
      const key = `flood ${Math.random()}`
      const taken = await Promise.all(Array.from({ length: 100 }, () => counters.take(key, RATE)))
      const allowed = taken.filter((each) => each.allowed).length
      assert.ok(allowed >= 60 && allowed <= 62, `${allowed} of 100 passed`)
      await assert.rejects(counters.check())
    }

    test('after a broken connection or a killed server, a smaller limit applies, and counting resumes when Redis is back', async () => {
      const { counters, events } = await openWithFallback()
      for (const [away, back] of [
        [() => proxy.cut(), () => proxy.mend()],
        [() => engine.signal('SIGKILL'), () => engine.start()],
        [() => engine.stop(), () => engine.start()],
      ] as const) {
        await untilBack(counters)
        await away()
        await limitedToSixty(counters)
        await back()
        await untilBack(counters)
        await counters.check()
      }
      assert.deepEqual(events, ['lost', 'back', 'lost', 'back', 'lost', 'back'])
      await counters.close()
    })

    test('a line that hangs is given up within half a second and replaced when it answers', async () => {
      const { counters, primary, events } = await openWithFallback()
      await counters.take('a', RATE)
      proxy.hang()
      await assert.rejects(async () => primary.take('a', RATE), /No response from Redis within 400 ms/)
      await limitedToSixty(counters)
      await proxy.mend()
      await untilBack(counters)
      assert.deepEqual(events, ['lost', 'back'])
      await counters.close()
    })

    test('a server that is paused or slow holds no call for longer than half a second', async () => {
      const { counters } = await openWithFallback()
      await counters.take('a', RATE)
      engine.signal('SIGSTOP')
      await limitedToSixty(counters)
      engine.signal('SIGCONT')
      await untilBack(counters)
      proxy.delay(450)
      assert.equal((await counters.take('a', RATE)).limit, 60)
      await proxy.mend()
      await untilBack(counters)
      await counters.close()
    })

    test('a Redis that is away at the start does not keep Depot from starting', async () => {
      await proxy.cut()
      const { counters, events } = await openWithFallback()
      assert.equal((await counters.take('a', RATE)).limit, 60)
      await proxy.mend()
      await untilBack(counters)
      assert.deepEqual(events, ['unreachable', 'lost', 'back'])
      await counters.close()
    })
  })
})
