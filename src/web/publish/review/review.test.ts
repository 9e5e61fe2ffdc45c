// The review page of a project: checklist, submission, withdrawal, the message of a rejection, conversation.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account({ username: 'ida-marsh' })
const moderator = await t.make.account({ username: 'mira', role: 'moderator' })

/** A draft that was created over the API, with its thread. */
async function draft(slug: string, fields: object = {}): Promise<{ id: string; path: string }> {
  const body = {
    name: 'Lantern',
    slug,
    summary: 'A light',
    description: 'It shines',
    categories: [],
    license_id: 'MIT',
  }
  const made = await t.as(owner).post('/v3/project', { ...body, is_draft: true, project_type: 'mod', ...fields })
  assert.equal(made.statusCode, 201, made.body)
  return { id: made.json().id, path: `/mod/${slug}/settings/review` }
}
const withVersion = ({ id }: { id: string }) => t.make.version({ project: { id, owner } as MadeProject })
const statusOf = async ({ id }: { id: string }) => (await t.as(owner).get(`/v3/project/${id}`)).json().status

test('an incomplete draft is refused with every missing item, and the page has the note again', async () => {
  const project = await draft('incomplete', { description: '', license_decided: false })
  const browser = visitor(t, owner.token)
  const page = await browser.get(project.path)
  assertSays(page, 200, 'Submit for review')
  assertValidHtml(page.body)
  const refused = await browser.sendFrom(page, project.path, { do: 'submit', body: HOSTILE })
  for (const item of ['license', 'description', 'version']) assertSays(refused, 400, `href="#check-${item}"`)
  assertSays(refused, 400, 'The project needs: Licence.')
  assertSays(refused, 400, HOSTILE)
  assert.ok(!refused.body.includes(HOSTILE))
  assertValidHtml(refused.body)
  assert.equal(await statusOf(project), 'draft')
  const settings = await browser.get('/mod/incomplete/settings')
  assertSays(settings, 200, 'complete: Licence, Description, and Public version')
})

test('a submission with a note is queued, shows its position, and can be withdrawn', async () => {
  const project = await draft('complete')
  await withVersion(project)
  const browser = visitor(t, owner.token)
  const submitted = await browser.send(project.path, project.path, { do: 'submit', body: 'The music is my own.' })
  const waiting = await browser.get(assertLeads(submitted, `${project.path}?done=submitted`))
  assertSays(waiting, 200, 'Position 1 of 1 in the queue')
  assertSays(waiting, 200, 'The music is my own.')
  assertValidHtml(waiting.body)
  assertSays(await browser.get('/mod/complete/settings'), 200, 'In review')
  const back = await browser.sendFrom(waiting, project.path, { do: 'withdraw' })
  assertSays(await browser.get(assertLeads(back, `${project.path}?done=withdrawn`)), 200, 'is a draft again')
  assert.equal(await statusOf(project), 'draft')
})

test('a rejection shows the message, takes a reply, and leads to a new submission', async () => {
  const project = await draft('rejected')
  await withVersion(project)
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'processing' })
  const decision = {
    status: 'rejected',
    moderation_message: 'Please credit the artist',
    moderation_message_body: HOSTILE,
  }
  assert.equal((await t.as(moderator).patch(`/v3/project/${project.id}`, decision)).statusCode, 204)
  const browser = visitor(t, owner.token)
  const page = await browser.get(project.path)
  assertSays(page, 200, 'Moderators rejected this project')
  assertSays(page, 200, 'Please credit the artist')
  assert.ok(!page.body.includes(HOSTILE) && !page.body.includes('mira'))
  assertValidHtml(page.body)
  assertSays(page, 200, 'You have not changed anything since then.')
  await t.as(owner).patch(`/v3/project/${project.id}`, { summary: `The artist is ${HOSTILE}` })
  const changed = await browser.get(project.path)
  assertSays(changed, 200, /Changes since the message of .*<ins>The artist/s)
  assertSays(changed, 200, 'Resubmit')
  assert.ok(!changed.body.includes(HOSTILE))
  assertValidHtml(changed.body)
  assertSays(await browser.sendFrom(page, project.path, { do: 'reply', body: ' ' }), 400, 'must not be blank')
  const replied = await browser.sendFrom(page, project.path, { do: 'reply', body: 'The artist is **named** now.' })
  const after = await browser.get(assertLeads(replied, `${project.path}?done=replied`))
  assertSays(after, 200, '<strong>named</strong>')
  assertLeads(await browser.sendFrom(after, project.path, { do: 'submit', body: '' }), `${project.path}?done=submitted`)
  assert.equal(await statusOf(project), 'processing')
})

