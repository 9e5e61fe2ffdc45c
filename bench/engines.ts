// Counters in Redis and files in S3, compared with the adapters inside the process. A separate program, because its
// memory is part of the measurement.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { MINUTE_MS } from '#lib/time.ts'
import { openRedisCounters } from '#ports/counters/redis/redis-counters.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import type { Files } from '#ports/files/files.ts'
import { openS3Files } from '#ports/files/s3/s3-files.ts'
import { startEngine } from '#test/support/engines/engine.ts'
import { figure, printTable, type Row, row } from './kit/table.ts'
import { show, time } from './kit/timing.ts'

const RATE = { limit: 300, periodMs: MINUTE_MS, burst: 300 }
const CALLS = 5_000
const CONCURRENCY = 64
const FILE_BYTES = 200 * 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, 'depot')
const ROUNDS = 5

const mb = (bytes: number) => Math.round(bytes / 2 ** 20)

async function benchRedis(): Promise<Row[]> {
  const engine = await startEngine('redis')
  if (typeof engine === 'string') return [figure('counters in Redis', engine)]
  const counters = await openRedisCounters({ url: engine.settings['REDIS_URL'] ?? '', prefix: 'bench:' })
  try {
    const alone = await time(CALLS, async (i) => counters.take(`address ${i}`, RATE))
    const cpu = process.cpuUsage()
    const start = performance.now()
    let sent = 0
    const caller = async () => {
      while (sent < CALLS * 10) {
        sent += 1
        await counters.take(`address ${sent}`, RATE)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, caller))
    const perSecond = sent / ((performance.now() - start) / 1000)
    const { user, system } = process.cpuUsage(cpu)
    return [
      row('GCRA through Redis, one call after the other, median', alone.p50, { atMost: 0.3 }, ' ms', show(alone)),
      figure(
        `the same, ${CONCURRENCY} concurrent`,
        `${perSecond.toFixed(0)} calls/s, ${((user + system) / sent).toFixed(0)} µs of processor each`,
      ),
    ]
  } finally {
    await counters.close()
    await engine.remove()
  }
}

/** Seconds to publish a staged file of 200 MB; staging is the same for both. */
async function publish(files: Files, key: string): Promise<{ seconds: number; gained: number }> {
  const staged = await files.stage(Readable.from(Array.from({ length: FILE_BYTES / CHUNK.length }, () => CHUNK)), {
    maxBytes: FILE_BYTES,
  })
  const before = process.memoryUsage.rss()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 5)
  const start = performance.now()
  await files.publish(staged, key, { contentType: 'application/java-archive' })
  const seconds = (performance.now() - start) / 1000
  clearInterval(watch)
  return { seconds, gained: peak - before }
}

async function benchS3(): Promise<Row[]> {
  const engine = await startEngine('s3')
  if (typeof engine === 'string') return [figure('files in S3', engine)]
  const folder = await mkdtemp(join(tmpdir(), 'depot-bench-'))
  const { settings } = engine
  process.env['AWS_ACCESS_KEY_ID'] = settings['AWS_ACCESS_KEY_ID']
  process.env['AWS_SECRET_ACCESS_KEY'] = settings['AWS_SECRET_ACCESS_KEY']
  try {
    const disk = await openDiskFiles({ folder: join(folder, 'disk') })
    const s3 = await openS3Files({
      location: {
        bucket: settings['S3_BUCKET'] ?? '',
        endpoint: settings['S3_ENDPOINT'],
        region: settings['S3_REGION'] ?? '',
        pathStyle: true,
        prefix: '',
      },
      staging: join(folder, 'staging'),
      links: false,
    })
    const ratios: number[] = []
    const theirs: number[] = []
    const ours: number[] = []
    let gained = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const upload = async (files: Files) => {
        const start = performance.now()
        const published = await publish(files, `bench/${round}.jar`)
        return { ...published, whole: (performance.now() - start) / 1000 }
      }
      const atDisk = await upload(disk)
      const atS3 = await upload(s3)
      // The first round warms up.
      if (round > 0) {
        ratios.push(atS3.whole / atDisk.whole)
        theirs.push(atDisk.whole)
        ours.push(atS3.whole)
        gained = Math.max(gained, atS3.gained)
      }
      await Promise.all([disk.remove(`bench/${round}.jar`), s3.remove(`bench/${round}.jar`)])
    }
    await s3.close()
    const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
    return [
      row(
        '200 MB taken in and stored in S3, against the folder (median of 4)',
        median(ratios),
        { atMost: 2 },
        '×',
        `${median(ours).toFixed(2)} s; folder ${median(theirs).toFixed(2)} s`,
      ),
      row('memory gained while 200 MB go to S3, most of 4', mb(gained), { atMost: 64 }, ' MB'),
    ]
  } finally {
    await engine.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

printTable('Engines behind the ports', [...(await benchRedis()), ...(await benchS3())])
