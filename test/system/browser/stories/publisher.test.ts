// The whole story in a real browser, with and without scripts, each on an empty instance: the operator opens the printed link
// and appoints a moderator, a publisher creates a project and uploads a version, moderators review it, a visitor downloads it,
// the publisher sees the figures, a moderator takes it down and undoes that, and the operator finds all of it in the audit log.
// Everything is created through pages. `IMAGES=docs/images npm test -- browser/stories` renews the images of the documents.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { MINUTE_MS } from '#lib/time.ts'
import { newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import { takeImage } from '#test/support/browser/images.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { mailsTo, PASSWORD } from '#test/support/http/account-steps.ts'
import { firstAdminPath } from '#test/support/story/empty-instance.ts'

let site: Site
beforeEach(async () => {
  site = await openSite()
})
afterEach(() => site?.close())

const DESCRIPTION = `## Light that remembers

Emberlight keeps the light of every fire that you have lit, and shows the way back through caves that you have explored before.

- Embers glow for three nights.
- Nothing is stored on the server.
- Works with every pack of torches.
`

const jar = (salt: string): { name: string; mimeType: string; buffer: Buffer } => {
  const manifest = { schemaVersion: 1, id: 'emberlight', version: '1.0.0', depends: { minecraft: '>=1.20 <1.21' } }
  const buffer = makeZip([
    { name: 'fabric.mod.json', data: JSON.stringify({ ...manifest, name: 'Emberlight' }) },
    { name: 'assets/emberlight/glow.json', data: JSON.stringify({ nights: 3, salt }) },
  ])
  return { name: 'emberlight-1.0.0.jar', mimeType: 'application/java-archive', buffer }
}

type Actor = { page: Page; problems: string[]; close(): Promise<void> }

async function arrive(javaScriptEnabled: boolean): Promise<Actor> {
  const viewport = { width: 1200, height: 900 }
  const { context, page, problems } = await newPerson(site, { javaScriptEnabled, viewport, acceptDownloads: true })
  return { page, problems, close: () => context.close() }
}

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click()

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

/** The operator opens the link that the first start prints. */
async function begin({ page }: Actor, username: string): Promise<void> {
  await page.goto(`${site.url}${await firstAdminPath(site.t)}`)
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Email address').fill(`${username}@example.org`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.locator('main button.main').click()
  await page.waitForURL(/\/operator/)
}

async function openAccount({ page }: Actor, username: string): Promise<void> {
  await page.goto(`${site.url}/operator/users`)
  await page.getByRole('searchbox').last().fill(username)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: username }).first().click()
}

/** A confirmed password counts for ten minutes, which a slow machine can exceed. */
async function confirmPassword(page: Page): Promise<void> {
  const password = page.locator('main input[type=password]')
  if (await password.isVisible()) await password.fill(PASSWORD)
}

async function appoint(operator: Actor, username: string): Promise<void> {
  const { page } = operator
  await openAccount(operator, username)
  await page.getByRole('link', { name: 'Change role' }).first().click()
  await page.getByRole('radio', { name: 'Moderator' }).check()
  await confirmPassword(page)
  await press(page, `Change the role of ${username}`)
  await says(page, 'The account is changed.')
}

async function signUp({ page }: Actor, username: string): Promise<void> {
  const email = `${username}@example.org`
  await page.goto(`${site.url}/account/sign-up`)
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign up')
  await says(page, 'Verify your email address')
  const mail = (await mailsTo(site.t, email, /Verify/)).at(-1) ?? ''
  await page.goto(/^(http:\/\/\S+[?&]flow=\w+)\r$/m.exec(mail)?.[1] ?? assert.fail(mail))
  await press(page, 'Verify address')
  await says(page, 'Your email address is verified.')
}

