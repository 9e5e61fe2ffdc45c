// The work of moderators in a real browser, with and without scripts, each on an empty instance: an author appeals, and another
// moderator decides; reports are claimed, the item is taken down on their page, and they are closed.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site, signIn } from '#test/support/browser/chromium.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  type StoryPerson,
  signUp,
} from '#test/support/story/empty-instance.ts'

let site: Site
beforeEach(async () => {
  site = await openSite()
})
afterEach(() => site?.close())

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

async function arrive(person: StoryPerson, javaScriptEnabled: boolean): Promise<Page> {
  const viewport = { width: 390, height: 844 }
  const { context, page } = await newPerson(site, { javaScriptEnabled, viewport })
  await signIn(site, context, person.token)
  return page
}

/** An operator, an author and two moderators. */
async function people(): Promise<Record<'operator' | 'ida' | 'mira' | 'jon', StoryPerson>> {
  const { t } = site
  const operator = await firstAdmin(t)
  const [ida, mira, jon] = [await signUp(t, 'ida'), await signUp(t, 'mira'), await signUp(t, 'jon')]
  for (const moderator of [mira, jon]) await appointModerator(t, operator, moderator)
  return { operator, ida, mira, jon }
}

for (const hasScripts of [true, false]) {
  test(`an appeal against a rejection ${hasScripts ? 'with' : 'without'} scripts`, async () => {
    const { ida, mira, jon } = await people()
    const token = await makeToken(site.t, ida)
    const project = await makeProject(site.t, token, 'lantern')
    await publish(site.t, token, { project_id: project, version_number: '1.0.0' })
    const [author, first, second] = [
      await arrive(ida, hasScripts),
      await arrive(mira, hasScripts),
      await arrive(jon, hasScripts),
    ]
    const review = `${site.url}/mod/lantern/settings/review`
    await author.goto(review)
    await press(author, 'Submit for review')
    await first.goto(`${site.url}/moderation`)
    await press(first, 'Start with the oldest')
    await first.getByRole('radio', { name: 'Reject' }).check()
    await first.getByLabel('Message to members').fill('The texture is from another project.')
    await press(first, 'Send')
    await says(first, 'The project is rejected.')

    await author.goto(review)
    await says(author, 'The texture is from another project.')
    await author.getByLabel('Your reasons').fill('Both projects are mine.')
    await checkFits(author)
    await press(author, 'Send appeal')
    await says(author, 'Position 1 of 1 in the queue')
    await checkFits(author)
    assert.equal(await author.getByRole('button', { name: 'Send appeal' }).count(), 0)

    await first.goto(`${site.url}/moderation/queue`)
    await press(first, 'Start with the oldest')
    await says(first, 'No unassigned project matches.')
    await first.goto(`${site.url}/moderation/project/${project}`)
    await says(first, 'another moderator decides')
    assert.equal(await first.getByRole('radio', { name: 'Reject' }).count(), 0)

    await second.goto(`${site.url}/moderation/queue?review=appeal`)
    await checkFits(second)
    await press(second, 'Start with the oldest')
    await says(second, 'Both projects are mine.')
    await says(second, 'You are reviewing this project.')
    await checkFits(second)
    await second.getByRole('radio', { name: 'Approve' }).check()
    await press(second, 'Send')
    await says(second, 'The project is approved.')

    await author.goto(review)
    await says(author, 'Appeal accepted')
    assert.equal(await author.getByRole('button', { name: 'Send appeal' }).count(), 0)
    const again = await site.t.as(ida).post(`/v3/project/${project}/appeal`, { body: 'Again' })
    assert.equal(again.statusCode, 409, again.body)
  })
}

for (const hasScripts of [true, false]) {
  test(`reports are handled on one page ${hasScripts ? 'with' : 'without'} scripts`, async () => {
    const { ida, mira, jon, operator } = await people()
    const token = await makeToken(site.t, ida)
    const project = await makeProject(site.t, token, 'lantern')
    await publish(site.t, token, { project_id: project, version_number: '1.0.0' })
    await approve(site.t, token, mira, project)
    const report = async (by: StoryPerson, item_type: string, item_id: string): Promise<string> => {
      const made = await site.t
        .as(by)
        .post('/v3/report', { report_type: 'spam', item_type, item_id, body: 'It is an advertisement.' })
      assert.equal(made.statusCode, 201, made.body)
      return made.json().id
    }
    const first = await report(jon, 'project', project)
    const second = await report(operator, 'project', project)
    const other = await report(jon, 'user', ida.id)
    const page = await arrive(mira, hasScripts)
    await page.goto(`${site.url}/moderation/reports`)
    await checkFits(page)
    await press(page, 'Start with the oldest')
    await page.waitForURL(new RegExp(`/moderation/reports/${first}`))
    await says(page, 'You are handling these reports.')
    await checkFits(page)
    for (const id of [first, second]) assert.ok(await page.locator(`[name=ids][value="${id}"]`).isChecked())
    if (hasScripts) {
      await page.keyboard.press('a')
      assert.ok(await page.getByRole('radio', { name: 'Led to action' }).isChecked())
    }
    await page.getByText('Take the item down').click()
    await page.getByRole('radio', { name: 'Withheld' }).check()
    await press(page, 'Take down')
    await says(page, 'The content is taken down.')
    assert.ok(page.url().includes(`/moderation/reports/${first}`))
    await page.getByText('Message the members of the project').click()
    await page.getByLabel('Message to members').fill('Please remove the advertisement.')
    await press(page, 'Send message')
    await says(page, 'Your message was sent to the members.')
    await page.getByRole('radio', { name: 'Led to action' }).check()
    await press(page, 'Close and next')
    await says(page, 'The selected reports are closed.')
    assert.ok(page.url().includes(`/moderation/reports/${other}`))
    const closed = await site.t.as(jon).get(`/v3/report/${first}`)
    assert.deepEqual([closed.json().closed, closed.json().outcome], [true, 'action'])
    const { status } = (await site.t.as(ida).get(`/v3/project/${project}`)).json()
    assert.equal(status, 'withheld')
  })
}