test('an author appeals a decision once by the form, and sees the place in the queue and the answer', async () => {
  const project = await draft('appealed')
  await withVersion(project)
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'processing' })
  const decision = { status: 'withheld', moderation_message: 'Not yours' }
  assert.equal((await t.as(moderator).patch(`/v3/project/${project.id}`, decision)).statusCode, 204)
  const browser = visitor(t, owner.token)
  const page = await browser.get(project.path)
  assertSays(page, 200, 'Send appeal')
  assertValidHtml(page.body)
  const blank = await browser.sendFrom(page, project.path, { do: 'appeal', body: ' ' })
  assertSays(blank, 400, 'must not be blank')
  const sent = await browser.sendFrom(page, project.path, { do: 'appeal', body: `It is mine ${HOSTILE}` })
  const after = await browser.get(assertLeads(sent, `${project.path}?done=appealed#appeal`).replace(/#.*/, ''))
  assertSays(after, 200, 'waits for another moderator')
  assertSays(after, 200, /Position \d+ of \d+ in the queue/)
  assert.ok(
    !after.body.includes(HOSTILE) && !after.body.includes('Send appeal') && !after.body.includes('value="withdraw"'),
  )
  assertValidHtml(after.body)
  const again = await browser.sendFrom(page, project.path, { do: 'appeal', body: 'Again' })
  assertSays(again, 409, 'This decision was appealed before')
  const other = await t.make.account({ role: 'moderator' })
  const answer = await t.as(other).post(`/_internal/moderation/projects/${project.id}/appeal/reject`, { message: 'No' })
  assert.equal(answer.statusCode, 204, answer.body)
  assertSays(await browser.get(project.path), 200, 'A moderator rejected your appeal')
})

test('a decision that comes first keeps the withdrawal from changing it', async () => {
  const project = await draft('decided')
  await withVersion(project)
  const browser = visitor(t, owner.token)
  await browser.send(project.path, project.path, { do: 'submit', body: '' })
  const page = await browser.get(project.path)
  await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'withheld', moderation_message: 'Wait' })
  assertSays(await browser.sendFrom(page, project.path, { do: 'withdraw' }), 403, 'Only moderators can change')
  assert.equal(await statusOf(project), 'withheld')
})

test('members without EDIT_DETAILS can read and reply; others do not see the page', async () => {
  const project = await draft('common')
  await withVersion(project)
  const member = await t.make.account()
  const { team_id: teamId } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  await t.make.member({ teamId, accountId: member.id, permissions: 8 })
  const page = await visitor(t, member.token).get(project.path)
  assertSays(page, 200, 'for the <em>Edit details</em> permission')
  assert.ok(!page.body.includes('value="submit"') && page.body.includes('value="reply"'))
  const stranger = visitor(t, (await t.make.account()).token)
  assertSays(await stranger.get(project.path), 404, 'does not exist')
  const moved = await visitor(t, owner.token).get('/mod/common/moderation')
  assert.deepEqual([moved.statusCode, moved.headers.location], [301, project.path])
  assertSays(await visitor(t, moderator.token).get(project.path), 200, 'as a moderator')
})