async function createProject({ page }: Actor, slug: string): Promise<string> {
  await page.goto(`${site.url}/dashboard`)
  await page.getByRole('link', { name: 'New project' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Emberlight')
  await page.getByLabel(/^URL/).fill(slug)
  await page.getByLabel(/^Summary/).fill('The light of every fire that you have lit.')
  await page.getByRole('combobox', { name: 'Licence' }).selectOption('MIT')
  await press(page, 'Create draft')
  await says(page, 'The draft was created.')
  await page.getByLabel('Description', { exact: true }).fill(DESCRIPTION)
  await press(page, 'Save changes')
  await says(page, /saved/)
  return new URL(page.url()).pathname.replace(/\/settings.*/, '')
}

/** Uploads a file, whose manifest states the number, the loader and the game versions. */
async function upload({ page }: Actor, project: string, hasScripts: boolean): Promise<void> {
  await page.goto(`${site.url}${project}/settings`)
  await page
    .getByRole('link', { name: 'Public version' })
    .or(page.getByRole('link', { name: 'Versions' }))
    .first()
    .click()
  await page.goto(`${site.url}${project}/versions/new`)
  await page.locator('#add-files').setInputFiles([jar(project)])
  if (!hasScripts) await press(page, 'Save draft')
  await page.locator('[data-files] [data-hash]').waitFor()
  await page.locator('[name=loaders][value=fabric]:checked').waitFor({ state: 'attached' })
  assert.equal(await page.getByLabel('Version number').inputValue(), '1.0.0')
  await page.getByRole('textbox', { name: /^Changelog/ }).fill('The first embers.')
  await takeImage(page, hasScripts, 'publish-upload')
  await press(page, 'Publish')
  await page.waitForURL(/\/version\/1\.0\.0/)
}

async function submit({ page }: Actor, project: string, hasScripts: boolean): Promise<void> {
  await page.goto(`${site.url}${project}/settings/review`)
  await page.getByLabel('Note to the moderators').fill('All images are my own.')
  await takeImage(page, hasScripts, 'publish-review')
  await press(page, 'Submit for review')
  await says(page, /Position 1 of 1 in the queue/)
}

async function ask({ page }: Actor, hasScripts: boolean): Promise<void> {
  await page.goto(`${site.url}/moderation`)
  await takeImage(page, hasScripts, 'moderate-home')
  await press(page, 'Start with the oldest')
  await says(page, 'You are reviewing this project.')
  await says(page, 'All images are my own.')
  // The first review shows all of the project.
  await says(page, 'Light that remembers')
  await says(page, 'emberlight-1.0.0.jar')
  await page.getByRole('radio', { name: 'Ask' }).check()
  await page.getByLabel('Message to members').fill('Please add a link to the source code.')
  await press(page, 'Send')
  await says(page, 'Your message was sent.')
}

/** The dashboard leads to the message; the publisher adds what is missing and answers. */
async function answer({ page }: Actor, project: string, hasScripts: boolean): Promise<void> {
  await page.goto(`${site.url}/dashboard`)
  await says(page, 'A moderator waits for your answer about Emberlight')
  await takeImage(page, hasScripts, 'publish-dashboard')
  await page.getByRole('link', { name: 'Reply' }).first().click()
  await says(page, 'Please add a link to the source code.')
  await page.goto(`${site.url}${project}/settings/links`)
  await page.getByLabel('Source').first().fill('https://git.example.org/ida/emberlight')
  await press(page, 'Save changes')
  await says(page, /saved/)
  await page.goto(`${site.url}${project}/settings`)
  await page.getByLabel('Summary').fill('The light of every fire that you have lit, for three nights.')
  await press(page, 'Save changes')
  await says(page, /saved/)
  await page.goto(`${site.url}${project}/settings/review`)
  await page.getByLabel('Reply').fill('The link is there now.')
  await press(page, 'Send reply')
  await says(page, 'Your message was sent to the moderators.')
}

async function approve({ page }: Actor, hasScripts: boolean): Promise<void> {
  await page.goto(`${site.url}/moderation`)
  await page.getByRole('link', { name: 'Emberlight' }).first().click()
  await says(page, 'The link is there now.')
  await says(page, /Changes since the message of/)
  await page.locator('ins', { hasText: 'three nights' }).first().waitFor()
  await says(page, 'git.example.org')
  await page.getByRole('radio', { name: 'Approve' }).check()
  await takeImage(page, hasScripts, 'moderate-review')
  await press(page, 'Send')
  await says(page, /is approved/)
}

async function download({ page }: Actor, project: string, hasScripts: boolean): Promise<void> {
  await site.t.searchable()
  await page.goto(site.url)
  await page.getByLabel('Search projects').first().fill('emberlight')
  await page.keyboard.press('Enter')
  await page.locator(`a[href="${project}"]`).first().click()
  await page.waitForURL(`${site.url}${project}`)
  await says(page, 'Light that remembers')
  await takeImage(page, hasScripts, 'visit-project')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('link', { name: /Download/ })
      .first()
      .click(),
  ])
  assert.equal(file.suggestedFilename(), 'emberlight-1.0.0.jar')
}

