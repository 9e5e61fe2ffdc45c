// The settings of projects and collections in a real browser: unsaved changes, previews, order by dragging, search.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site, signIn } from '#test/support/browser/chromium.ts'
import { WIDE } from '#test/support/browser/looks.ts'
import { SETTINGS } from '#test/support/pages/settings-pages.ts'
import { makeWorkPages, type WorkPeople } from '#test/support/pages/work-pages.ts'

let site: Site
let owner: WorkPeople['owner']
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
  owner = (await makeWorkPages(site.t, ['publish', 'groups'])).people.owner
})
after(() => site?.close())

test('unsaved changes are counted, offered again and saved; the preview follows the text', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await page.goto(`${site.url}${SETTINGS}`)
  await page.fill('#name', 'Lantern of the sea')
  assert.equal(await page.textContent('[data-save] p'), 'One unsaved change: Name')
  await page.evaluate(
    'new Promise((done) => { const timer = setInterval(() => { if (localStorage.length > 0) { clearInterval(timer); done() } }, 50) })',
  )
  await page.goto(`${site.url}${SETTINGS}`)
  await page.getByRole('button', { name: 'Restore' }).click()
  assert.equal(await page.inputValue('#name'), 'Lantern of the sea')
  await page.keyboard.press('Control+s')
  await page.waitForURL(/done=saved/)
  assert.equal(await page.inputValue('#name'), 'Lantern of the sea')
  assert.equal(await page.evaluate('localStorage.length'), 0)

  await page.goto(`${site.url}${SETTINGS}/description`)
  await page.fill('#description', 'Now **bold**')
  await page.locator('#preview strong', { hasText: 'bold' }).waitFor()
  assert.equal(await page.inputValue('#description'), 'Now **bold**')
  assert.deepEqual(problems, [])
  await context.close()
})

test('the form that invites a member completes the username', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  const { username } = await site.t.make.account({ username: 'zoe-invited' })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${SETTINGS}/members`)
  await page.locator('#username').pressSequentially('zoe')
  await page.locator(`#username-values option[value="${username}"]`).waitFor({ state: 'attached' })
  assert.equal(await page.getAttribute('#username', 'list'), 'username-values')
  await page.fill('#username', username)
  await page.getByRole('button', { name: 'Send invitation' }).click()
  await page.waitForURL(/done=member-invited/)
  assert.deepEqual(problems, [])
  await context.close()
})

test('the gallery is ordered by dragging, and a removed image comes back', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${SETTINGS}/gallery`)
  const order = (): Promise<unknown> =>
    page.evaluate("[...document.querySelectorAll('[data-item]')].map((item) => item.dataset.item)")
  const [first, second, third] = (await order()) as string[]
  const middleOf = async (key: string | undefined): Promise<{ x: number; y: number }> => {
    const box = (await page.locator(`[data-item="${key}"] > a`).boundingBox()) ?? assert.fail(key)
    return { x: box.x + box.width / 2, y: box.y + 10 }
  }
  // The window shows both.
  await page.evaluate(`document.querySelector('[data-item="${second}"]').scrollIntoView()`)
  const [from, to] = [await middleOf(third), await middleOf(second)]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y + 20, { steps: 8 })
  await page.mouse.move(to.x, to.y, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/done=moved/)
  assert.deepEqual(await order(), [first, third, second])
  await page.click(`button[value="remove.${first}"]`)
  await page.waitForURL(/done=image-removed/)
  assert.deepEqual(await order(), [third, second])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.waitForURL(/done=image-restored/)
  assert.deepEqual(await order(), [first, third, second])
  assert.deepEqual(problems, [])
  await context.close()
})

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  test(`a collection is searched for projects, ordered and emptied (${how})`, async () => {
    const { context, page, problems } = await newPerson(site, { javaScriptEnabled })
    await signIn(site, context, owner.token)
    await page.goto(`${site.url}/new/collection`)
    await page.getByLabel('Name', { exact: true }).fill(`Lamps ${how}`)
    await page.getByRole('button', { name: 'Create collection' }).click()
    await page.waitForURL(/done=collection-created/)
    const order = () => page.locator('[data-order] .who a').allTextContents()
    for (const name of ['Glow squid lamp', 'Hearth and forage']) {
      await page.getByLabel('Search for a project').fill(name)
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Search', exact: true }).click()
      await page.getByRole('button', { name: `Add ${name}` }).click()
      await page.waitForURL(/done=project-added/)
    }
    await page.getByText('Add a list of projects').click()
    await page.getByLabel('URLs or IDs').fill(`${site.url}/mod/group-2\nsomething else`)
    await page.getByRole('button', { name: 'Add projects' }).click()
    await page.getByText('One line names no project').first().waitFor()
    assert.equal(await page.getByLabel('URLs or IDs').inputValue(), 'something else')
    await page.getByLabel('Position Hearth and forage').fill('1')
    await page.getByLabel('URLs or IDs').fill('')
    await page.getByRole('button', { name: 'Save changes' }).last().click()
    await page.waitForURL(/done=saved/)
    const [first, second, third] = await order()
    assert.deepEqual([first, second], ['Hearth and forage', 'Glow squid lamp'])
    if (javaScriptEnabled) {
      await page.getByLabel('Name', { exact: true }).fill('Lamps, changed')
      const [from, to] = [page.locator('[data-item]').nth(2), page.locator('[data-item]').nth(0)]
      await from.scrollIntoViewIfNeeded()
      await from.dragTo(to, { sourcePosition: { x: 300, y: 8 }, targetPosition: { x: 300, y: 4 } })
    } else await page.getByRole('button', { name: `Move earlier: ${third}` }).click()
    await page.waitForURL(/done=moved/)
    const focused = await page.evaluate<string>('document.activeElement.textContent')
    assert.ok(focused.includes(third ?? ''), 'the moved item has the focus')
    assert.deepEqual(await order(), javaScriptEnabled ? [third, first, second] : [first, third, second])
    if (javaScriptEnabled) assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Lamps, changed')
    const before = await order()
    await page.getByRole('button', { name: `Remove: ${first}` }).click()
    await page.waitForURL(/done=project-removed/)
    assert.equal((await order()).length, 2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForURL(/done=project-restored/)
    assert.deepEqual(await order(), before)
    await page.getByRole('link', { name: 'Delete', exact: true }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    assert.deepEqual(problems, [])
    await context.close()
  })
}
