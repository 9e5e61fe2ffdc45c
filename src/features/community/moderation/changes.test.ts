// Changes since the last approval, decisions on an outdated state, and undoing decisions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { ADMIN_KEY } from '#test/support/app/test-app.ts'
import { conversationFactories } from '#test/support/factories/conversation-factories.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t } = await teamApp()
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })
const owner = await t.make.account({ username: 'lamp-owner' })

/** A project that its owner has submitted for its first review. */
async function submitted(): Promise<MadeProject> {
  const project = await t.make.project({ owner, status: 'draft' })
  await t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', project.id).execute()
  await t.make.version({ project, version_number: '1.0.0' })
  await edit(project, { status: 'processing' }, owner)
  return project
}
const edit = async ({ id }: { id: string }, fields: object, who: Person = owner): Promise<void> => {
  const answer = await t.as(who).patch(`/v3/project/${id}`, fields)
  assert.equal(answer.statusCode, 204, answer.body)
}
const decide = (project: { id: string }, fields: object, who: Person = mira) =>
  t.as(who).patch(`/v3/project/${project.id}`, fields)
const changes = async ({ id }: { id: string }) => {
  const answer = await t.as(mira).get(`/_internal/moderation/projects/${id}/changes`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const threadOf = async ({ id }: { id: string }): Promise<string> =>
  (await t.as(mira).get(`/v3/project/${id}`)).json().thread_id
const write = async (project: { id: string }, who: Person, body: string, isPrivate = false): Promise<void> => {
  const message = { type: 'text', body, private: isPrivate }
  const answer = await t.as(who).post(`/v3/thread/${await threadOf(project)}`, { body: message })
  assert.equal(answer.statusCode, 204, answer.body)
}
const marks = (change: { texts: { field: string; parts: { change: string; text: string }[] }[] }, name: string) =>
  change.texts
    .find(({ field }) => field === name)
    ?.parts.filter(({ change: kind }) => kind !== 'same')
    .map(({ change: kind, text }) => `${kind}: ${text}`)
const queued = async ({ id }: { id: string }) =>
  (await t.as(mira).get('/_internal/moderation/projects', { query: { count: 200 } }))
    .json()
    .projects.find((project: { id: string }) => project.id === id)
const announce = () => t.runJob('decisions.announce')
const notifiedOf = async (project: { id: string }): Promise<string[]> => {
  const rows = await t.deps.db.selectFrom('notification').select('body').where('account_id', '=', owner.id).execute()
  return rows
    .map(({ body }) => body as { type: string; project_id: string; new_status?: string })
    .filter(({ project_id, type }) => project_id === project.id && type === 'status_change')
    .map(({ new_status: status }) => status ?? '')
}

test('a first review shows all of the project, and what has changed since the submission and the last message', async () => {
  const project = await submitted()
  const first = await changes(project)
  assert.deepEqual([first.review, first.since.reason, first.decision], ['first', 'submission', null])
  assert.deepEqual(marks(first, 'description'), ['added: # Test'])
  assert.deepEqual(
    first.versions.added.map(({ number }: { number: string }) => number),
    ['1.0.0'],
  )
  assert.equal(first.recent.texts.filter(({ changed }: { changed: boolean }) => changed).length, 0)
  assert.deepEqual(first.recent.versions.added, [])
  await edit(project, { description: 'It shows every ore', link_urls: { source: 'https://code.example/lantern' } })
  const second = await changes(project)
  assert.deepEqual(marks(second, 'description'), ['added: It shows every ore'])
  assert.deepEqual(marks(second.recent, 'description'), ['removed: # Test', 'added: It shows every ore'])
  assert.deepEqual(second.links, [
    { platform: 'source', before: null, after: 'https://code.example/lantern', other_projects: 0 },
  ])
  await write(project, jon, 'A note', true)
  await write(project, mira, 'Please describe it')
  await edit(project, { description: 'It shows every lamp' })
  const third = await changes(project)
  assert.equal(third.since.reason, 'message', 'members cannot see a private note')
  assert.deepEqual(marks(third.recent, 'description'), ['removed: ore', 'added: lamp'])
  assert.deepEqual(third.recent.links[0].before, 'https://code.example/lantern')
  assert.deepEqual(third.links[0].before, null)
})

test('a later review shows the changes since the last approval, of every kind', async () => {
  const project = await submitted()
  await edit(project, { categories: ['decoration'], link_urls: { wiki: 'https://wiki.example/a' } })
  await edit(project, { status: 'approved' }, mira)
  await write(project, mira, 'Welcome')
  const [old] = (await t.as(mira).get(`/v3/project/${project.id}/version`)).json()
  const added = await t.make.version({ project, version_number: '2.0.0' })
  await t.as(owner).patch(`/v3/version/${old.id}`, { name: 'Renamed' })
  await edit(project, { categories: ['utility'], link_urls: { wiki: null }, name: 'Lantern Deluxe', status: 'draft' })
  await edit(project, { status: 'processing' })
  const change = await changes(project)
  assert.deepEqual([change.review, change.since.reason], ['repeat', 'approval'])
  assert.deepEqual(
    change.lists.find(({ field }: { field: string }) => field === 'categories'),
    { field: 'categories', same: [], added: ['utility'], removed: ['decoration'] },
  )
  assert.deepEqual(change.links, [
    { platform: 'wiki', before: 'https://wiki.example/a', after: null, other_projects: null },
  ])
  assert.ok(marks(change, 'name')?.some((mark) => mark.includes('Deluxe')))
  const { versions } = change
  assert.deepEqual(
    [versions.added, versions.removed].map((list: { id: string; compare_with: string | null }[]) =>
      list.map(({ id, compare_with: against }) => [id, against]),
    ),
    [[[added.id, old.id]], []],
  )
  assert.deepEqual([versions.changed[0].before.name === 'Renamed', versions.changed[0].after.name], [false, 'Renamed'])
  await t.as(owner).delete(`/v3/version/${old.id}`)
  assert.equal((await changes(project)).versions.removed[0].id, old.id)
})

test('a project without an earlier state is all new', async () => {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.make.version({ project })
  const change = await changes(project)
  assert.equal(change.since, null)
  assert.equal(change.versions.added.length, 1)
  assert.ok(marks(change, 'name')?.[0]?.startsWith('added: '))
})

test('links show how many other projects use the host', async () => {
  const [project, other] = [await submitted(), await submitted()]
  await edit(other, { link_urls: { source: 'https://Shared.example/b', wiki: 'https://shared.example/c' } })
  await edit(project, { link_urls: { source: 'https://shared.example:8443/a' } })
  assert.deepEqual((await changes(project)).links[0].other_projects, 1)
})

test('a decision on an outdated state is 409 and says who did what; another claim does not matter', async () => {
  const project = await submitted()
  const { seen } = await queued(project)
  assert.equal(seen, (await changes(project)).seen)
  await t.as(jon).put(`/_internal/moderation/projects/${project.id}/claim`)
  await edit(project, { status: 'withheld', moderation_message: 'Name the licence', seen }, mira)
  const late = await decide(project, { status: 'approved', seen }, jon)
  assertError(late, 409, 'conflict', 'seen')
  const { last, seen: current } = late.json().details
  assert.deepEqual(
    [last.by, last.old_status, last.new_status, last.message],
    [{ id: mira.id, username: 'mira' }, 'processing', 'withheld', 'Name the licence'],
  )
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).json().status, 'withheld')
  await write(project, owner, 'Done')
  const stale = await decide(project, { status: 'approved', seen: current }, jon)
  assertError(stale, 409, 'conflict', 'seen')
  assert.equal(stale.json().details.last.by.username, 'lamp-owner')
  await edit(project, { status: 'approved', seen: stale.json().details.seen }, jon)
})

