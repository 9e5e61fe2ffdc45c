// The upload page over an unreliable connection: cuts, pauses, reloads, other tabs and moments without a network.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { accessProblems, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'

const NEW = '/mod/lantern/versions/new'
const MIB = 1024 * 1024
let site: Site
let owner: Person
let folder: string
const undo = new AsyncDisposableStack()
before(async () => {
  site = await openSite()
  const { make } = site.t
  owner = await make.account({ username: 'ida-marsh' })
  const project = await make.project({ owner, slug: 'lantern', name: 'Lantern' })
  const version = await make.version({ project, version_number: '1.0.0', loaders: ['fabric'] })
  await make.file({ version, project, bytes: modJar('first'), filename: 'lantern-1.0.0.jar' })
  folder = mkdtempSync(join(tmpdir(), 'depot-parts-'))
})
after(async () => {
  await undo.disposeAsync()
  await site?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Writes an archive of this size, so that choosing it again is choosing the same file. */
function makeFile(name: string, sizeBytes: number): { path: string; sha512: string } {
  const bytes = modJar(name, [{ name: 'noise.bin', data: randomBytes(sizeBytes), stored: true }])
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return { path, sha512: createHash('sha512').update(bytes).digest('hex') }
}

const stored = (page: Page, name: string) => page.locator('[data-files] [data-hash]', { hasText: name })
const choose = (page: Page, path: string) => page.locator('#add-files').setInputFiles(path)

async function publish(page: Page): Promise<void> {
  await page.getByLabel('Version number').fill('2.0.0')
  await page.getByLabel('Title').fill('Lantern 2.0.0')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
}

const sessions = new WeakMap<Page, CDPSession>()

/** Limits what the page sends, in bytes per second; 0 lifts the limit. */
async function limit(context: BrowserContext, page: Page, bytesPerSecond: number, offline = false): Promise<void> {
  const session = sessions.get(page) ?? (await context.newCDPSession(page))
  sessions.set(page, session)
  const uploadThroughput = bytesPerSecond === 0 ? -1 : bytesPerSecond
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  })
}

async function filesOfDraft(page: Page): Promise<{ filename: string; hashes: { sha512: string } }[]> {
  const id = new URL(page.url()).searchParams.get('draft') ?? ''
  return (await site.t.as(owner).get(`/v3/version/${id}`)).json().files
}

async function waitingUploads(): Promise<{ offset: number }[]> {
  const answer = await site.t.inject({
    method: 'GET',
    url: '/v3/upload',
    headers: { authorization: owner.token, 'user-agent': 'depot-test' },
  })
  return answer.json()
}

test('connections that are cut cost nothing, and the bar counts no unsaved change afterwards', async () => {
  const { context, page, problems } = await newPerson(site)
  await signIn(site, context, owner.token)
  const proxy = await startCuttingProxy([site.url], { cuts: 0, maxBytes: MIB })
  undo.defer(() => proxy.close())
  await page.goto(`${proxy.url}${NEW}`)
  proxy.cut(6)
  const { path, sha512 } = makeFile('cut.jar', 5 * MIB)
  await choose(page, path)
  await stored(page, 'cut.jar').waitFor()
  assert.ok(proxy.cuts() > 0, 'No connection was cut')
  assert.deepEqual(
    (await filesOfDraft(page)).map(({ hashes }) => hashes.sha512),
    [sha512],
  )
  assert.deepEqual(await waitingUploads(), [])
  assert.doesNotMatch((await page.locator('.save').textContent()) ?? '', /unsaved/)
  assert.deepEqual(
    problems.filter((text) => !/ERR_|Failed to load/.test(text)),
    [],
  )
  await context.close()
})

