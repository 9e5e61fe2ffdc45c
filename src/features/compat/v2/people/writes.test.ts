// Writes of users through the v2 API have the effects, errors and responses of the v3 API, in the v2 format.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { PNG } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())

type Answer = { statusCode: number; body: string }
const assertDone = ({ statusCode, body }: Answer) => assert.deepEqual([statusCode, body], [204, ''])
const assertAbsent = ({ statusCode, body }: Answer) => assert.deepEqual([statusCode, body], [404, ''])
function assertRefused({ statusCode, body }: Answer, field: string) {
  assert.deepEqual([statusCode, JSON.parse(body).details?.field], [400, field], body)
}

test('following and no more', async () => {
  const project = await t.make.project()
  const person = await t.make.account()
  const path = `/v2/project/${project.slug}/follow`
  assert.equal((await t.anyone.post(path)).statusCode, 401)
  assertDone(await t.as(person).post(path))
  assert.equal((await t.as(person).post(path)).statusCode, 400)
  const [followed] = (await t.as(person).get(`/v2/user/${person.id}/follows`)).json()
  assert.deepEqual([followed.id, followed.followers], [project.id, 1])
  assertDone(await t.as(person).delete(path))
  assert.equal((await t.as(person).delete(path)).statusCode, 400)
  assertAbsent(await t.as(person).post('/v2/project/nothing-here/follow'))
})

test('invitations, members and the transfer of a team', async () => {
  const project = await t.make.project()
  const [guest, stranger] = await t.make.people(2)
  const owner = t.as(project.owner)
  const team = `/v2/team/${project.teamId}`
  const members = async () => (await owner.get(`${team}/members`)).json()
  assert.equal((await t.as(stranger).post(`${team}/members`, { user_id: guest.id })).statusCode, 403)
  assertRefused(await owner.post(`${team}/members`, {}), 'user_id')
  assertRefused(await owner.post(`${team}/members`, { user_id: guest.id, payouts_split: -1 }), 'payouts_split')
  assertDone(await owner.post(`${team}/members`, { user_id: guest.id, role: 'Painter', permissions: 4, unknown: 1 }))
  assertAbsent(await t.as(stranger).post(`${team}/join`))
  assertDone(await t.as(guest).post(`${team}/join`))
  assertDone(await owner.patch(`${team}/members/${guest.id}`, { role: 'Artist', payouts_split: 20 }))
  const artist = (await members()).find(({ user }: { user: { id: string } }) => user.id === guest.id)
  assert.deepEqual([artist.role, artist.payouts_split, artist.accepted, artist.permissions], ['Artist', 20, true, 4])
  assert.equal((await t.as(guest).patch(`${team}/owner`, { user_id: guest.id })).statusCode, 403)
  assertDone(await owner.patch(`${team}/owner`, { user_id: guest.id }))
  assertDone(await t.as(guest).delete(`${team}/members/${project.owner.id}`))
  assert.equal((await members()).length, 1)
  assertAbsent(await owner.patch('/v2/team/AAAAAAAA/owner', { user_id: guest.id }))
})

test('notifications are read and deleted, each by its own account', async () => {
  const project = await t.make.project()
  const [guest, stranger] = await t.make.people(2)
  const invite = await t.as(project.owner).post(`/v2/team/${project.teamId}/members`, { user_id: guest.id })
  assertDone(invite)
  const list = async () => (await t.as(guest).get(`/v2/user/${guest.id}/notifications`)).json()
  const [{ id }] = await list()
  assertAbsent(await t.as(stranger).patch(`/v2/notification/${id}`))
  assertDone(
    await t.as(guest).patch(`/v2/notification/${id}`, undefined, { headers: { 'content-type': 'application/json' } }),
  )
  assert.equal((await list())[0].read, true)
  const query = { ids: JSON.stringify([id]) }
  assertDone(await t.as(guest).patch('/v2/notifications', undefined, { query }))
  assertDone(await t.as(stranger).delete('/v2/notifications', undefined, { query }))
  assert.equal((await list()).length, 1)
  assertDone(await t.as(guest).delete('/v2/notifications', undefined, { query }))
  assert.deepEqual(await list(), [])
  assertAbsent(await t.as(guest).delete(`/v2/notification/${id}`))
})

