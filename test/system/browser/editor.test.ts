// The editor of Markdown texts and the galleries in a real browser: toolbar, shortcuts, undo, images, preview, full screen.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import { SETTINGS } from '#test/support/pages/settings-pages.ts'
import { makeWorkPages, type WorkPeople } from '#test/support/pages/work-pages.ts'

let site: Site
let owner: WorkPeople['owner']
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
  owner = (await makeWorkPages(site.t, ['publish'])).people.owner
})
after(() => site?.close())

const png = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#2a9d8f' } })
    .png()
    .toBuffer()

const AREA = '#description'
/** A script that runs with the text area. */
const inArea = (script: string) => `(() => { const area = document.querySelector('${AREA}'); ${script} })()`
const text = (page: Page) => page.inputValue(AREA)
const selected = (page: Page) =>
  page.evaluate(inArea('return area.value.slice(area.selectionStart, area.selectionEnd)'))
const select = (page: Page, start: number, end: number) =>
  page.evaluate(inArea(`area.focus(); area.setSelectionRange(${start}, ${end})`))

async function openEditor(page: Page, path = `${SETTINGS}/description`): Promise<void> {
  await page.goto(`${site.url}${path}`)
  await page.locator('.write [role=toolbar]').waitFor()
}

test('Enter begins the next item of a list and ends the list at an empty item, and can be undone', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await openEditor(page)
  for (const [begun, after, more] of [
    ['- one', '- one\n- two', '- one\n- two\n\nend'],
    ['* one', '* one\n* two', '* one\n* two\n\nend'],
    ['9. one', '9. one\n10. two', '9. one\n10. two\n\nend'],
    ['- [x] one', '- [x] one\n- [ ] two', '- [x] one\n- [ ] two\n\nend'],
    ['  1) one', '  1) one\n  2) two', '  1) one\n  2) two\n\nend'],
  ] as const) {
    await page.fill(AREA, begun)
    await select(page, begun.length, begun.length)
    await page.keyboard.press('Enter')
    await page.keyboard.type('two')
    assert.equal(await text(page), after)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    assert.equal(await text(page), `${after}\n`)
    await page.keyboard.press('Enter')
    await page.keyboard.type('end')
    assert.equal(await text(page), more)
  }
  await page.fill(AREA, '- one')
  await select(page, 5, 5)
  await page.keyboard.press('Enter')
  assert.equal(await text(page), '- one\n- ')
  await page.keyboard.press('Control+z')
  assert.equal(await text(page), '- one')
  await page.keyboard.press('Control+y')
  assert.equal(await text(page), '- one\n- ')
  for (const [written, at, becomes] of [
    ['- one', 1, '-\n one'],
    ['- one two', 5, '- one\n-  two'],
    ['plain', 5, 'plain\n'],
    ['1.one', 5, '1.one\n'],
  ] as const) {
    await page.fill(AREA, written)
    await select(page, at, at)
    await page.keyboard.press('Enter')
    assert.equal(await text(page), becomes)
  }
  assert.deepEqual(problems, [])
  await context.close()
})

test('the toolbar formats the selection by mouse and keyboard, and can be undone', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await openEditor(page)
  const use = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.fill(AREA, 'one two\nthree')
  await select(page, 4, 7)
  await use('Bold')
  assert.equal(await text(page), 'one **two**\nthree')
  assert.equal(await selected(page), 'two')
  await page.keyboard.press('Control+i')
  assert.equal(await text(page), 'one **_two_**\nthree')
  await page.keyboard.press('Control+i')
  await use('Bold')
  assert.equal(await text(page), 'one two\nthree')
  await page.keyboard.press('Control+z')
  assert.equal(await text(page), 'one **two**\nthree')
  await page.keyboard.press('Control+y')
  assert.equal(await text(page), 'one two\nthree')

  await select(page, 0, 13)
  await use('List')
  assert.equal(await text(page), '- one two\n- three')
  await use('Numbered list')
  assert.equal(await text(page), '1. one two\n2. three')
  await use('Task list')
  assert.equal(await text(page), '- [ ] one two\n- [ ] three')
  await use('Task list')
  await use('Quote')
  assert.equal(await text(page), '> one two\n> three')
  await use('Quote')
  await use('Code')
  assert.equal(await text(page), '```\none two\nthree\n```\n')
  assert.equal(await selected(page), 'one two\nthree')

  await page.fill(AREA, 'one\ntwo')
  await select(page, 0, 7)
  await use('Spoiler')
  assert.equal(await text(page), '<details>\n<summary>Spoiler</summary>\n\none\ntwo\n\n</details>\n')

  await page.fill(AREA, 'one')
  await select(page, 0, 3)
  await page.keyboard.press('Control+k')
  assert.equal(await text(page), '[one](https://)')
  assert.equal(await selected(page), 'https://')
  for (const [name, made] of [
    ['Heading', '## one'],
    ['Table', 'one\n\n| Column 1 | Column 2 |\n| --- | --- |\n|  |  |\n'],
    ['Spoiler', 'one||||'],
    ['Alert', 'one\n\n> [!NOTE]\n> \n'],
  ] as const) {
    await page.fill(AREA, 'one')
    await select(page, 3, 3)
    await use(name)
    assert.equal(await text(page), made)
  }
  await page.keyboard.type('careful')
  assert.equal(await text(page), 'one\n\n> [!NOTE]\n> careful\n')
  await page.keyboard.press('Control+z')
  assert.equal(await text(page), 'one\n\n> [!NOTE]\n> \n')
  await page.locator('#preview .alert, #preview blockquote, #preview [class*=note]').first().waitFor()

  await page.fill(AREA, 'one two')
  await select(page, 4, 7)
  await use('Alert')
  assert.equal(await text(page), '> [!NOTE]\n> one two\n')
  assert.equal(await selected(page), 'one two')

  await page.fill(AREA, 'one')
  await select(page, 0, 3)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await page.getByRole('button', { name: 'Bold', exact: true }).focus()
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.evaluate('document.activeElement.dataset.tool'), 'italic')
  await page.keyboard.press('End')
  assert.equal(await page.evaluate('document.activeElement.dataset.tool'), 'alert')
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.evaluate('document.activeElement.dataset.tool'), 'bold')
  await page.keyboard.press('Enter')
  assert.equal(await text(page), '**one**')
  assert.deepEqual(problems, [])
  await context.close()
})