test('a decision applies to the texts, images, versions and files that the moderator saw, not to downloads', async () => {
  const project = await submitted()
  const [version] = (await t.as(owner).get(`/v3/project/${project.id}/version`)).json()
  const { db } = t.deps
  const edits: Record<string, () => Promise<unknown>> = {
    description: () => edit(project, { description: 'Later' }),
    licence: () => edit(project, { license_id: 'MIT' }),
    tags: () => edit(project, { categories: ['utility'] }),
    links: () => edit(project, { link_urls: { wiki: 'https://wiki.example/x' } }),
    'a new version': () => t.make.version({ project, version_number: '1.1.0' }),
    changelog: () => t.as(owner).patch(`/v3/version/${version.id}`, { changelog: 'Hidden until now' }),
    file: () => t.make.file({ project, version, bytes: Buffer.from('other'), filename: 'other.jar', primary: false }),
    image: () =>
      db
        .insertInto('gallery_item')
        .values({
          id: newId(),
          project_id: project.id,
          url: 'data/x/images/a.webp',
          raw_url: 'data/x/images/a.png',
          content_sha1: '0'.repeat(40),
        })
        .execute(),
    message: () => write(project, owner, 'Look again'),
  }
  for (const [what, change] of Object.entries(edits)) {
    const { seen } = await changes(project)
    await change()
    assertError(await decide(project, { status: 'rejected', seen }), 409, 'conflict', 'seen')
    assert.notEqual((await queued(project)).seen, seen, what)
  }
  const { seen } = await changes(project)
  await db.updateTable('project').set({ downloads: 7, followers: 3 }).where('id', '=', project.id).execute()
  await db.updateTable('version').set({ downloads: 7 }).where('id', '=', version.id).execute()
  await edit(project, { status: 'approved', seen }, mira)
})

