// The queue and the review of a project in a real browser: wide and narrow, light and dark, high contrast and right to
// left; and a review with and without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

const LONG = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-without-a-single-space'

let site: Site
let mira: Person
let owner: Person
let paths: [name: string, path: string][]
before(async () => {
  site = await openSite()
  mira = await site.t.make.account({ role: 'moderator', username: 'mira' })
  owner = await site.t.make.account({ username: 'quartzine' })
  const reply = { topic: 'files', language: 'en', title: 'Sources', body: 'Add the sources of {project}.' }
  assert.equal((await site.t.as(mira).post('/_internal/moderation/replies', reply)).statusCode, 201)
  const project = await waiting(LONG)
  const old = await addVersion(project, '1.0.0', [{ name: 'fabric.mod.json', data: '{"id":1}' }])
  await edit(project, mira, { status: 'approved' })
  const description = Array.from({ length: 9 }, (_, n) => `Paragraph ${n} of ${LONG}.`).join('\n\n')
  const links = { source: `https://git.example.org/${LONG}` }
  await edit(project, owner, { description, link_urls: links, summary: 'Another summary', status: 'draft' })
  const now = await addVersion(project, '1.1.0', [
    { name: 'fabric.mod.json', data: '{"id":2}' },
    { name: `natives/${LONG}/tone.dll`, data: 'x' },
    { name: 'a\u202Egnp.sh', data: 'x' },
  ])
  await edit(project, owner, { status: 'processing' })
  const first = await waiting('Lantern')
  const files = `/moderation/project/${project.id}/files?version=${now}&against=${old}`
  paths = [
    ['overview', '/moderation'],
    ['queue', '/moderation/queue'],
    ['queue-none', '/moderation/queue?query=nothing'],
    ['review', `/moderation/project/${project.id}`],
    ['first-review', `/moderation/project/${first.id}`],
    ['entries', files],
    ['statistics', '/moderation/statistics'],
  ]
})
after(() => site?.close())

async function edit({ id }: { id: string }, who: Person, fields: object): Promise<void> {
  const answer = await site.t.as(who).patch(`/v3/project/${id}`, fields)
  assert.equal(answer.statusCode, 204, answer.body)
}

async function addVersion(project: MadeProject, number: string, entries: { name: string; data: string }[]) {
  const version = await site.t.make.version({ project, version_number: number })
  await site.t.make.file({ version, project, bytes: makeZip(entries), filename: `${LONG}-${number}.jar` })
  return version.id
}

async function waiting(name: string): Promise<MadeProject> {
  const project = await site.t.make.project({ owner, name, status: 'processing' })
  await site.t.make.version({ project, version_number: '0.9.0' })
  await site.t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', project.id).execute()
  return project
}

const VIEWS = [
  { name: 'wide', viewport: { width: 1280, height: 900 } },
  { name: 'middle', viewport: { width: 768, height: 900 }, colorScheme: 'dark' },
  { name: 'narrow', viewport: { width: 390, height: 800 } },
  { name: 'contrast', viewport: { width: 390, height: 800 }, contrast: 'more', colorScheme: 'dark' },
  { name: 'rtl', viewport: { width: 1280, height: 900 }, isMirrored: true },
] as const

for (const { name, ...view } of VIEWS) {
  test(`every page is accessible and fits: ${name}`, async () => {
    const { isMirrored, ...options } = { isMirrored: false, ...view }
    const { context, page, problems } = await newPerson(site, options)
    await signIn(site, context, mira.token)
    if (isMirrored) await context.addCookies([{ name: 'depot-language', value: 'ar-XB', url: site.url }])
    for (const [file, path] of paths) {
      assert.equal((await page.goto(`${site.url}${path}`))?.status(), 200, path)
      await shoot(page, `${file}-${name}`)
      await checkFits(page)
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })')
      await checkAccess(page, { isStrict: true })
    }
    assert.deepEqual(problems, [])
    await context.close()
  })
}

for (const javaScriptEnabled of [true, false]) {
  test(`a moderator claims, asks, approves and undoes ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
    const project = await waiting('Resonance')
    await site.t.deps.db
      .updateTable('project')
      .set({ queued: new Date(0) })
      .where('id', '=', project.id)
      .execute()
    const { context, page } = await newPerson(site, { javaScriptEnabled })
    await signIn(site, context, mira.token)
    await page.goto(`${site.url}/moderation`)
    await page.getByRole('button', { name: 'Start with the oldest' }).click()
    await page.getByText('You are reviewing this project.').waitFor()
    await page.getByRole('radio', { name: 'Ask' }).check()
    await page.getByRole('checkbox', { name: 'Sources' }).check()
    await page.getByRole('button', { name: 'Insert selected replies' }).click()
    assert.equal(await page.getByLabel('Message to members').inputValue(), 'Add the sources of Resonance.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your message was sent.').waitFor()
    await page.getByRole('radio', { name: 'Approve' }).check()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Nobody was notified.').waitFor()
    await page.getByRole('radio', { name: 'Approve' }).check()
    await page.getByRole('button', { name: 'Send and next' }).click()
    await page.getByText('The project is approved.').waitFor()
    const { status } = (await site.t.as(mira).get(`/v3/project/${project.id}`)).json()
    assert.equal(status, 'approved')
    await context.close()
  })
}
