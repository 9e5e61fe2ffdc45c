// Tasks of users on the public site in a real browser, with and without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { makeSitePages, type SitePages } from '#test/support/pages/site-pages.ts'

let site: Site
let all: SitePages
before(async () => {
  site = await openSite()
  all = await makeSitePages(site.t)
})
after(() => site?.close())

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  test(`who is not signed in is led through that and back, and then follows, saves and reports (${how})`, async () => {
    const person = await site.t.make.account()
    const { context, page, problems } = await newPerson(site, { javaScriptEnabled })
    await page.goto(`${site.url}${all.project}`)
    if (javaScriptEnabled) {
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: /^Share / }).click()
      await page.getByRole('status').filter({ hasText: 'The link was copied' }).waitFor()
      const box = await page.getByText('The link was copied').boundingBox()
      assert.ok((box?.width ?? 0) > 20, 'the confirmation is visible')
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${site.url}${all.project}`)
    }
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.match(page.url(), new RegExp(`return=${encodeURIComponent(`${all.project}/save`)}`))
    await signIn(site, context, person.token)
    await page.goto(`${site.url}${all.project}`)
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByRole('button', { name: 'Following' }).waitFor()
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    await page.getByLabel('Name of a new collection').fill('Liked')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`${site.url}${all.project}?done=collected`)
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    assert.equal(await page.getByRole('checkbox', { name: 'Liked' }).isChecked(), true)
    await page.goto(`${site.url}${all.project}`)
    await page.getByRole('link', { name: /^Report/ }).click()
    await page.getByLabel('Reason').selectOption('spam')
    await page.getByLabel('Description of the problem').fill('It is the same as another.')
    await page.getByRole('button', { name: 'Send report' }).click()
    await page.getByText('Moderators have received your report').waitFor()
    await shoot(page, `reported-${javaScriptEnabled ? 'scripts' : 'plain'}`)
    if (javaScriptEnabled) await checkAccess(page, { isStrict: true })
    assert.deepEqual(problems, [])
    await context.close()
  })
}

test('the keyboard alone suffices, and the focus can be seen', async () => {
  const { context, page } = await newPerson(site)
  await page.goto(`${site.url}/mods`)
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.className'), 'skip')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#content$/)
  await page.keyboard.press('/')
  assert.equal(await page.evaluate('document.activeElement.id'), 'q')
  await page.keyboard.type('a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/search\?q=a/)
  const seen = new Set<string>()
  for (let step = 0; step < 400; step += 1) {
    await page.keyboard.press('Tab')
    const at = (await page.evaluate(`(() => {
      const element = document.activeElement
      const shown = element.closest('.hit, label, .not') ?? element
      const style = getComputedStyle(element)
      const around = getComputedStyle(shown)
      const hasMark = [style, around].some((one) => one.outlineStyle !== 'none' && one.outlineWidth !== '0px')
      return [element.tagName, element.getAttribute('href') ?? element.name ?? element.className, hasMark]
    })()`)) as [string, string, boolean]
    if (at[0] === 'BODY') break
    assert.equal(at[2], true, `no mark at ${at[0]} ${at[1]}`)
    seen.add(at[1])
  }
  const links = (await page.evaluate(
    `[...document.querySelectorAll('main a[href]')].filter((one) => one.checkVisibility()).map((one) => one.getAttribute('href'))`,
  )) as string[]
  assert.deepEqual(
    links.filter((href) => !seen.has(href)),
    [],
  )
  await context.close()
})