test('a report returns 200; its conversation continues', async () => {
  const project = await t.make.project()
  const [reporter, stranger] = await t.make.people(2)
  const moderator = await t.make.account({ role: 'moderator' })
  const sent = { report_type: 'spam', item_id: project.id, item_type: 'project', body: 'This is spam.' }
  assertRefused(await t.as(reporter).post('/v2/report', { ...sent, report_type: 'nonsense' }), 'report_type')
  assertRefused(await t.as(reporter).post('/v2/report', { ...sent, body: ' ' }), 'body')
  assert.equal((await t.anyone.post('/v2/report', sent)).statusCode, 401)
  const made = await t.as(reporter).post('/v2/report', sent)
  assert.equal(made.statusCode, 200, made.body)
  const report = made.json()
  assertDone(await t.as(reporter).patch(`/v2/report/${report.id}`, { body: 'It still is.' }))
  assertAbsent(await t.as(stranger).patch(`/v2/report/${report.id}`, { body: 'No.' }))
  const thread = `/v2/thread/${report.thread_id}`
  assertDone(await t.as(reporter).post(thread, { body: { type: 'text', body: 'Please look.' } }))
  assertAbsent(await t.as(stranger).post(thread, { body: { type: 'text', body: 'Hello' } }))
  assertRefused(await t.as(reporter).post(thread, { body: { type: 'text', body: ' ' } }), 'body.body')
  const { messages } = (await t.as(moderator).get(thread)).json()
  const text = messages.find(({ body }: { body: { body?: string } }) => body.body === 'Please look.')
  assertDone(await t.as(reporter).delete(`/v2/message/${text.id}`))
  assertDone(await t.as(moderator).patch(`/v2/report/${report.id}`, { closed: true }))
  const shown = (await t.as(reporter).get(`/v2/report/${report.id}`)).json()
  assert.deepEqual([shown.body, shown.closed], ['It still is.', true])
  assert.equal((await t.as(reporter).delete(`/v2/report/${report.id}`)).statusCode, 403)
  assertDone(await t.as(moderator).delete(`/v2/report/${report.id}`))
  assertAbsent(await t.as(reporter).get(`/v2/report/${report.id}`))
})

test('a user is edited, gets an avatar, and is deleted', async () => {
  const [person, stranger] = await t.make.people(2)
  const path = `/v2/user/${person.id}`
  const view = async () => (await t.anyone.get(path)).json()
  assertDone(await t.as(person).patch(path, { username: 'lantern-maker', bio: 'Keeps the light.', name: 'Ignored' }))
  assert.deepEqual([(await view()).username, (await view()).bio], ['lantern-maker', 'Keeps the light.'])
  assertRefused(await t.as(person).patch(path, { username: 'two words' }), 'username')
  assert.equal((await t.as(stranger).patch(path, { bio: 'No.' })).statusCode, 403)
  assert.equal((await t.as(person).patch(path, { badges: 1 })).statusCode, 403)
  const headers = { 'content-type': 'application/json' }
  assertDone(await t.as(person).patch(`${path}/icon?ext=png`, PNG, { headers }))
  assert.equal(typeof (await view()).avatar_url, 'string')
  assertDone(await t.as(person).delete(`${path}/icon`))
  assert.equal((await view()).avatar_url, null)
  assert.equal((await t.as(stranger).delete(path)).statusCode, 403)
  assertDone(await t.as(person).delete(path))
  assertAbsent(await t.anyone.get(path))
})

test('accounts answer without `_internal` in the path, with the same handlers', async () => {
  const member = await makeMember(t)
  const wrong = await t.anyone.post('/v2/auth/login', { username: member.username, password: 'wrong' })
  assert.equal(wrong.statusCode, 401)
  const signedIn = await t.anyone.post('/v2/auth/login', { username: member.username, password: PASSWORD })
  assert.equal(signedIn.statusCode, 200, signedIn.body)
  const me = t.as({ token: signedIn.json().session })
  const sessions = (await me.get('/v2/session/list')).json()
  assert.equal(sessions.length, 2)
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  assertDone(await me.delete(`/v2/session/${other.id}`))
  assert.equal((await t.as(member).get('/v2/user')).statusCode, 401)
  const expires = new Date(Date.now() + 86_400_000).toISOString()
  const pat = await me.post('/v2/pat', { name: 'For a launcher', scopes: 1, expires })
  assert.equal(pat.statusCode, 201, pat.body)
  assert.equal((await me.get('/v2/pat')).json().length, 1)
  assertRefused(await me.post('/v2/pat', { name: '', scopes: 1, expires }), 'name')
  assertDone(await me.delete(`/v2/pat/${pat.json().id}`))
  const refreshed = await me.post('/v2/session/refresh')
  assert.equal(refreshed.statusCode, 200)
  assert.equal((await t.as({ token: refreshed.json().session }).get('/v2/user')).json().id, member.id)
  assert.equal((await t.anyone.get('/v2/pat')).statusCode, 401)
})