async function seeNumbers({ page }: Actor): Promise<void> {
  await site.t.deps.events.flush()
  // The figures of the dashboard can be one minute old.
  site.t.advance(2 * MINUTE_MS)
  const figure = page.locator('.tiles > div', { hasText: 'Downloads' }).locator('.big')
  // On a busy machine, the page is shown before the statistics have responded.
  do await page.goto(`${site.url}/dashboard`)
  while ((await figure.textContent()) === '–')
  assert.equal(await figure.textContent(), '1')
}

async function takeDownAndUndo({ page }: Actor, project: string): Promise<void> {
  const { id } = (await (await page.request.get(`${site.url}/v3${project.replace('/mod/', '/project/')}`)).json()) as {
    id: string
  }
  await page.goto(`${site.url}/moderation/takedown?kind=project&id=${id}`)
  await page.locator('select[name=reason]').selectOption('Inappropriate')
  await press(page, 'Preview takedown')
  await says(page, '1 project will be rejected and hidden.')
  await says(page, 'The content of 1 file will be blocked on the whole instance.')
  await press(page, 'Take down')
  await says(page, 'The content is taken down.')
  assert.equal((await site.t.anyone.get(project)).statusCode, 404)
  await press(page, 'Undo takedown')
  await says(page, 'The takedown is undone.')
  assert.equal((await site.t.anyone.get(project)).statusCode, 200)
}

async function operate(operator: Actor, publisher: string, spammer: string, hasScripts: boolean): Promise<void> {
  const { page } = operator
  await page.goto(`${site.url}/operator`)
  await takeImage(page, hasScripts, 'operate-overview')
  await page.getByRole('link', { name: 'Audit log' }).first().click()
  await page.getByLabel('By').or(page.getByLabel('Actor')).first().fill(publisher)
  await press(page, 'Filter')
  const entries = page.getByRole('table', { name: 'Audit log' })
  for (const action of ['Account created', 'Project created', 'Version created'])
    await entries.getByText(action).first().waitFor()
  await takeImage(page, hasScripts, 'operate-audit-log')
  await openAccount(operator, spammer)
  await page.getByRole('link', { name: 'Suspend' }).first().click()
  await page.getByLabel('Reason').fill('Advertising in every project.')
  await confirmPassword(page)
  await takeImage(page, hasScripts, 'operate-suspend')
  await press(page, `Suspend ${spammer}`)
  await says(page, /is suspended|was suspended/)
}

for (const hasScripts of [true, false]) {
  const how = hasScripts ? 'scripts' : 'plain'
  test(`an empty instance: a project is created, reviewed, downloaded and found in the audit log (${how})`, async () => {
    const actors = await Promise.all([1, 2, 3, 4, 5].map(() => arrive(hasScripts)))
    const [publisher, moderator, visitor, operator, spammer] = actors as [Actor, Actor, Actor, Actor, Actor]
    await begin(operator, 'olga')
    await signUp(publisher, 'ida')
    await signUp(moderator, 'mira')
    await signUp(spammer, 'spammer')
    await appoint(operator, 'mira')
    const project = await createProject(publisher, `emberlight-${how}`)
    await upload(publisher, project, hasScripts)
    await submit(publisher, project, hasScripts)
    await ask(moderator, hasScripts)
    await answer(publisher, project, hasScripts)
    await approve(moderator, hasScripts)
    await download(visitor, project, hasScripts)
    await seeNumbers(publisher)
    await takeDownAndUndo(moderator, project)
    await operate(operator, 'ida', 'spammer', hasScripts)
    await spammer.page.goto(`${site.url}/dashboard`)
    await spammer.page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(
      actors.flatMap(({ problems }) => problems),
      [],
    )
    for (const { close } of actors) await close()
  })
}
