// A review in a real browser with and without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccess, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { WIDE } from '#test/support/browser/looks.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { addVersion, makeWaiting } from '#test/support/pages/moderation-pages.ts'

let site: Site
let mira: Person
let owner: Person
before(async () => {
  site = await openSite()
  mira = await site.t.make.account({ role: 'moderator', username: 'mira' })
  owner = await site.t.make.account({ username: 'quartzine' })
  const reply = { topic: 'files', language: 'en', title: 'Sources', body: 'Add the sources of {project}.' }
  assert.equal((await site.t.as(mira).post('/_internal/moderation/replies', reply)).statusCode, 201)
})
after(() => site?.close())

for (const javaScriptEnabled of [true, false]) {
  test(`a moderator claims, asks, approves and undoes ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
    const project = await makeWaiting(site.t, owner, 'Resonance')
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

const focused = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`document.activeElement?.closest(${JSON.stringify(selector)}) !== null`)
/** Presses a key while no field has the focus. */
const press = async (page: Page, key: string): Promise<void> => {
  await page.evaluate("document.activeElement?.matches('input, textarea, select') && document.activeElement.blur()")
  await page.keyboard.press(key)
}

test('every shortcut of the queue works', async () => {
  const projects = [await makeWaiting(site.t, owner, 'Shortcut one'), await makeWaiting(site.t, owner, 'Shortcut two')]
  const [first, second] = projects as [MadeProject, MadeProject]
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, mira.token)
  await page.goto(`${site.url}/moderation/queue?query=Shortcut`)
  await press(page, '?')
  await page.getByText('Start with the first project').waitFor()
  await press(page, '?')
  await press(page, 'j')
  assert.ok(await focused(page, `#p-${first.id} a`))
  await press(page, 'j')
  assert.ok(await focused(page, `#p-${second.id} a`))
  await press(page, 'j')
  assert.ok(await focused(page, `#p-${second.id} a`), 'the last row')
  await press(page, 'k')
  await press(page, 'x')
  assert.deepEqual(await page.evaluate("[...document.querySelectorAll('tbody .pick')].map((box) => box.checked)"), [
    true,
    false,
  ])
  await press(page, 'j')
  await press(page, 't')
  await page.getByText('You have claimed one project.').waitFor()
  assert.equal(await page.locator(`#p-${second.id} [value="release.${second.id}"]:visible`).count(), 1)
  assert.ok(page.url().endsWith(`#p-${second.id}`))
  await press(page, 'k')
  assert.ok(await focused(page, `#p-${first.id} a`), 'the keyboard continues at the row')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/moderation/project/${first.id}`)
  await page.goto(`${site.url}/moderation/queue?query=Shortcut`)
  await press(page, 'n')
  await page.waitForURL(`${site.url}/moderation/project/${first.id}`)
  await page.getByText('You are reviewing this project.').waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('every shortcut of the review works, and none while somebody types or after they are turned off', async () => {
  const project = await makeWaiting(site.t, owner, 'Keyboard')
  await makeWaiting(site.t, owner, 'Next')
  await site.t.deps.db
    .updateTable('project')
    .set({ queued: new Date(Date.UTC(2200, 0)) })
    .where('id', '=', project.id)
    .execute()
  await addVersion(site.t, project, '1.0.0', [
    { name: 'natives/tone.dll', data: 'x' },
    { name: 'run.sh', data: 'x' },
  ])
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, mira.token)
  const review = `${site.url}/moderation/project/${project.id}`
  await page.goto(review)
  await press(page, 'j')
  assert.ok(await focused(page, '#changes h2'))
  await press(page, 'j')
  assert.ok(await focused(page, '#files h2'))
  await press(page, 'k')
  assert.ok(await focused(page, '#changes h2'))
  for (const name of ['natives/tone.dll', 'run.sh', 'run.sh']) {
    await press(page, 'd')
    assert.equal(
      await page.evaluate("document.activeElement?.closest('[data-finding]')?.querySelector('code').textContent"),
      name,
    )
  }
  for (const [key, value] of [
    ['a', 'approve'],
    ['s', 'ask'],
    ['w', 'withhold'],
    ['r', 'reject'],
  ] as const) {
    await press(page, key)
    assert.equal(await page.evaluate("document.querySelector('[name=decision]:checked').value"), value)
  }
  await press(page, 'm')
  await page.keyboard.type('An answer with a, s, d and ?')
  assert.equal(await page.getByLabel('Message to members').inputValue(), 'An answer with a, s, d and ?')
  assert.equal(await page.evaluate("document.querySelector('[name=decision]:checked').value"), 'reject')
  await press(page, 'p')
  await page.getByLabel('Private note').waitFor()
  await press(page, '?')
  await page.getByLabel('Turn off single-letter shortcuts').check()
  await press(page, 'a')
  assert.equal(await page.evaluate("document.querySelector('[name=decision]:checked').value"), 'reject')
  await page.getByLabel('Turn off single-letter shortcuts').uncheck()
  await press(page, '1')
  await press(page, 'i')
  await page.waitForFunction("document.querySelector('[name=message]').value.endsWith('Add the sources of Keyboard.')")
  await page.goto(review)
  await page.getByRole('button', { name: 'Claim', exact: true }).click()
  await page.getByText('Your claim ends in').waitFor()
  await press(page, 'u')
  await page.getByText('Nobody is reviewing this project.').waitFor()
  await press(page, 'n')
  await page.waitForURL(({ pathname }) => pathname.startsWith('/moderation/project/') && !pathname.includes(project.id))
  await page.goto(review)
  await press(page, 'a')
  await page.keyboard.press('Control+Enter')
  await page.getByText('The project is approved.').waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('when the claim ends, the page says so and keeps what was typed', async () => {
  const project = await makeWaiting(site.t, owner, 'Late')
  const claim = await site.t.as(mira).put(`/_internal/moderation/projects/${project.id}/claim`)
  assert.equal(claim.statusCode, 200, claim.body)
  const { context, page } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, mira.token)
  await page.clock.install()
  await page.goto(`${site.url}/moderation/project/${project.id}`)
  await page.getByLabel('Message to members').fill('A long answer')
  await site.t.deps.db
    .updateTable('moderation_claim')
    .set({ until: new Date(0) })
    .where('project_id', '=', project.id)
    .execute()
  await page.clock.fastForward('31:00')
  await page.locator('#claim', { hasText: 'Your claim has expired.' }).waitFor()
  assert.equal(await page.getByLabel('Message to members').inputValue(), 'A long answer')
  await shoot(page, 'claim-expired')
  await checkAccess(page, { isStrict: true })
  await context.close()
})
