// The pages of versions in a real browser: uploads in the background with scripts, and readable in every look.
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
import { form, modJar } from '#test/support/http/forms.ts'

let site: Site
let owner: Person
let project: MadeProject
before(async () => {
  site = await openSite()
  owner = await site.t.make.account({ username: 'ida-marsh' })
  project = await site.t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  await site.t.make.version({ project, version_number: '1.0.0', name: 'Lantern 1.0.0' })
})
after(() => site?.close())

const NEW = '/mod/lantern/versions/new'
const jar = (version: string): Buffer =>
  makeZip([
    {
      name: 'fabric.mod.json',
      data: JSON.stringify({ id: 'lantern', version, depends: { minecraft: '1.20.1', wick: '*' } }),
    },
  ])
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/java-archive', buffer })

test('files are uploaded in the background, proposals fill untouched fields, and the version is published', async () => {
  const { context, page, problems } = await newPerson(site)
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${NEW}`)
  await page.getByLabel('Title').fill('My own title')
  // The first file that arrives is the primary file, so the others follow it.
  await page.locator('#add-files').setInputFiles([file('lantern-2.0.0.jar', jar('2.0.0'))])
  await page.locator('[data-files] [data-hash]').nth(0).waitFor()
  await page.locator('[name=loaders][value=fabric]:checked').waitFor({ state: 'attached' })
  const others = [file('broken.jar', Buffer.from('no archive')), file('more.jar', modJar('x'))]
  await page.locator('#add-files').setInputFiles(others)
  await page.locator('[data-files] [data-hash]').nth(1).waitFor()
  await page.locator('[data-files] li.bad').waitFor()
  await page.getByRole('button', { name: 'Upload broken.jar again' }).waitFor()
  assert.match(page.url(), /draft=/)
  assert.equal(await page.getByLabel('Version number').inputValue(), '2.0.0')
  assert.equal(await page.getByLabel('Title').inputValue(), 'My own title')
  await page.locator('[data-dependencies] code', { hasText: 'wick' }).waitFor()
  await shoot(page, 'upload-script')
  await page.getByRole('button', { name: 'Remove wick' }).click()
  await page.getByText('This version has no dependencies.').waitFor()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.waitForURL(/version\/2\.0\.0/)
  const view = (await site.t.anyone.get(`/v3/project/${project.id}/version/2.0.0`)).json()
  assert.deepEqual([view.name, view.files.length, view.dependencies], ['My own title', 2, []])
  assert.deepEqual(problems, [])
  await context.close()
})

const WIDE = { width: 1280, height: 900 }
const NARROW = { width: 390, height: 844 }
const LOOKS = [
  { name: 'wide-light', language: 'en', colorScheme: 'light', viewport: WIDE },
  { name: 'wide-dark', language: 'de', colorScheme: 'dark', viewport: WIDE },
  { name: 'narrow-light', language: 'en', colorScheme: 'light', viewport: NARROW },
  { name: 'mirrored', language: 'ar-XB', colorScheme: 'light', viewport: WIDE },
] as const

for (const { name, language, ...look } of LOOKS) {
  test(`every page is readable by everyone and fits its window (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, look)
    await signIn(site, context, owner.token)
    await context.addCookies([{ name: 'depot-language', value: language, url: site.url }])
    const { payload, headers } = await form({ project_id: project.id, status: 'draft' }, [
      { name: 'file', filename: 'lantern-3.0.0.jar', bytes: jar(`3.0.0-${name}`) },
    ])
    const { id } = (await site.t.as(owner).post('/v3/version', payload, { headers })).json()
    const [listed] = (await site.t.anyone.get(`/v3/project/${project.id}/version`)).json()
    const version = `/mod/lantern/version/${listed.id}`
    for (const [what, path] of [
      ['new', NEW],
      ['draft', `${NEW}?draft=${id}`],
      ['versions', '/mod/lantern/settings/versions'],
      ['edit', `${version}/edit`],
      ['delete', `${version}/delete`],
      ['uploads', '/dashboard/uploads'],
    ] as const) {
      const answer = await page.goto(`${site.url}${path}`)
      assert.equal(answer?.status(), 200, path)
      await shoot(page, `${what}-${name}`)
      await checkAccess(page, { isStrict: true })
      await checkFits(page)
    }
    assert.deepEqual(problems, [])
    await context.close()
  })
}
