// One Depot with three servers, a worker, HAProxy and an engine behind each port: `npm run test:cluster`.
// scripts/engines starts the engines and must have installed them; if one is missing, the tests are skipped.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { depot } from '#test/support/processes/running-depot.ts'
import { catalogueTests } from './catalogue.ts'
import { type Cluster, send, startCluster } from './cluster.ts'
import { faultTests } from './faults.ts'

const run = promisify(execFile)
const started = await startCluster()

describe('three servers, a worker, a balancer and four engines', {
  skip: typeof started === 'string' && started,
}, () => {
  const cluster = started as Cluster
  const slug = `cluster-${Date.now().toString(36)}`
  let filePath = ''

  after(() => cluster.close())

  describe('are one Depot', () => {
    before(async () => {
      while ((await send(cluster.url, '/ready', '192.0.2.1')).status !== 200) await sleep(100)
    })

    test('the documented program publishes and downloads through the balancer', async () => {
      const script = join(import.meta.dirname, '../../scripts/publish-and-download.ts')
      const { stdout } = await run(process.execPath, [script, '--url', cluster.url, '--slug', slug], {
        env: { ...process.env, ...cluster.env, DATA_DIR: cluster.dataDir },
      })
      assert.match(stdout, /The hashes agree/)
      const { body } = await send(cluster.url, `/v3/project/${slug}/version`, '192.0.2.1')
      filePath = new URL((body as { files: { url: string }[] }[])[0]?.files[0]?.url ?? '').pathname
    })

    test('a request rate is one for all servers', async () => {
      // This process relays the connections to the engines: with six concurrent requests, it has enough time for them.
      const flood = async (address: string) => {
        const seen = { passed: 0, refused: 0, limits: new Set<string | null>() }
        const startedAt = performance.now()
        const client = async (_: unknown, n: number): Promise<void> => {
          while (seen.refused < 12) {
            const headers = { 'x-ratelimit-key': '' }
            const answer = await send(cluster.own[n % 3] ?? '', '/v3/tag/loader', address, { headers })
            seen.limits.add(answer.headers.get('x-ratelimit-limit'))
            if (answer.status === 200) seen.passed += 1
            else seen.refused += 1
          }
        }
        await Promise.all(Array.from({ length: 6 }, client))
        return { ...seen, seconds: (performance.now() - startedAt) / 1000 }
      }
      // If Redis does not respond within half a second, a process counts locally. The test then tries again.
      for (let n = 0; ; n += 1) {
        const { passed, limits, seconds } = await flood(`192.0.2.${100 + n}`)
        if (limits.size > 1 || !limits.has('300')) continue
        assert.ok(passed >= 300 && passed <= 301 + 5 * seconds, `${passed} passed in ${seconds} s`)
        return
      }
    })

    test('downloads at all servers are counted together, once', async () => {
      const downloads = async (): Promise<number> => {
        const { body } = await send(cluster.url, `/v3/project/${slug}`, '192.0.2.1')
        return (body as { downloads: number }).downloads
      }
      const before = await downloads()
      await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const sent = await send(cluster.own[n % 3] ?? '', filePath, `203.0.113.${100 + n}`)
          assert.equal(sent.status, 200)
        }),
      )
      while ((await downloads()) < before + 12) await sleep(50)
      assert.equal(await downloads(), before + 12)
    })

    test('a command rebuilds the shared index while the servers run', async () => {
      const { code, stdout, stderr } = await depot(cluster.dataDir, ['reindex'], cluster.env)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /The server rebuilt its search index/)
    })
  })

  describe('hold a catalogue', () => catalogueTests(() => cluster))
  describe('outlive what breaks', () => faultTests(() => cluster))
})