test('a refused decision names a message or a status change only if it is later than the state that the moderator saw', async () => {
  const project = await submitted()
  await write(project, owner, 'An old message')
  const refusal = async (seen: string, who = mira): Promise<{ description: string; seen: string }> => {
    const answer = await decide(project, { status: 'rejected', seen }, who)
    assertError(answer, 409, 'conflict', 'seen')
    return { description: answer.json().description, seen: answer.json().details.seen }
  }
  const { seen } = await changes(project)
  await edit(project, { summary: 'Another summary' })
  const edited = await refusal(seen)
  assert.match(edited.description, /^The project has changed since you opened it$/)
  await edit(project, { status: 'draft' })
  await edit(project, { status: 'processing' })
  const resubmitted = await refusal(edited.seen)
  assert.match(resubmitted.description, /^lamp-owner changed the status since you opened this project$/)
  await write(project, owner, 'A new message')
  assert.match((await refusal(resubmitted.seen)).description, /^lamp-owner wrote a message since/)
  assert.match((await refusal('unknown')).description, /^The project has changed/)
})

test('an unfinished upload does not count as a version, and does not outdate a decision', async () => {
  const project = await submitted()
  const { seen, versions } = await changes(project)
  const made = { project_id: project.id, status: 'draft', file_parts: [], dependencies: [], featured: false }
  const draft = await t.as(owner).post('/v3/version', made)
  assert.equal(draft.statusCode, 201, draft.body)
  const after = await changes(project)
  assert.deepEqual([after.versions.added, after.recent.versions.added], [versions.added, []])
  await edit(project, { status: 'approved', seen }, mira)
})

test('the marks of a first review are relative to the latest submission', async () => {
  const project = await submitted()
  await edit(project, { description: 'Corrected', status: 'draft' })
  await edit(project, { status: 'processing' })
  const again = await changes(project)
  assert.deepEqual([again.since.reason, marks(again.recent, 'description')], ['submission', []])
  await write(project, mira, 'Please name the lamps')
  assert.equal((await changes(project)).since.reason, 'message')
  await edit(project, { description: 'Corrected twice', status: 'draft' })
  await edit(project, { status: 'processing' })
  const third = await changes(project)
  assert.deepEqual([third.since.reason, marks(third.recent, 'description')], ['submission', []])
  await edit(project, { description: 'Corrected later' })
  assert.deepEqual(marks((await changes(project)).recent, 'description'), ['removed: twice', 'added: later'])
})

test('a version is compared with an older one only', async () => {
  const project = await submitted()
  const [first] = (await t.as(owner).get(`/v3/project/${project.id}/version`)).json()
  const second = await t.make.version({ project, version_number: '2.0.0' })
  await write(project, mira, 'Thanks')
  const third = await t.make.version({ project, version_number: '3.0.0' })
  assert.deepEqual(
    (await changes(project)).versions.added.map((one: { id: string; compare_with: string | null }) => [
      one.id,
      one.compare_with,
    ]),
    [
      [third.id, second.id],
      [second.id, first.id],
      [first.id, null],
    ],
  )
})

test('of two decisions at the same time, one is made', async () => {
  const project = await submitted()
  const { seen } = await changes(project)
  const answers = await Promise.all([
    decide(project, { status: 'approved', seen }, mira),
    decide(project, { status: 'rejected', seen }, jon),
  ])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
})