/** Sends files to the text area as the event of the browser would. */
async function give(
  page: Page,
  event: 'paste' | 'drop',
  files: readonly { name: string; type: string; bytes: Buffer }[],
) {
  const given = files.map(({ name, type, bytes }) => ({ name, type, base64: bytes.toString('base64') }))
  await page.evaluate(
    inArea(`const data = new DataTransfer()
    for (const { name, type, base64 } of ${JSON.stringify(given)})
      data.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], name, { type }))
    const init = { bubbles: true, cancelable: true }
    area.dispatchEvent('${event}' === 'paste'
      ? new ClipboardEvent('paste', { ...init, clipboardData: data })
      : new DragEvent('drop', { ...init, dataTransfer: data }))`),
  )
}

test('images are uploaded where they are pasted or dropped; others are named', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await openEditor(page)
  await page.fill(AREA, 'before\n\nafter')
  await select(page, 7, 7)
  const bytes = await png(40, 30)
  await page.route('**/settings/description', async (route) => {
    if (route.request().postData()?.includes('name="do"\r\n\r\nimage') === true)
      assert.match(await text(page), /!\[Uploading /)
    await route.continue()
  })
  await give(page, 'paste', [{ name: 'a [lamp].png', type: 'image/png', bytes }])
  await page.locator('.write [role=status]', { hasText: 'a [lamp].png was uploaded.' }).waitFor()
  assert.match(await text(page), /^before\n!\[a {1,2}lamp ?\]\(http[^)]+\.png\)\nafter$/)
  await page.locator('#preview img').first().waitFor()

  await page.fill(AREA, '')
  await give(page, 'drop', [
    { name: 'one.png', type: 'image/png', bytes },
    { name: 'notes.txt', type: 'text/plain', bytes: Buffer.from('text') },
    { name: 'two.png', type: 'image/png', bytes },
    { name: 'broken.png', type: 'image/png', bytes: Buffer.from('not an image') },
    { name: 'large.png', type: 'image/png', bytes: Buffer.alloc(1024 * 1024 + 1) },
  ])
  const status = page.locator('.write [role=status]')
  await status.filter({ hasText: 'broken.png: ' }).waitFor()
  for (const name of ['notes.txt is not an image', 'large.png is larger than'])
    assert.ok((await status.textContent())?.includes(name), name)
  const made = await text(page)
  assert.equal(made.match(/!\[(one|two)\]\(http/g)?.length, 2)
  assert.doesNotMatch(made, /Uploading|broken|notes|large/)
  await shoot(page, 'editor-error')
  await page.keyboard.press('Control+s')
  await page.waitForURL(/done=saved/)
  assert.equal((await text(page)).match(/!\[/g)?.length, 2)
  assert.deepEqual(problems, [])
  await context.close()
})

test('a changelog takes images of its version', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await page.goto(`${site.url}${SETTINGS}/versions`)
  const path = await page.locator('a[href$="/edit"]').first().getAttribute('href')
  await openEditor(page, path ?? assert.fail('a version'))
  await page.getByRole('button', { name: 'Image', exact: true }).waitFor()
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Image', exact: true }).click(),
  ])
  await chooser.setFiles({ name: 'log.png', mimeType: 'image/png', buffer: await png(20, 20) })
  await page.locator('.write [role=status]', { hasText: 'log.png was uploaded.' }).waitFor()
  const [, url = ''] = /!\[log\]\(([^)]+)\)/.exec(await page.inputValue('#changelog')) ?? []
  await page.keyboard.press('Control+s')
  await page.waitForURL(/done=saved/)
  const image = await site.t.deps.db
    .selectFrom('image')
    .select(['context', 'version_id'])
    .where('version_id', 'is not', null)
    .executeTakeFirst()
  assert.equal(image?.context, 'version')
  assert.notEqual(url, '')
  assert.deepEqual(problems, [])
  await context.close()
})

