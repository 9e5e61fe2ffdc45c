// Faults in the cluster while all writers run. After each fault, every acknowledged write must exist exactly once and
// search must find it. `npm run faults` runs the same checks on one process.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkLedger, checkNothingLeft, untilReady } from '#test/system/faults/check.ts'
import { setUp } from '#test/system/faults/set-up.ts'
import { type Ledger, startWriters } from '#test/system/faults/writers.ts'
import { type Answer, type Cluster, type EngineName, send } from './cluster.ts'

/** Number of responses that the writers receive while a fault lasts. */
const ANSWERS = 25
/** Addresses that read all the time, so that each server has some of them. */
const READERS = 6
/** After this time a request counts as unanswered. */
const PATIENCE_MS = 5_000
/** More than a call to Redis may take, less than one to the others. */
const SLOW_MS = 600

type Load = { failed: string[]; answers(n: number): Promise<void> }

/** Registers the tests, which need `cluster` when they run. */
export function faultTests(cluster: () => Cluster): void {
  let ledger: Ledger
  let file: string
  let asked = 0

  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> => {
    asked += 1
    return send(cluster().url, path, `198.18.${(asked >> 8) & 255}.${asked & 255}`, { headers })
  }
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await sleep(50)
  }
  const projectPath = () => `/v3/project/${ledger.project.id}`

  before(async () => {
    ledger = await setUp(cluster().instance)
    file = [...ledger.versions.values()][0]?.url ?? ''
  })

  /**
   * Everybody reads and writes while `act` runs; `failed` are readers' answers other than 200. `mayActLate`: requests that
   * everybody has given up may be carried out afterwards, between later ones.
   */
  async function underLoad(
    act: (load: Load) => Promise<number | undefined>,
    { mayActLate = false } = {},
  ): Promise<void> {
    const { instance } = cluster()
    const load: Load = {
      failed: [],
      answers: async (n) => {
        const count = () => [...ledger.answers.values()].reduce((sum, each) => sum + each, 0)
        const enough = count() + n
        await until(async () => count() >= enough)
      },
    }
    let isOver = false
    const readers = Array.from({ length: READERS }, async (_, n) => {
      while (!isOver) {
        const answer = await send(cluster().url, projectPath(), `203.0.113.${n}`).catch((error: unknown) =>
          String(error),
        )
        if (typeof answer === 'string') load.failed.push(answer)
        else if (answer.status !== 200) load.failed.push(`${answer.status} ${answer.headers.get('x-served-by')}`)
        await sleep(5)
      }
    })
    const writers = startWriters(instance, ledger)
    let killedAt: number | undefined
    try {
      await load.answers(ANSWERS)
      killedAt = await act(load)
      await load.answers(ANSWERS)
    } finally {
      isOver = true
      await Promise.all([...readers, writers.stop()])
    }
    // The rejection is correct: on a busy machine, the time passed while the request was in flight.
    ledger.improper = ledger.improper.filter((problem) => !problem.includes('must be a time in the future'))
    if (mayActLate) forgetFollows(ledger)
    assert.deepEqual(cluster().died(), [])
    assert.deepEqual(await checkLedger(instance, ledger, killedAt), [])
  }

  const failures = (): number =>
    [...ledger.answers].reduce((sum, [status, count]) => sum + (status === 0 || status >= 500 ? count : 0), 0)
  const serverOf = async (address: string): Promise<number> => {
    const { headers } = await send(cluster().url, '/health', address)
    return Number(/\d+$/.exec(headers.get('x-served-by') ?? '')?.[0])
  }

  test('one of three servers is killed: no reader notices', async () => {
    const { servers, startServer } = cluster()
    await underLoad(async ({ failed, answers }) => {
      const n = await serverOf('203.0.113.0')
      const killedAt = Date.now()
      await servers[n]?.stop('SIGKILL')
      await answers(ANSWERS)
      assert.deepEqual(failed, [])
      await startServer(n)
      assert.deepEqual(failed, [])
      return killedAt
    })
  })

  test('a rolling restart: not one request fails, reading or writing', async () => {
    const { servers, own, startServer } = cluster()
    await underLoad(async ({ failed }) => {
      const before = failures()
      for (const n of servers.keys()) {
        assert.equal(await servers[n]?.stop('SIGTERM'), 0)
        await startServer(n)
        await until(async () => (await send(own[n] ?? '', '/ready?for=balancer', '192.0.2.9')).status === 200)
      }
      assert.deepEqual(failed, [])
      // A failure shows the errors in the logs of all servers.
      const lines = cluster().instance.log().split('\n')
      assert.equal(failures() - before, 0, lines.filter((line) => /"level":"(error|fatal)"/.test(line)).join('\n'))
      return undefined
    })
  })

  /** Functions that break and restore each engine. */
  const ways = (name: EngineName): [string, () => Promise<void>, () => Promise<void>][] => {
    const engine = () => cluster().engines[name]
    const line = () => cluster().lines[name]
    return [
      ['killed', async () => engine().signal('SIGKILL'), async () => engine().start()],
      ['silent', async () => line().hang(), () => line().mend()],
      ['slow', async () => line().delay(SLOW_MS), () => line().mend()],
    ]
  }

  const limit = async (): Promise<string | null> =>
    (await get('/v3/tag/loader', { 'x-ratelimit-key': '' })).headers.get('x-ratelimit-limit')
  /** Expected behaviour for users while an engine is unavailable, by kind of fault. */
  const seen: Record<EngineName, (way: string) => Promise<void>> = {
    redis: () => until(async () => (await limit()) === '60'),
    s3: async (way) => {
      if (way === 'slow') return until(async () => (await get(file)).status === 200)
      await until(async () => {
        const { status, body } = await get(file)
        if (status !== 200) assert.deepEqual([status, (body as { error: string }).error], [503, 'file_hosting_error'])
        return status === 503
      })
    },
    opensearch: async (way) => {
      if (way !== 'slow') return until(async () => (await get('/v3/search')).status === 503)
      await until(async () => (await get('/v3/search')).status === 200)
    },
    // Events wait on the disk until the engine is back; users see only counters that do not change.
    clickhouse: async () => undefined,
  }
  const back: Record<EngineName, () => Promise<void>> = {
    redis: () => until(async () => (await limit()) === '300'),
    s3: () => until(async () => (await get(file)).status === 200),
    opensearch: () => until(async () => (await get('/v3/search')).status === 200),
    clickhouse: async () => undefined,
  }
  for (const name of ['redis', 's3', 'opensearch', 'clickhouse'] as const) {
    for (const [way, damage, mend] of ways(name)) {
      test(`${name} is ${way}, then restored: everything else works, and nothing is lost`, async () => {
        await underLoad(async ({ failed, answers }) => {
          await damage()
          try {
            await Promise.all([seen[name](way), answers(ANSWERS)])
          } finally {
            await mend()
          }
          await back[name]()
          assert.deepEqual(failed, [])
          return undefined
        })
      })
    }
  }

  test('OpenSearch comes back empty: the index is built again', async () => {
    const { engines, own } = cluster()
    await underLoad(async ({ failed }) => {
      const removed = await fetch(`${engines.opensearch.settings['OPENSEARCH_URL']}/depot-*`, { method: 'DELETE' })
      assert.equal(removed.status, 200)
      const finds = async (url: string) =>
        JSON.stringify((await send(url, `/v3/search?query=${ledger.project.slug}`, '192.0.2.9')).body).includes(
          `"${ledger.project.id}"`,
        )
      for (const url of own) await until(() => finds(url))
      assert.deepEqual(failed, [])
      return undefined
    })
  })

  for (const [how, signal] of [
    ['restarted', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const) {
    test(`PostgreSQL is ${how}: everything works again by itself`, async () => {
      await underLoad(async () => {
        await cluster().restartDatabase(signal)
        await untilReady(cluster().instance)
        return undefined
      })
    })
  }

  test('one server hears nothing of the database any more: it says nothing old, and others answer for it', async () => {
    const { databaseLines, own } = cluster()
    await underLoad(
      async ({ answers }) => {
        const n = await serverOf('203.0.113.0')
        const other = own[(n + 1) % own.length] ?? ''
        const deaf = async (): Promise<string | undefined> => {
          const response = await fetch(`${own[n]}${projectPath()}`, {
            headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': 'none' },
            signal: AbortSignal.timeout(PATIENCE_MS),
          }).catch(() => undefined)
          return response?.status === 200 ? await response.text() : undefined
        }
        databaseLines[n]?.hang('answers')
        try {
          // It may answer from its cache until it has noticed.
          await until(async () => (await deaf()) === undefined)
          // A transaction of that server may hold the row, until the database gives it up after a minute.
          const write = { method: 'PATCH', token: ledger.author, json: { description: '# Written during the fault' } }
          await until(async () => (await send(other, projectPath(), '192.0.2.9', write)).status === 204)
          const answer = await deaf()
          assert.ok(answer === undefined || answer.includes('Written during the fault'), answer)
          await until(async () => (await serverOf('203.0.113.0')) !== n)
          await answers(ANSWERS)
        } finally {
          await databaseLines[n]?.mend()
        }
        await until(async () => (await send(own[n] ?? '', '/ready?for=balancer', '192.0.2.9')).status === 200)
        return undefined
      },
      { mayActLate: true },
    )
  })

  test('in the end rows, files, events and counters agree', async () => {
    assert.deepEqual(await checkNothingLeft(cluster().instance), [])
  })
}

/** Forgets the follows: a late request might have followed already, so that the next follow fails. */
function forgetFollows(ledger: Ledger): void {
  ledger.improper = ledger.improper.filter((problem) => !problem.startsWith('follow: 400'))
  for (const follower of ledger.followers) follower.follows = undefined
}
