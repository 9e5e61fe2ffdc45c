// An upload in a real browser: files in the background, and the proposals of the primary file.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'
import { declaringJar } from '#test/support/pages/publish-pages.ts'

let site: Site
let owner: Person
let project: MadeProject
before(async () => {
  site = await openSite()
  const { make } = site.t
  owner = await make.account({ username: 'ida-marsh' })
  project = await make.project({ owner, slug: 'lantern', name: 'Lantern' })
  const version = await make.version({
    project,
    version_number: '1.0.0',
    name: 'Lantern 1.0.0',
    loaders: ['fabric', 'quilt'],
    game_versions: ['1.20.1', '1.20.2'],
  })
  await make.file({ version, project, bytes: declaringJar('1.0.0'), filename: 'lantern-1.0.0.jar' })
  for (const name of ['Fabric API', 'Codex API']) {
    const library = await make.project({ owner, name, slug: name.toLowerCase().replace(' ', '-') })
    for (const number of ['1.0.0', '1.1.0']) await make.version({ project: library, version_number: number })
  }
  await site.t.searchable()
})
after(() => site?.close())

const NEW = '/mod/lantern/versions/new'
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/java-archive', buffer })
const OPEN = 'yet_another_config_lib_v3'

test('files are uploaded in the background, proposals fill untouched fields, and the version is published', async () => {
  const { context, page, problems } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  await page.getByLabel('Title').fill('My own title')
  // The first file that arrives is the primary file, so the others follow it.
  await page.locator('#add-files').setInputFiles([file('lantern-2.0.0.jar', declaringJar('2.0.0'))])
  await page.locator('[data-files] [data-hash]').nth(0).waitFor()
  await page.locator('[name=loaders][value=fabric]:checked').waitFor({ state: 'attached' })
  const others = [file('broken.jar', Buffer.from('no archive')), file('more.jar', modJar('x'))]
  await page.locator('#add-files').setInputFiles(others)
  await page.locator('[data-files] [data-hash]').nth(1).waitFor()
  await page.locator('[data-files] li.bad', { hasText: 'archive' }).waitFor()
  await page.getByRole('button', { name: 'Upload broken.jar again' }).waitFor()
  await page.getByRole('button', { name: 'Remove broken.jar' }).click()
  assert.match(page.url(), /draft=/)
  assert.equal(await page.getByLabel('Version number').inputValue(), '2.0.0')
  assert.equal(await page.getByLabel('Title').inputValue(), 'My own title')
  await page.getByText('One dependency was not found').waitFor()
  await page.getByText('1 added, 1 removed, 1 changed').waitFor()
  await page.locator('#changelog').fill('### New\n- Lanterns **hang** from chains')
  await page.locator('#preview strong', { hasText: 'hang' }).waitFor()
  await page.getByText('The changelog is written').waitFor()
  await page.getByText('Equivalent API request').click()
  await shoot(page, 'upload-script')
  await page.getByRole('button', { name: /^Keep as external/ }).click()
  await page.locator('.entries small', { hasText: 'External file' }).waitFor()
  await page.getByLabel('Version, Fabric API').selectOption({ label: '1.0.0' })
  // The page is not loaded again, so that uploads continue: the typed title is still there.
  assert.equal(await page.getByLabel('Title').inputValue(), 'My own title')
  await page.keyboard.press('Control+s')
  await page.getByText('The draft is saved.').waitFor()
  assert.equal(await page.locator('#changelog').inputValue(), '### New\n- Lanterns **hang** from chains')
  await page.locator('#changelog').focus()
  await page.keyboard.press('Control+Enter')
  await page.waitForURL(/version\/2\.0\.0/)
  const view = (await site.t.anyone.get(`/v3/project/${project.id}/version/2.0.0`)).json()
  const named = view.dependencies.map((each: Record<string, unknown>) => [each['file_name'], each['declared_id']])
  assert.deepEqual([view.name, view.files.length, named.at(-1)], ['My own title', 2, [OPEN, OPEN]])
  assert.notEqual(view.dependencies[0].version_id, null)
  // The choice is remembered for the next version.
  await page.goto(`${site.url}${NEW}`)
  await page.locator('#add-files').setInputFiles([file('lantern-2.1.0.jar', declaringJar('2.1.0'))])
  await page.locator('.entries small', { hasText: 'External file' }).waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('an upload that fails is repeated, a known file is not sent, and typed text survives', async () => {
  const { context, page } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  await page.getByLabel('Title').fill('Typed before the failure')
  // The connection fails twice: the upload is repeated without a click.
  let requests = 0
  await page.route(/uploads\/files/, async (route) => {
    requests += 1
    return requests <= 2 ? route.abort('connectionreset') : route.continue()
  })
  await page.locator('#add-files').setInputFiles([file('cut.jar', modJar('cut'))])
  await page.getByText('The connection was lost.').first().waitFor()
  await page.locator('[data-files] [data-hash]', { hasText: 'cut.jar' }).waitFor()
  await page.locator('#add-files').setInputFiles([file('again.jar', declaringJar('1.0.0'))])
  await page.getByText('This file is already part of 1.0.0.').first().waitFor()
  await page.getByRole('button', { name: 'Upload again.jar anyway' }).click()
  await page.locator('[data-files] [data-hash]', { hasText: 'again.jar' }).waitFor()
  await page.locator('#add-files').setInputFiles([file('readme.exe', Buffer.from('x'))])
  await page.locator('[data-files] li.bad', { hasText: 'must end in one of the extensions' }).waitFor()
  // The page offers the typed text again after it was left without saving.
  page.on('dialog', (dialog) => void dialog.accept())
  await page.getByLabel('Title').fill('Typed after the failure')
  await page.waitForFunction(() =>
    Object.values(localStorage).some((text) => String(text).includes('after the failure')),
  )
  await page.reload()
  await page.getByRole('button', { name: 'Restore' }).click()
  assert.equal(await page.getByLabel('Title').inputValue(), 'Typed after the failure')
  await context.close()
})

test('two tabs add files to the same draft, and one of them learns that the other has published it', async () => {
  const { context, page } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  await page.locator('#add-files').setInputFiles([file('lantern-3.0.0.jar', declaringJar('3.0.0'))])
  await page.locator('[data-files] [data-hash]').waitFor()
  const other = await context.newPage()
  await other.goto(page.url())
  await Promise.all([
    page.locator('#add-files').setInputFiles([file('one.jar', modJar('one'))]),
    other.locator('#add-files').setInputFiles([file('two.jar', modJar('two'))]),
  ])
  for (const tab of [page, other]) await tab.locator('[data-files] [data-hash]').nth(1).waitFor()
  await page.getByLabel('Title').fill('Lantern 3.0.0')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.waitForURL(/version\/3\.0\.0/)
  const view = (await site.t.anyone.get(`/v3/project/${project.id}/version/3.0.0`)).json()
  assert.equal(view.files.length, 3)
  await other.getByLabel('Title').fill('From the other tab')
  other.on('dialog', (dialog) => void dialog.accept())
  await other.getByRole('button', { name: 'Publish', exact: true }).click()
  await other.getByText('somebody has published it').waitFor()
  assert.equal(await other.getByLabel('Title').inputValue(), 'From the other tab')
  await context.close()
})

test('the schedule shows the time zone of the browser and its offset at the chosen time', async () => {
  const { context, page } = await newPerson(site, { timezoneId: 'Europe/Berlin' })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  assert.equal(await page.getByLabel('Time zone').inputValue(), 'Europe/Berlin')
  await page.getByLabel('Schedule').check()
  await page.getByRole('button', { name: 'Schedule' }).waitFor()
  for (const [day, offset] of [
    ['2999-01-15', 'UTC+1'],
    ['2999-07-15', 'UTC+2'],
  ] as const) {
    await page.getByLabel('Date').fill(day)
    await page.getByLabel('Time zone').focus()
    await page.getByText(`Offset: ${offset}.`).waitFor()
  }
  await context.close()
})
