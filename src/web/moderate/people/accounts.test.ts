// The list of accounts in the browser: filters, selection, preview, cleanup and undo, for moderators and operators.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '<script>alert(1)</script>'
const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const path = '/moderation/users'

const spammer = async (username: string) => {
  const person = await t.make.account({ username })
  const project = await t.make.project({ owner: person, status: 'processing', name: `Buy ${username} ${HOSTILE}` })
  await t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', project.id).execute()
  return { ...person, project }
}
const status = async (project: { id: string }) => (await t.as(mira).get(`/v3/project/${project.id}`)).json().status

test('a moderator finds accounts, sees what would happen, marks them as spam and undoes it', async () => {
  const [first, second] = [await spammer('lamp-shop-1'), await spammer('lamp-shop-2')]
  const reply = { topic: 'Spam', language: 'en', title: 'Advertising', body: 'We do not publish advertising.' }
  const { id: replyId } = (await t.as(mira).post('/_internal/moderation/replies', reply)).json()
  await t.as(mira).post('/_internal/moderation/replies/starter')
  const filtered = `${path}?query=lamp-shop`
  const moderator = visitor(t, mira.token)
  const shown = await moderator.get(filtered)
  assertSays(shown, 200, '2 accounts')
  assertSays(await moderator.get(`${filtered}&published=yes`), 200, 'No accounts found')
  assertValidHtml(shown.body)
  assert.ok(!shown.body.includes('@example.org') && shown.body.includes('example.org'), 'only the domain')
  assertSays(await moderator.sendFrom(shown, filtered, { do: 'spam' }), 400, 'Select at least one account')
  const preview = await moderator.sendFrom(shown, filtered, { do: 'spam', all: 'yes' })
  assertSays(preview, 200, 'Mark 2 accounts as spam?')
  assertSays(preview, 200, '2 projects are rejected.')
  assert.ok(!preview.body.includes(HOSTILE))
  assertValidHtml(preview.body)
  const offered = [...preview.body.matchAll(/<option value="\w+"[^>]*>([^<]+)</g)].map(([, title]) => title)
  assert.ok(offered.includes('Advertising') && offered.includes('Spam') && !offered.includes('Thanks for the report'))
  assert.match(preview.body, /<label for="message">Message to members<\/label>/)
  const send = { action: 'spam', ids: [first.id, second.id], do: 'confirm' }
  const refused = await moderator.sendFrom(preview, filtered, { ...send, message: ' ', reply: '' })
  assertSays(refused, 400, 'Mark 2 accounts as spam?')
  assertSays(refused, 400, 'The message is required: write a message or choose a saved reply.')
  assert.equal(await status(first.project), 'processing')
  const done = await moderator.sendFrom(refused, filtered, { ...send, message: '', reply: replyId })
  assert.equal(done.statusCode, 303, done.body)
  const list = await moderator.get(String(done.headers.location))
  assertSays(list, 200, '2 accounts were cleaned up.')
  assertSays(list, 200, 'Marked as spam: 2 accounts')
  assert.deepEqual([await status(first.project), await status(second.project)], ['rejected', 'rejected'])
  const again = await moderator.sendFrom(refused, filtered, { ...send, message: 'Spam', reply: '' })
  assertValidHtml(again.body)
  assertSays(again, 409, 'None of these accounts can be cleaned up')
  assertSays(again, 409, /readonly>\s*Spam<\/textarea>/)
  const cleanup = /name="cleanup" value="(\w+)"/.exec(list.body)?.[1] ?? ''
  const undone = await moderator.sendFrom(list, filtered, { do: 'undo', cleanup })
  assertSays(await moderator.get(String(undone.headers.location)), 200, '2 accounts are restored.')
  assert.equal(await status(first.project), 'processing')
})