test('an upload is paused, resumed, continued after a reload, and continued without a network', async () => {
  const { context, page } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  const { path, sha512 } = makeFile('large.jar', 6 * MIB)
  await limit(context, page, MIB)
  await choose(page, path)
  const row = page.locator('[data-files] li', { hasText: 'large.jar' })
  await row.getByText(/^[1-9]\d?%, /).waitFor()
  await row.getByRole('button', { name: 'Pause the upload of large.jar' }).click()
  await row.getByText('Paused').waitFor()
  await shoot(page, 'upload-paused')
  assert.deepEqual(await accessProblems(page), [])
  await publish(page)
  await row.getByText('Continue or cancel this upload first.').waitFor()
  await row.getByRole('button', { name: 'Continue the upload of large.jar' }).click()
  await row.getByText(/^[2-9]\d%, /).waitFor()

  // A reload forgets the file, but not what has arrived.
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await row.getByText('To continue, choose the same file again.').waitFor()
  await shoot(page, 'upload-waiting')
  assert.deepEqual(await accessProblems(page), [])
  const before = await waitingUploads()
  assert.ok((before[0]?.offset ?? 0) > 0)
  await publish(page)
  await page.getByText('One file has not arrived completely.').first().waitFor()

  await limit(context, page, MIB)
  await choose(page, path)
  await row.getByText(/^\d+%, /).waitFor()
  await limit(context, page, MIB, true)
  await row.getByText('You are offline.').waitFor()
  await shoot(page, 'upload-offline')
  await limit(context, page, 0)
  await stored(page, 'large.jar').waitFor()
  assert.deepEqual(
    (await filesOfDraft(page)).map(({ hashes }) => hashes.sha512),
    [sha512],
  )
  assert.deepEqual(await waitingUploads(), [])
  await context.close()
})

test('another tab follows an upload, waits while it runs, and takes it over', async () => {
  const { context, page } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  const { path, sha512 } = makeFile('tabs.jar', 6 * MIB)
  await limit(context, page, MIB)
  await choose(page, path)
  await page.getByText(/^[1-9]\d?%, /).waitFor()
  const other = await context.newPage()
  await other.goto(page.url())
  const row = other.locator('[data-files] li', { hasText: 'tabs.jar' })
  await row.getByText('To continue, choose the same file again.').waitFor()
  await choose(other, path)
  await row.getByText('Another tab or device is sending this file.').waitFor()
  await page.close({ runBeforeUnload: false })
  await stored(other, 'tabs.jar').waitFor()
  assert.deepEqual(
    (await filesOfDraft(other)).map(({ hashes }) => hashes.sha512),
    [sha512],
  )

  // The first tab sends a file to the end: the other one shows it without a click.
  const third = await context.newPage()
  await third.goto(other.url())
  await limit(context, other, 2 * MIB)
  await choose(other, makeFile('followed.jar', 4 * MIB).path)
  await other.getByText(/^[1-9]\d?%, /).waitFor()
  await third.reload()
  await third.locator('[data-waiting]', { hasText: 'followed.jar' }).waitFor()
  await stored(third, 'followed.jar').waitFor()
  await context.close()
})

test('a cancelled upload is deleted, a refused name costs nothing, and a waiting file can be removed', async () => {
  const { context, page } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  await limit(context, page, MIB)
  const { path } = makeFile('away.jar', 6 * MIB)
  await choose(page, path)
  await page.getByText(/^[1-9]\d?%, /).waitFor()
  await page.getByRole('button', { name: 'Cancel the upload of away.jar' }).click()
  await page.getByText('Cancelled', { exact: true }).waitFor()
  while ((await waitingUploads()).length > 0) await page.waitForTimeout(50)
  await choose(page, makeFile('away.exe', 2 * MIB).path)
  await page.locator('[data-files] li.bad', { hasText: 'must end in one of the extensions' }).waitFor()
  while ((await waitingUploads()).length > 0) await page.waitForTimeout(50)
  await page.getByRole('button', { name: 'Upload away.jar again' }).click()
  await page.getByText(/^[1-9]\d?%, /).waitFor()
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.getByRole('button', { name: 'Remove away.jar' }).click()
  await page.locator('[data-waiting]').waitFor({ state: 'detached' })
  assert.deepEqual(await waitingUploads(), [])
  await context.close()
})