test('the preview next to the text scrolls with it, and can be below it', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await openEditor(page)
  await page.fill(AREA, Array.from({ length: 120 }, (_each, index) => `Line ${index}\n`).join('\n'))
  await page.locator('#preview', { hasText: 'Line 119' }).waitFor()
  const heights = `(() => [document.querySelector('#preview'), document.querySelector('${AREA}')].map((one) => one.clientHeight))()`
  const [preview = 0, area = 0] = (await page.evaluate(heights)) as number[]
  assert.ok(Math.abs(preview - area) < 8, `${preview} and ${area}`)
  await page.evaluate(inArea('area.scrollTop = area.scrollHeight'))
  await page.waitForFunction(
    "(() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector('#preview'); return scrollTop > 0 && scrollTop >= scrollHeight - clientHeight - 2 })()",
  )
  await shoot(page, 'editor-side')
  await page.getByRole('button', { name: 'Preview next to the text' }).click()
  const [below = 0] = (await page.evaluate(heights)) as number[]
  assert.ok(below > 2 * area)
  await page.reload()
  assert.equal(
    await page.getByRole('button', { name: 'Preview next to the text' }).getAttribute('aria-pressed'),
    'false',
  )
  await page.setViewportSize(NARROW)
  assert.equal(await page.getByRole('button', { name: 'Preview next to the text' }).count(), 0)
  await shoot(page, 'editor-narrow')
  await context.close()
})

test('without scripts, the editor is a text area with a button for the preview', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE, javaScriptEnabled: false })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${SETTINGS}/description`)
  assert.equal(await page.locator('[role=toolbar]').isVisible(), false)
  await page.fill(AREA, 'Now **bold**')
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.locator('#preview strong', { hasText: 'bold' }).waitFor()
  await context.close()
})

test('the form of the gallery shows the chosen images and removes single ones', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, owner.token)
  page.on('dialog', (dialog) => void dialog.accept())
  await page.goto(`${site.url}${SETTINGS}/gallery`)
  const count = await page.locator('[data-item]').count()
  await page.locator('.thumbs').waitFor({ state: 'attached' })
  const buffer = await png(64, 48)
  await page.setInputFiles('#images-new', [
    { name: 'one.png', mimeType: 'image/png', buffer },
    { name: 'two.png', mimeType: 'image/png', buffer },
  ])
  await page.locator('.thumbs canvas[width="64"]').nth(1).waitFor()
  await shoot(page, 'gallery-chosen')
  await page.getByRole('button', { name: 'Remove: one.png' }).click()
  assert.deepEqual(await page.locator('.thumbs li p').allTextContents(), ['two.png'])
  await page.getByRole('button', { name: 'Add images' }).click()
  await page.waitForURL(/done=images-added/)
  assert.equal(await page.locator('[data-item]').count(), count + 1)
  assert.deepEqual(problems, [])
  await context.close()
})

for (const javaScriptEnabled of [true, false]) {
  test(`an image of the gallery opens (${javaScriptEnabled ? 'in the whole window' : 'without scripts'})`, async () => {
    const { context, page, problems } = await newPerson(site, { viewport: WIDE, javaScriptEnabled })
    await signIn(site, context, owner.token)
    await page.goto(`${site.url}${SETTINGS.replace('/settings', '')}/gallery`)
    const link = page.locator('.gallery a:not([data-video])').first()
    if (!javaScriptEnabled) {
      await link.click()
      await page.waitForURL(/image=\d+/)
      return context.close()
    }
    const dialog = page.getByRole('dialog')
    await page.locator('dialog.screen').waitFor({ state: 'attached' })
    await link.click()
    await dialog.getByText('1 of').waitFor()
    await shoot(page, 'gallery-screen')
    await page.keyboard.press('ArrowRight')
    await dialog.getByText('2 of').waitFor()
    await page.keyboard.press('ArrowLeft')
    await dialog.getByText('1 of').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate("document.activeElement.closest('.gallery') !== null"), true)
    assert.deepEqual(problems, [])
    return context.close()
  })
}