test('seen is only for moderators, and bounded', async () => {
  const project = await submitted()
  assertError(await decide(project, { status: 'processing', seen: 'processing' }, owner), 403, 'unauthorized')
  assertError(await decide(project, { status: 'approved', seen: '' }), 400, 'validation_error', 'seen')
  assertError(await decide(project, { status: 'approved', seen: 'x'.repeat(65) }), 400, 'validation_error', 'seen')
  const path = `/_internal/moderation/projects/${project.id}/changes`
  assertError(await t.as(owner).get(path), 403, 'unauthorized')
  assertError(await t.anyone.get(path), 401, 'unauthorized')
  assertError(await t.as(mira).get('/_internal/moderation/projects/Zzzzzzzz/changes'), 404, 'not_found')
})

test('the members are notified of a decision after 5 minutes, once', async () => {
  t.freeze()
  const project = await submitted()
  await edit(project, { status: 'rejected', moderation_message: 'No licence' }, mira)
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).json().status, 'rejected', 'it takes effect')
  t.advance(5 * MINUTE_MS - 1)
  await announce()
  assert.deepEqual(await notifiedOf(project), [])
  t.advance(1)
  await Promise.all([announce(), announce()])
  assert.deepEqual(await notifiedOf(project), ['rejected'])
  assert.equal((await changes(project)).decision, null)
  t.thaw()
})

test('an undone decision leaves the project as before, and nobody is notified', async () => {
  t.freeze()
  const project = await submitted()
  await edit(project, { description: 'After the submission' })
  const before = await queued(project)
  await edit(project, { status: 'approved' }, mira)
  const { decision, seen } = await changes(project)
  assert.deepEqual([decision.by.username, decision.from, decision.to], ['mira', 'processing', 'approved'])
  assert.equal(Date.parse(decision.undo_until) - Date.parse(decision.at), 5 * MINUTE_MS)
  await edit(project, { status: 'processing', seen }, jon)
  t.advance(6 * MINUTE_MS)
  await announce()
  assert.deepEqual(await notifiedOf(project), [])
  const after = await queued(project)
  assert.deepEqual([after.queued, after.position], [before.queued, before.position])
  const change = await changes(project)
  assert.deepEqual([change.review, change.since.reason], ['first', 'submission'])
  assert.deepEqual(marks(change.recent, 'description'), ['removed: # Test', 'added: After the submission'])
  const entries = (
    await t
      .as(await t.make.account({ role: 'admin' }))
      .get('/_internal/admin/audit-log', { query: { action: 'project.status_changed', subject_id: project.id } })
  ).json().entries
  assert.deepEqual(entries[0].details, { from: 'approved', to: 'processing', undo: true })
  t.thaw()
})

test('an undo restores the message that the decision replaced, and ends after 5 minutes', async () => {
  t.freeze()
  const project = await submitted()
  await edit(project, { status: 'withheld', moderation_message: 'First' }, mira)
  t.advance(6 * MINUTE_MS)
  await announce()
  await edit(project, { status: 'rejected', moderation_message: 'Second' }, mira)
  await edit(project, { status: 'withheld' }, mira)
  const shown = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([shown.status, shown.moderator_message?.message], ['withheld', 'First'])
  await edit(project, { status: 'rejected' }, mira)
  t.advance(5 * MINUTE_MS)
  await edit(project, { status: 'withheld' }, mira)
  assert.deepEqual(await notifiedOf(project), ['withheld', 'rejected'], 'the later change makes it final')
  t.advance(5 * MINUTE_MS)
  await announce()
  assert.deepEqual(await notifiedOf(project), ['withheld', 'rejected', 'withheld'], 'and is another decision')
  t.thaw()
})

test('an undo after somebody changed the project is 409, and a message with the reverse is a decision', async () => {
  const project = await submitted()
  await edit(project, { status: 'approved' }, mira)
  const { seen } = await changes(project)
  await edit(project, { status: 'unlisted' }, owner)
  assert.deepEqual(await notifiedOf(project), ['approved'])
  const undo = await decide(project, { status: 'processing', seen })
  assertError(undo, 409, 'conflict', 'seen')
  assert.equal(undo.json().details.last.new_status, 'unlisted')
  await edit(project, { status: 'withheld' }, mira)
  await edit(project, { status: 'unlisted', moderation_message: 'You can stay' }, mira)
  assert.equal((await changes(project)).decision.to, 'unlisted')
})

