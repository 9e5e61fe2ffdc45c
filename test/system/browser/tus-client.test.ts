// An independent client of tus in a browser, on a page of another site, through connections that are cut at random places.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newPerson, openSite } from '#test/support/browser/chromium.ts'
import { startEngine } from '#test/support/engines/engine.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'

const CLIENT = join(import.meta.dirname, '../../../node_modules/tus-js-client/dist/tus.min.js')
const s3 = await startEngine('s3')
const undo = new AsyncDisposableStack()
after(() => undo.disposeAsync())
if (typeof s3 !== 'string') undo.defer(() => s3.remove())

type Tus = { Upload: new (file: Blob, options: unknown) => { url: string; start(): void } }

async function checkBrowserUpload(env: Record<string, string>): Promise<void> {
  const site = await openSite(env)
  undo.defer(() => site.close())
  const project = await site.t.make.project()
  const bytes = modJar('browser', [{ name: 'noise.bin', data: randomBytes(3_000_000), stored: true }])
  const proxy = await startCuttingProxy([site.url], { cuts: 6, maxBytes: 600_000 })
  undo.defer(() => proxy.close())
  const { context, page } = await newPerson(site, { extraHTTPHeaders: {} })
  await page.goto(site.callback)
  await page.addScriptTag({ path: CLIENT })
  const upload = { url: proxy.url, token: project.owner.token, base64: bytes.toString('base64') }
  const url = await page.evaluate(async ({ url, token, base64 }) => {
    const { tus } = globalThis as unknown as { tus: Tus }
    const file = await (await fetch(`data:application/java-archive;base64,${base64}`)).blob()
    return new Promise<string>((resolve, reject) => {
      const client = new tus.Upload(file, {
        endpoint: `${url}/v3/upload`,
        headers: { authorization: token },
        metadata: { filename: 'browser.jar' },
        chunkSize: 800_000,
        retryDelays: Array.from({ length: 500 }, () => 20),
        onError: reject,
        onSuccess: () => resolve(client.url),
      })
      client.start()
    })
  }, upload)
  assert.ok(proxy.cuts() > 0, 'No connection was cut')
  const data = { ...versionData(), project_id: project.id, file_parts: [`upload:${url.split('/').at(-1)}`] }
  const made = await site.t.as(project.owner).post('/v3/version', data)
  assert.equal(made.statusCode, 201, made.body)
  assert.equal(made.json().files[0].hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
  await context.close()
}

test('a file arrives in a folder', () => checkBrowserUpload({}))

test('a file arrives in S3', { skip: typeof s3 === 'string' && s3 }, async () => {
  if (typeof s3 === 'string') return
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...settings } = s3.settings
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY })
  await checkBrowserUpload(settings)
})
