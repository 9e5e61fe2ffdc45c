// The metrics of mirrors.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'
import { type StandInSource, standInSource } from '#test/support/stand-ins/mirror-source.ts'

let source: StandInSource
let mirror: Mirroring
before(async () => {
  source = await standInSource()
  mirror = await mirroringApp(source.address)
})
after(async () => {
  await mirror?.t.close()
  await source?.close()
})

async function metricOf(name: string): Promise<number | undefined> {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec((await mirror.t.anyone.get('/metrics')).body) ?? []
  return value === undefined ? undefined : Number(value)
}
const ageOf = () => metricOf('depot_mirror_age_seconds')
const skippedOf = () => metricOf('depot_mirror_skipped_objects')

test('the metrics show the age of the oldest complete run and the number of objects that were not copied', async () => {
  assert.deepEqual([await ageOf(), await skippedOf()], [undefined, 0])
  source.add('Metric1', ['MetricV1', 'MetricV2'])
  const bytes = source.files.get('MetricV2.jar')
  source.files.delete('MetricV2.jar')
  const { skipped } = await mirror.run()
  assert.deepEqual([skipped, await skippedOf()], [1, 1], mirror.warnings.join())
  assert.ok(((await ageOf()) ?? 3600) < 600)

  await mirror.t.deps.pool.query("update mirror set last_run = now() - interval '5 hours'")
  assert.ok(Math.abs(((await ageOf()) ?? 0) - 5 * 3600) < 600)
  source.fault = (_req, res) => {
    res.writeHead(404).end()
    return true
  }
  await assert.rejects(mirror.run())
  assert.ok(((await ageOf()) ?? 0) > 4 * 3600, 'a run that fails is not complete')

  source.fault = undefined
  assert.ok(bytes !== undefined)
  source.files.set('MetricV2.jar', bytes)
  await mirror.run()
  assert.ok(((await ageOf()) ?? 3600) < 600)
  assert.equal(await skippedOf(), 0)
})
