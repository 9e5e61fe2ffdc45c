// The pages about users and the log: note, profile, message to the operators.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })

test('the page of a user has facts, timeline and lists, for moderators only', async () => {
  const project = await t.make.project({ name: `Lantern ${HOSTILE}`, status: 'processing' })
  const { owner } = project
  await t.deps.db.updateTable('account').set({ badges: 65 }).where('id', '=', owner.id).execute()
  const path = `/moderation/user/${owner.id}`
  await t.make.version({ project })
  assert.equal((await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'rejected' })).statusCode, 204)
  const report = { report_type: 'spam', item_type: 'project', item_id: project.id, body: 'Look' }
  assert.equal((await t.as(jon).post('/v3/report', report)).statusCode, 201)
  const shown = await visitor(t, mira.token).get(path)
  assertSays(shown, 200, '0 approved, 1 rejected or withheld')
  assertSays(shown, 200, 'Was reported:')
  // The report is open: it counts as a report about the user, and none of the user's own is closed.
  assertSays(shown, 200, '0 of 1 report led to action')
  assertSays(shown, 200, 'No closed reports')
  assertSays(shown, 200, 'SUPPORTER, TRANSLATOR')
  const log = await visitor(t, mira.token).get('/moderation/log')
  assert.ok(log.body.includes('Lantern &lt;/textarea&gt;') && !log.body.includes('<script>alert'))
  assertValidHtml(shown.body)
  assert.ok(!shown.body.includes('<script>alert'))
  assertSays(await visitor(t, owner.token).get(path), 404, 'does not exist')
  assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  assertSays(await visitor(t, mira.token).get('/moderation/user/zzzzzzzz'), 404, 'does not exist')
})

test('two moderators who write the note at the same time both keep their text', async () => {
  const person = await t.make.account()
  const path = `/moderation/user/${person.id}`
  const [first, second] = [visitor(t, mira.token), visitor(t, jon.token)]
  const [seenByMira, seenByJon] = [await first.get(path), await second.get(path)]
  const saved = await first.sendFrom(seenByMira, path, { do: 'note', body: 'Warned on Monday', revision: '0' })
  assertLeads(saved, `${path}?done=note-saved`)
  const refused = await second.sendFrom(seenByJon, path, { do: 'note', body: `Harmless ${HOSTILE}`, revision: '0' })
  assertSays(refused, 409, 'Another moderator has changed the note.')
  assertSays(refused, 409, 'Warned on Monday')
  assertSays(refused, 409, 'Harmless')
  assertValidHtml(refused.body)
  assert.match(refused.body, /name="revision" value="1"/)
  const again = await second.sendFrom(refused, path, { do: 'note', body: 'Both', revision: '1' })
  assertLeads(again, `${path}?done=note-saved`)
  assertSays(await first.get(path), 200, 'Both')
})

test('a moderator edits the profile and asks the operators; a refused form keeps what was typed', async () => {
  const person = await t.make.account({ username: 'tansy' })
  const path = `/moderation/user/${person.id}`
  const page = visitor(t, mira.token)
  const shown = await page.get(path)
  const bad = await page.sendFrom(shown, path, { do: 'edit', username: 'no spaces', bio: HOSTILE })
  assertSays(bad, 400, 'The username must')
  assert.ok(bad.body.includes('value="no spaces"') && bad.body.includes('&lt;/textarea&gt;'))
  const good = await page.sendFrom(shown, path, { do: 'edit', username: 'tansy', bio: 'Likes lamps' })
  assertLeads(good, `${path}?done=profile-changed`)
  assert.equal((await t.anyone.get(`/v3/user/${person.id}`)).json().bio, 'Likes lamps')
  assertSays(await page.sendFrom(shown, path, { do: 'ask', message: ' ' }), 400, 'must not be blank')
  assertLeads(
    await page.sendFrom(shown, path, { do: 'ask', message: 'Please suspend this account.' }),
    `${path}?done=operators-asked`,
  )
  const log = await page.get('/moderation/log')
  assertSays(log, 200, 'Message to operators sent')
  assert.doesNotMatch(log.body, /127\.0\.0\.1/, 'moderators see no addresses')
  assertValidHtml(log.body)
  assertSays(await page.get('/moderation/log?action=project.claimed'), 200, 'no entries for this filter')
  const filtered = async (query: string) => page.get(`/moderation/log?${query}`)
  assertSays(await filtered('actor=mira&user=tansy'), 200, 'Message to operators sent')
  assertSays(await filtered('actor=jon&user=tansy'), 200, 'no entries for this filter')
  assertSays(await filtered('user=tansy&until=2020-01-01'), 200, 'no entries for this filter')
  assertSays(await filtered('actor=nobody-here'), 400, 'must be the username or the ID of an account')
  assertSays(await visitor(t, person.token).get('/moderation/log'), 404, 'does not exist')
})
