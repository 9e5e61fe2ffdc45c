// The packed client in a real browser, on a page of another origin: lists, errors, and uploads with progress that continue
// after cut connections and a reload.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'
import { installPackedClient } from '#test/support/processes/packed-client.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'

const { dataDir: folder, remove } = makeDataDir()
const BYTES = modJar('browser', [{ name: 'noise.bin', data: randomBytes(4_000_000), stored: true }])
const PAGE = `<!doctype html><title>A tool</title>
<script type="importmap">{ "imports": {
  "depot-hosting-client": "/modules/depot-hosting-client/dist/index.js",
  "openapi-fetch": "/modules/depot-hosting-client/node_modules/openapi-fetch/dist/index.mjs"
} }</script>`

let site: Site
let modules: string
let server: Server
let origin: string
let project: MadeProject
let token: string
before(async () => {
  modules = join(await installPackedClient(folder), 'node_modules')
  site = await openSite()
  const { make } = site.t
  project = await make.project({ slug: 'lantern', name: 'Lantern' })
  token = (await make.pat(project.owner)).token
  for (const version_number of ['1.0.0', '1.1.0', '1.2.0']) await make.version({ project, version_number })
  await site.t.searchable()
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://tool')
    if (pathname === '/lamp.jar') return void response.end(BYTES)
    if (!pathname.startsWith('/modules/'))
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(pathname === '/' ? PAGE : '')
    const content = readFileSync(join(modules, pathname.slice('/modules/'.length)))
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(content)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server?.close()
  server?.closeAllConnections()
  await site?.close()
  remove()
})

/** Runs the body of an async function in the page; `depot` is a client of `url`. */
const program = (body: string, url = site.url): string => `(async () => {
  const { createDepot, DepotError } = await import('depot-hosting-client')
  const depot = createDepot({ url: ${JSON.stringify(url)}, token: ${JSON.stringify(token)}, userAgent: 'ignored/1.0' })
  ${body}
})()`

test('lists, pages, lookups and errors work on a page of another origin', async () => {
  const { context, page, problems } = await newPerson(site)
  await page.goto(origin)
  const seen = await page.evaluate(
    program(`
    const { hits } = await depot.get('/v3/search', { params: { query: { query: 'lantern' } } })
    const init = { params: { path: { id: 'lantern' }, query: { limit: 2 } } }
    const versions = await Array.fromAsync(depot.items('/v3/project/{id}/version', init))
    const pages = await Array.fromAsync(depot.pages('/v3/project/{id}/version', init))
    const [found] = await depot.many('/v3/projects', [hits[0].project_id])
    const error = await depot.get('/v3/project/{id}', { params: { path: { id: 'nowhere' } } }).catch((error) => error)
    return {
      hits: hits.map(({ name }) => name), numbers: versions.map(({ version_number }) => version_number),
      sizes: pages.map(({ length }) => length), found: found.name,
      error: [error instanceof DepotError, error.status, error.error, typeof error.requestId],
    }`),
  )
  assert.deepEqual(seen, {
    hits: ['Lantern'],
    numbers: ['1.2.0', '1.1.0', '1.0.0'],
    sizes: [2, 1],
    found: 'Lantern',
    error: [true, 404, 'not_found', 'string'],
  })
  assert.deepEqual(problems, [])
  await context.close()
})

const UPLOAD = `
  const content = await (await fetch('/lamp.jar')).blob()
  const file = new File([content], 'lamp.jar', { lastModified: 1_772_366_400_000 })
  const progress = []
  const upload = (onProgress) => depot.upload(file, {
    resume: localStorage, partBytes: 500_000, onProgress: (step) => { progress.push(step.sent); onProgress?.(step) },
  })`

test('an upload through cut connections continues after a reload, and a version uses it', async () => {
  const proxy = await startCuttingProxy([site.url], { cuts: 4, maxBytes: 1_500_000 })
  const { context, page, problems } = await newPerson(site)
  await page.goto(origin)
  const reloaded = page.waitForEvent('load')
  await page
    .evaluate(program(`${UPLOAD}; await upload(({ sent }) => { if (sent >= 2_000_000) location.reload() })`, proxy.url))
    .catch((error: Error) => assert.match(error.message, /context was destroyed|navigation/))
  await reloaded
  const data = JSON.stringify({ ...versionData({ version_number: '2.0.0' }), project_id: project.id })
  const { progress, files, left } = (await page.evaluate(
    program(
      `${UPLOAD}
      const { id } = await upload()
      const version = await depot.post('/v3/version', { body: { ...${data}, file_parts: ['upload:' + id] } })
      return { progress, files: version.files, left: localStorage.length }`,
      proxy.url,
    ),
  )) as { progress: number[]; files: { hashes: { sha512: string } }[]; left: number }
  assert.ok(proxy.cuts() > 0)
  assert.ok((progress[0] ?? 0) >= 2_000_000, `The upload continued at ${progress[0]}`)
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  )
  assert.equal(progress.at(-1), BYTES.length)
  assert.equal(files[0]?.hashes.sha512, createHash('sha512').update(BYTES).digest('hex'))
  assert.equal(left, 0)
  assert.deepEqual(
    problems.filter((problem) => !/ERR_EMPTY_RESPONSE|ERR_CONNECTION|Failed to load/.test(problem)),
    [],
  )
  await context.close()
  await proxy.close()
})

test('a form with a small file publishes a version', async () => {
  const { context, page, problems } = await newPerson(site)
  await page.goto(origin)
  const data = JSON.stringify({ ...versionData({ version_number: '3.0.0' }), project_id: project.id })
  const small = JSON.stringify(modJar('small').toString('base64'))
  const files = await page.evaluate(
    program(`
    const content = await (await fetch('data:application/java-archive;base64,' + ${small})).blob()
    const { files } = await depot.publish(${data}, [new File([content], 'small.jar')])
    return files.map(({ filename }) => filename)`),
  )
  assert.deepEqual([files, problems], [['small.jar'], []])
  await context.close()
})
