// A project that begins with a file, in a browser with and without scripts.
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

let site: Site
before(async () => {
  site = await openSite()
})
after(() => site?.close())

const jar = (name: string): Buffer =>
  makeZip([
    {
      name: 'fabric.mod.json',
      data: JSON.stringify({
        id: 'lantern',
        version: '1.0.0',
        name,
        description: 'Lanterns of brass.',
        license: 'MIT',
        contact: { homepage: 'https://lantern.example' },
      }),
    },
  ])

for (const [how, options] of [
  ['with scripts, wide, dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
  [
    'without scripts, narrow, in German',
    { javaScriptEnabled: false, viewport: { width: 320, height: 640 }, locale: 'de' },
  ],
] as const)
  test(`a project from a file: ${how}`, async () => {
    const isGerman = 'locale' in options
    const { context, page, problems } = await newPerson(site, options)
    const person = await site.t.make.account()
    await signIn(site, context, person.token)
    const look = async (name: string) => {
      await shoot(page, `from-file-${name}${isGerman ? '-narrow' : ''}`)
      await checkFits(page)
      if (!isGerman) await checkAccess(page)
    }
    await page.goto(`${site.url}/new/project`)
    await look('form')
    const file = page.getByLabel(isGerman ? 'Datei' : 'File', { exact: true })
    const send = page.getByRole('button', { name: isGerman ? 'Aus Datei anlegen' : 'Create from file' })
    await file.setInputFiles({
      name: 'x.zip',
      mimeType: 'application/zip',
      buffer: makeZip([{ name: 'a', data: how }]),
    })
    await send.click()
    await page.locator('#errors').waitFor()
    await look('refused')
    const name = isGerman ? 'Messinglaterne' : 'Brass lantern'
    await file.setInputFiles({ name: 'lantern.jar', mimeType: 'application/java-archive', buffer: jar(name) })
    await look('chosen')
    await send.click()
    await page.waitForURL(/\/settings\?done=from-file$/)
    assert.equal(await page.locator('#name').inputValue(), name)
    assert.equal((await page.locator('#summary').inputValue()).trim(), 'Lanterns of brass.')
    await look('created')
    await page
      .getByRole('link', { name: isGerman ? 'Weiter mit der ersten Version' : 'Continue with the first version' })
      .click()
    await page.getByText('lantern.jar').first().waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })
