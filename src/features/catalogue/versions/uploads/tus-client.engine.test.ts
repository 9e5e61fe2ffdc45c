// The same as tus-client.test.ts, with the parts of uploads in S3.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openS3Files } from '#ports/files/s3/s3-files.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { checkEveryCut, checkRivals } from '#test/support/http/tus-checks.ts'
import { checkTusUploads } from '#test/support/http/tus-steps.ts'

const started = await startEngine('s3')
const skip = typeof started === 'string' ? started : false
let t: TestApp | undefined
const staging = await mkdtemp(join(tmpdir(), 'depot-tus-'))

before(async () => {
  if (skip !== false) return
  const { settings } = started as Engine
  process.env['AWS_ACCESS_KEY_ID'] = settings['AWS_ACCESS_KEY_ID']
  process.env['AWS_SECRET_ACCESS_KEY'] = settings['AWS_SECRET_ACCESS_KEY']
  const location = {
    bucket: settings['S3_BUCKET'] ?? '',
    endpoint: settings['S3_ENDPOINT'],
    region: 'us-east-1',
    pathStyle: true,
    prefix: `tus-${process.pid}/`,
  }
  const files = await openS3Files({ location, staging, links: false })
  t = await testApp({ deps: () => ({ files }) })
})
after(async () => {
  await t?.close()
  await rm(staging, { recursive: true, force: true })
  if (typeof started !== 'string') await started.remove()
})

test('only acknowledged bytes of cut and rival requests count', { skip }, async () => {
  if (t === undefined) return
  await checkEveryCut(t, { bytes: 6 })
  await checkRivals(t)
})

test('a cut upload arrives in S3, and its version has the same bytes', { skip }, async () => {
  if (t !== undefined) await checkTusUploads(t, { deferred: false })
})