test('a decision and its undo at the same time as its announcement leave one result', async () => {
  t.freeze()
  const project = await submitted()
  await edit(project, { status: 'rejected' }, mira)
  t.advance(5 * MINUTE_MS)
  await Promise.all([announce(), decide(project, { status: 'processing' })])
  assert.deepEqual(await notifiedOf(project), ['rejected'])
  t.thaw()
})

test('a message of a moderator marks the project until a member replies', async () => {
  const project = await submitted()
  assert.equal((await queued(project)).waits_for_reply, false)
  await write(project, mira, 'Which licence?')
  await write(project, mira, 'They are new here', true)
  assert.equal((await queued(project)).waits_for_reply, true)
  await write(project, owner, 'MIT')
  assert.equal((await queued(project)).waits_for_reply, false)
})

test('a report shows its item as it was', async () => {
  const project = await t.make.project({ owner, name: 'Free coins' })
  const version = await t.make.version({ project, version_number: '1.0.0' })
  const report = async (item_type: string, item_id: string): Promise<string> => {
    const body = { report_type: 'spam', item_type, item_id, body: 'Look' }
    return (await t.as(jon).post('/v3/report', body)).json().id
  }
  const [ofProject, ofVersion, ofUser] = [
    await report('project', project.id),
    await report('version', version.id),
    await report('user', owner.id),
  ]
  await edit(project, { name: 'Lantern' })
  const read = async (id: string) => (await t.as(mira).get(`/_internal/moderation/reports/${id}/changes`)).json()
  const changed = await read(ofProject)
  assert.deepEqual([changed.item_type, changed.known, changed.deleted], ['project', true, false])
  assert.ok(marks(changed, 'name')?.some((mark) => mark.startsWith('removed: Free')))
  assert.equal((await read(ofUser)).texts[0].parts[0].text, 'lamp-owner')
  assert.equal((await t.as(owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
  const deleted = await read(ofVersion)
  assert.deepEqual([deleted.known, deleted.deleted, deleted.versions.removed.length], [true, true, 1])
  const older = await conversationFactories(t.deps.db).report(jon, { item: owner })
  const unknown = await read(older.id)
  assert.deepEqual([unknown.known, unknown.deleted], [false, false])
  assertError(await t.as(owner).get(`/_internal/moderation/reports/${ofProject}/changes`), 403, 'unauthorized')
  assertError(await t.as(mira).get('/_internal/moderation/reports/Zzzzzzzz/changes'), 404, 'not_found')
})

test('a tag that operators rename or merge is not shown as a change', async () => {
  const project = await submitted()
  const patch = {
    categories: ['cursed', 'magic'],
    additional_categories: ['food'],
    link_urls: { wiki: 'https://w.example/' },
  }
  await edit(project, patch)
  await edit(project, { status: 'draft' })
  await edit(project, { status: 'processing' })
  const tags = (path: string, body: object) =>
    t.anyone.post(`/_internal/admin/tags/${path}`, body, { headers: { 'x-admin-key': ADMIN_KEY } })
  for (const [path, from, to] of [
    ['categories/merge', 'cursed', 'magic'],
    ['categories/rename', 'food', 'meals'],
    ['link_platforms/rename', 'wiki', 'handbook'],
    ['game_versions/merge', '1.20.1', '1.20'],
    ['loaders/merge', 'fabric', 'quilt'],
  ] as const)
    assert.equal((await tags(path, { from, to })).statusCode, 204, path)
  const { recent } = await changes(project)
  assert.deepEqual(
    recent.lists.map(({ field, added, removed }: Record<string, unknown>) => ({ field, added, removed })),
    ['categories', 'additional_categories', 'other_names'].map((field) => ({ field, added: [], removed: [] })),
  )
  const link = { platform: 'handbook', before: 'https://w.example/', after: 'https://w.example/', other_projects: null }
  assert.deepEqual(recent.links, [link])
  assert.deepEqual(recent.versions, { added: [], removed: [], changed: [], omitted: 0 })
  assert.deepEqual(recent.lists[0].same, ['magic'])
})