test('the review, a report and the page of a user lead to the preview of a mark as spam', async () => {
  const [person, publisher, reporter] = [await spammer('lamp-ad'), await t.make.account(), await t.make.account()]
  await t.make.project({ owner: publisher })
  const about = { report_type: 'spam', item_type: 'user', item_id: person.id, body: 'Advertising' }
  const reported = await t.as(reporter).post('/v3/report', about)
  assert.equal(reported.statusCode, 201, reported.body)
  const moderator = visitor(t, mira.token)
  const places = [
    `/moderation/project/${person.project.id}`,
    `/moderation/reports/${reported.json().id}`,
    `/moderation/user/${person.id}`,
  ]
  for (const place of places) {
    const page = await moderator.get(place)
    assertValidHtml(page.body)
    assertSays(page, 200, 'aria-label="Mark lamp-ad as spam"')
    const preview = await moderator.sendFrom(page, path, { do: 'spam', ids: person.id })
    assertSays(preview, 200, 'Mark one account as spam?')
  }
  for (const other of [publisher.id, mira.id])
    assert.ok(!(await moderator.get(`/moderation/user/${other}`)).body.includes('as spam"'), 'not staff or publishers')
})

test('a moderator sees no action of operators; an operator confirms the password for them', async () => {
  const person = await spammer('carpet-shop')
  const moderator = visitor(t, mira.token)
  const found = `${path}?query=carpet-shop`
  const list = await moderator.get(found)
  assert.ok(!list.body.includes('value="delete"') && list.body.includes('value="spam"'))
  const forged = { action: 'delete', ids: person.id, message: 'Spam', do: 'confirm' }
  assert.equal((await moderator.sendFrom(list, found, forged)).statusCode, 403)
  const admin = await makeMember(t)
  await t.make.account({ role: 'admin' })
  await t.deps.db.updateTable('account').set({ role: 'admin' }).where('id', '=', admin.id).execute()
  const operator = visitor(t, admin.token)
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', admin.id).execute()
  const users = '/operator/users?email_domain=example.org'
  const all = await operator.get(users)
  assertSays(all, 200, `${person.username}@example.org`)
  const preview = await operator.sendFrom(all, users, { do: 'delete', ids: person.id })
  assertSays(preview, 200, 'The account is deleted after an hour.')
  const send = { action: 'delete', ids: person.id, message: 'Spam', do: 'confirm' }
  assertSays(await operator.sendFrom(preview, users, { ...send, password: 'wrong' }), 401, 'Delete one account?')
  const done = await operator.sendFrom(preview, users, { ...send, password: PASSWORD })
  assert.equal(done.statusCode, 303, done.body)
  assert.equal(await status(person.project), 'rejected')
})

test('the page of an account shows related accounts, and leads to the preview of the same actions', async () => {
  const [one, two] = [await spammer('sofa-shop-1'), await spammer('sofa-shop-2')]
  for (const { id, username } of [one, two])
    await t.deps.db
      .updateTable('account')
      .set({ email: `${username}@sofa.example` })
      .where('id', '=', id)
      .execute()
  const moderator = visitor(t, mira.token)
  const shown = await moderator.get(`/moderation/user/${one.id}`)
  assertSays(shown, 200, 'Might belong to the same person')
  assertSays(shown, 200, 'sofa-shop-2')
  assertValidHtml(shown.body)
  const preview = await moderator.sendFrom(shown, path, { do: 'spam', ids: [one.id, two.id] })
  assertSays(preview, 200, 'Mark 2 accounts as spam?')
  const operator = visitor(t, (await t.make.account({ role: 'admin' })).token)
  const page = await operator.get(`/operator/user/${one.id}`)
  assertSays(page, 200, 'Might belong to the same person')
  assertValidHtml(page.body)
})

test('others do not see the list', async () => {
  assert.equal((await visitor(t, (await t.make.account()).token).get(path)).statusCode, 404)
  assert.equal((await visitor(t, mira.token).get('/operator/users')).statusCode, 404)
  assertSays(await visitor(t, mira.token).get(`${path}?registered_from=soon`), 400, 'The first day must be a day')
})
