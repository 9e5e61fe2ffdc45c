// The pages for reports, scans, threads, users, saved replies, takedowns and the log in a real browser: wide and narrow,
// light and dark, high contrast and right to left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { lookAtPages, WIDE } from '#test/support/browser/looks.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

const LONG = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-without-a-single-space'

let site: Site
let moderator: Person
let reporter: Person
let pages: { name: string; path: string; by: Person }[]
before(async () => {
  site = await openSite()
  moderator = await site.t.make.account({ role: 'moderator', username: 'mira' })
  reporter = await site.t.make.account({ username: 'hollis' })
  const project = await site.t.make.project({ name: LONG })
  const version = await makeScan(project)
  const report = await makeReports(project)
  await makeReplies()
  assert.equal((await site.t.as(reporter).post(`/v3/project/${project.id}/follow`)).statusCode, 204)
  await site.t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'withheld' })
  const at = (name: string, path: string, by = moderator) => ({ name, path, by })
  pages = [
    at('reports', '/moderation/reports'),
    at('reports-none', '/moderation/reports?state=closed'),
    at('report', `/moderation/reports/${report}`),
    at('scans', '/moderation/scans'),
    at('threads', '/moderation/threads'),
    at('user', `/moderation/user/${project.owner.id}`),
    at('texts', '/moderation/texts'),
    at('takedown', `/moderation/takedown?kind=version&id=${version}`),
    at('log', '/moderation/log'),
    at('own-reports', '/dashboard/reports', reporter),
    at('own-report', `/dashboard/reports/${report}`, reporter),
    at('follows', '/dashboard/follows', reporter),
  ]
})
after(() => site?.close())

async function makeScan(project: MadeProject): Promise<string> {
  const version = await site.t.make.version({ project, status: 'unknown', version_number: '2.0.0' })
  const finding = { file_id: 'f', filename: `${LONG}.jar`, verdict: 'quarantine', reason: 'Test.Signature' }
  await site.t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: version.id,
      state: 'quarantine',
      reason: 'Test.Signature',
      findings: JSON.stringify([finding]),
      next_attempt: new Date(),
      requested: new Date(),
    })
    .execute()
  await site.t.make.version({ project, version_number: '1.0.0' })
  return version.id
}

/** Reports about a project by several users, with a conversation; returns the ID of the first. */
async function makeReports(project: MadeProject): Promise<string> {
  const ids: string[] = []
  for (const who of [reporter, ...(await site.t.make.people(5))]) {
    const body = `It sends **all files** to a server, see https://example.org/${LONG.repeat(2)}`
    const input = { report_type: 'malicious', item_type: 'project', item_id: project.id, body }
    ids.push((await site.t.as(who).post('/v3/report', input)).json().id)
  }
  const [first = ''] = ids
  const { thread_id } = (await site.t.as(reporter).get(`/v3/report/${first}`)).json()
  const write = (who: Person, body: string, isPrivate = false) =>
    site.t.as(who).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body, private: isPrivate } })
  await write(moderator, 'Thank you. Which file does it send?')
  await write(moderator, 'The author was cooperative before.', true)
  await write(reporter, 'The file with the session of the launcher.')
  return first
}

async function makeReplies(): Promise<void> {
  for (const [title, topic] of [
    ['Name the licence', 'Licence'],
    ['Add the source of the library', 'Files'],
  ]) {
    const body = 'Please add the source of {file} in version {version} of {project}, or remove it.'
    await site.t.as(moderator).post('/_internal/moderation/replies', { title, topic, language: 'en', body })
  }
}

lookAtPages(
  () => site,
  () => pages.map(({ by, ...page }) => ({ ...page, token: by.token })),
)

for (const javaScriptEnabled of [true, false]) {
  test(`a report is closed and a project taken down (${javaScriptEnabled ? 'with' : 'without'} scripts)`, async () => {
    const { t, url } = site
    const project = await t.make.project({ name: 'Torch' })
    const input = { report_type: 'spam', item_type: 'project', item_id: project.id, body: 'Only advertising' }
    const { id } = (await t.as(reporter).post('/v3/report', input)).json()
    const { context, page } = await newPerson(site, { javaScriptEnabled, viewport: WIDE })
    await signIn(site, context, moderator.token)
    await page.goto(`${url}/moderation/reports/${id}`)
    await page.getByRole('link', { name: 'Take action' }).click()
    await page.getByLabel('Message to the members').fill('Please remove the advertising.')
    await page.getByRole('button', { name: 'Preview takedown' }).click()
    await page.getByText('1 project will be withheld.').waitFor()
    await shoot(page, `takedown-preview-${javaScriptEnabled}`)
    // The checker needs scripts.
    if (javaScriptEnabled) await checkAccess(page, { isStrict: true })
    await page.getByRole('button', { name: 'Take down', exact: true }).click()
    await page.getByText('The content is taken down.').waitFor()
    await page.getByLabel('Led to action').check()
    await page.getByRole('button', { name: 'Close selected reports' }).click()
    await page.getByText('The selected reports are closed.').waitFor()
    assert.equal((await t.as(moderator).get(`/v3/project/${project.id}`)).json().status, 'withheld')
    const closed = (await t.as(reporter).get(`/v3/report/${id}`)).json()
    assert.deepEqual([closed.closed, closed.outcome], [true, 'action'])
    await context.close()
  })
}
