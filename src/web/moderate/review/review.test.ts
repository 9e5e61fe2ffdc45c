// The review of a project: changes, decisions, races, undo, claims, saved replies, entries of archives.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { MINUTE_MS } from '#lib/time.ts'
import { ADMIN_KEY } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { queueApp } from '#test/support/factories/queue-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, type Visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '"><script>alert(1)</script>'
const QUEUE = '/moderation/queue'

const { t, mira, jon, owner, waiting, reviewOf, statusOf, as } = await queueApp()

/** Sends the form of the decision, which is not the first form of the page. */
const decide = (
  moderator: Visitor,
  page: LightMyRequestResponse,
  project: { id: string },
  fields: Record<string, string | string[]>,
) => {
  const [, form = ''] = page.body.split('class="stick scrolls decide"')
  const seen = /name="seen" value="([^"]*)"/.exec(form)?.[1] ?? ''
  const parts = (/name="parts" value="([^"]*)"/.exec(form)?.[1] ?? '').replaceAll('&quot;', '"')
  return moderator.sendFrom(page, reviewOf(project), { seen, parts, ...fields })
}
/** Sends the form of Undo. */
const undo = (moderator: Visitor, page: LightMyRequestResponse, project: { id: string }) => {
  const seen = /name="do" value="undo"><input type="hidden" name="seen" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  return moderator.sendFrom(page, reviewOf(project), { do: 'undo', seen })
}

test('the decider sees an appeal without the choice to reject it; another moderator rejects it in the form', async () => {
  const project = await waiting('Appealed lamp')
  await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'rejected' })
  const appeal = { body: `It is **mine** ${HOSTILE}` }
  assert.equal((await t.as(owner).post(`/v3/project/${project.id}/appeal`, appeal)).statusCode, 204)
  const own = await as(mira).get(reviewOf(project))
  assertSays(own, 200, 'another moderator decides')
  assert.ok(!own.body.includes('value="reject"') && !own.body.includes('value="claim"'))
  const jons = as(jon)
  const list = await jons.get(`${QUEUE}?review=appeal`)
  assertSays(list, 200, 'Appealed lamp')
  assertSays(list, 200, '<span class="badge">Appeal</span>')
  assertValidHtml(list.body)
  const page = await jons.get(reviewOf(project))
  assertSays(page, 200, 'It is <strong>mine</strong>')
  assertSays(page, 200, 'The decision stays, and the appeal is rejected')
  assertValidHtml(page.body)
  const blank = await decide(jons, page, project, { do: 'stay', decision: 'reject', message: '' })
  assertSays(blank, 400, 'must not be blank')
  const sent = await decide(jons, page, project, { do: 'stay', decision: 'reject', message: 'It is not.' })
  assertSays(
    await jons.get(assertLeads(sent, `${reviewOf(project)}?done=appeal-rejected`)),
    200,
    'The appeal is rejected',
  )
  assert.equal(await statusOf(project), 'rejected')
})

test('a review shows what has changed, and hostile texts do not break it', async () => {
  const project = await waiting('Resonance')
  await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'approved' })
  const edits = {
    summary: `Hears ores ${HOSTILE}`,
    description: `One.\n\nTwo.\n\nThree shows gold ${HOSTILE}`,
    link_urls: { source: 'https://git.example.org/resonance' },
    categories: ['utility'],
  }
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, edits)).statusCode, 204)
  const added = await t.make.version({ project, version_number: '2.0.0' })
  await t.make.file({ version: added, project, bytes: makeZip([{ name: 'natives/tone.dll', data: 'x' }]) })
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'draft' })
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'processing' })
  const page = await as(mira).get(reviewOf(project))
  assertSays(page, 200, 'Changes since the approval on')
  assertValidHtml(page.body)
  assert.ok(!page.body.includes(HOSTILE))
  for (const text of [
    '<ins>utility</ins>',
    'git.example.org',
    '2.0.0',
    'natives/tone.dll',
    'native code',
    'Repeated review',
  ])
    assertSays(page, 200, text)
})

test('a decision needs a choice and, unless it approves, a message; nothing typed is lost', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  assertSays(page, 200, 'First review')
  const none = await decide(moderator, page, project, { do: 'stay', message: `Typed ${HOSTILE}`, note: 'A note' })
  assertSays(none, 400, 'The decision must be chosen.')
  assertSays(none, 400, 'A note')
  assertValidHtml(none.body)
  const empty = await decide(moderator, page, project, { do: 'stay', decision: 'reject', note: 'A note' })
  assertSays(empty, 400, 'The message must not be blank.')
  assert.equal(await statusOf(project), 'processing')
  const sent = await decide(moderator, page, project, {
    do: 'stay',
    decision: 'reject',
    message: 'No licence',
    note: 'Second time',
  })
  const done = await moderator.get(assertLeads(sent, `${reviewOf(project)}?done=rejected`))
  assertSays(done, 200, 'Second time')
  assertSays(done, 200, 'The project is rejected.')
  const author = await as(owner).get(`/project/${project.id}/settings/review`)
  const pages = [done, author.statusCode === 200 ? author : await as(owner).get(String(author.headers.location))]
  for (const shown of pages) assert.match(shown.body, /<ol class="thread">[\s\S]*<div class="said">[\s\S]*No licence/)
  const shown = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([shown.status, shown.moderator_message.message], ['rejected', 'No licence'])
})

test('asking sends a message and keeps the project in the queue; a long message of a rejection is complete', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  assertLeads(
    await decide(moderator, page, project, { do: 'stay', decision: 'ask', message: 'Which licence?' }),
    `${reviewOf(project)}?done=asked`,
  )
  assertSays(await moderator.get(QUEUE), 200, 'Waiting for reply')
  const long = 'Word '.repeat(1000)
  const again = await moderator.get(reviewOf(project))
  assertLeads(
    await decide(moderator, again, project, { do: 'stay', decision: 'reject', message: long }),
    `${reviewOf(project)}?done=rejected`,
  )
  const { moderator_message: message } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.equal(message.body, long)
  assert.ok(message.message.length <= 2000)
})

test('after "Send and next" the next project opens, and the decision can be undone there', async () => {
  const [first, second] = [await waiting('First'), await waiting('Second')]
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(first))
  const sent = await decide(moderator, page, first, { do: 'next', decision: 'approve' })
  const path = assertLeads(sent, `${reviewOf(second)}?done=approved&was=${first.id}`)
  const next = await moderator.get(path)
  assertSays(next, 200, 'First</bdi> is now “Public”')
  assertValidHtml(next.body)
  const undone = await undo(moderator, next, first)
  assertSays(await moderator.get(assertLeads(undone, `${reviewOf(first)}?done=undone`)), 200, 'Nobody was notified.')
  assert.equal(await statusOf(first), 'processing')
  assertSays(await moderator.get(reviewOf(first)), 200, 'You are reviewing this project.')
  assertSays(await undo(moderator, next, first), 409, 'can no longer be undone')
})

test('undo fills the form with the choice and the message', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const message = `Please name the licence.\n${'x'.repeat(2000)}`
  const page = await moderator.get(reviewOf(project))
  const sent = await decide(moderator, page, project, { do: 'stay', decision: 'reject', message })
  const rejected = await moderator.get(String(sent.headers.location))
  const undone = await undo(moderator, rejected, project)
  const path = String(undone.headers.location)
  const restored = await moderator.get(path)
  assertSays(restored, 200, message)
  assert.match(restored.body, /value="reject" checked/)
  assertSays(restored, 200, 'Nobody was notified.')
  assert.ok(!restored.body.includes('session had expired'))
  assertLeads(
    await decide(moderator, restored, project, { do: 'stay', decision: 'reject', message }),
    `${reviewOf(project)}?done=rejected`,
  )
})

test('the last decision leads to the queue, which offers to undo it for 5 minutes', async () => {
  t.freeze()
  const project = await waiting('Alone')
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  const path = assertLeads(
    await decide(moderator, page, project, { do: 'next', decision: 'approve' }),
    `${QUEUE}?done=approved&was=${project.id}`,
  )
  assertSays(await moderator.get(path), 200, 'Alone</bdi> is now')
  t.advance(5 * MINUTE_MS)
  assert.ok(!(await moderator.get(path)).body.includes('Alone</bdi> is now'))
  t.thaw()
})

test('of two moderators who decide, the second sees the first decision, keeps the text and can decide anyway', async () => {
  const project = await waiting()
  const [first, second] = [as(mira), as(jon)]
  const [mine, theirs] = [await first.get(reviewOf(project)), await second.get(reviewOf(project))]
  const answer = { do: 'stay', decision: 'withhold', message: 'Name the licence' }
  assertLeads(await decide(first, mine, project, answer), `${reviewOf(project)}?done=withheld`)
  const refused = await decide(second, theirs, project, { do: 'stay', decision: 'approve', message: 'My text' })
  assertSays(refused, 409, 'mira</bdi> changed the status to “Withheld by a moderator”')
  for (const text of ['Name the licence', 'My text', 'Decide anyway']) assertSays(refused, 409, text)
  assertValidHtml(refused.body)
  assert.equal(await statusOf(project), 'withheld')
  // Another error does not accept the event that the moderator has not seen.
  const unchosen = await decide(second, theirs, project, { do: 'stay', message: 'My text' })
  assertSays(await decide(second, unchosen, project, { do: 'stay', decision: 'approve' }), 409, 'mira')
  assertLeads(
    await decide(second, refused, project, { do: 'stay', decision: 'approve' }),
    `${reviewOf(project)}?done=approved`,
  )
  assert.equal(await statusOf(project), 'approved')
})

test('a project that has changed since the page was opened is not decided: the page names the changes and keeps the text', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  for (const text of ['New project', '1.0.0', 'A project for a test.']) assertSays(page, 200, text)
  await t.as(owner).patch(`/v3/project/${project.id}`, { description: 'Later text', license_id: 'MIT' })
  await t.make.version({ project, version_number: '1.1.0-later' })
  const fields = { do: 'stay', decision: 'reject', message: 'My reasons' }
  const refused = await decide(moderator, page, project, fields)
  assertSays(refused, 409, 'Changed since you opened this page')
  for (const part of ['Description', 'Licence', 'Version 1.1.0-later', 'My reasons', 'Decide anyway'])
    assertSays(refused, 409, part)
  assert.ok(!/Changed since you opened this page[^<]*<[^.]*Summary/.test(refused.body))
  assert.equal(await statusOf(project), 'processing')
  assertLeads(await decide(moderator, refused, project, fields), `${reviewOf(project)}?done=rejected`)
})

test('only a scanner that passed the files makes a project "Passed"; a quarantined version does not wait', async () => {
  const [passed, held] = [await waiting('All passed'), await waiting('Held back')]
  const scan = { next_attempt: new Date(), requested: new Date() }
  for (const [project, state] of [
    [passed, 'pass'],
    [held, 'quarantine'],
  ] as const) {
    const [version] = await t.deps.db.selectFrom('version').select('id').where('project_id', '=', project.id).execute()
    await t.deps.db
      .insertInto('version_scan')
      .values({ ...scan, version_id: version?.id ?? '', state })
      .execute()
    if (state === 'pass') continue
    await t.deps.db
      .updateTable('version')
      .set({ status: 'unknown', requested_status: 'listed' })
      .where('id', '=', version?.id ?? '')
      .execute()
  }
  assertSays(await as(mira).get(`${QUEUE}?query=All+passed`), 200, 'Passed')
  assertSays(await as(mira).get(`${QUEUE}?query=Held+back`), 200, 'Quarantined')
  assertSays(await as(mira).get(reviewOf(held)), 200, 'Held back by the scanner')
})

test('a project that its author made a draft again has no form for a decision', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'draft' })).statusCode, 204)
  const refused = await decide(moderator, page, project, { do: 'stay', decision: 'approve' })
  assertSays(refused, 409, 'is a draft')
  assert.ok(!refused.body.includes('name="decision"'))
  assertSays(await moderator.get(reviewOf(project)), 200, 'This project is a draft')
  assert.equal(await statusOf(project), 'draft')
})

test('the text of a decision on a draft is shown, and is in the form again after the next submission', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'draft' })
  const fields = { do: 'stay', decision: 'reject', message: 'My reasons', note: 'My note' }
  const refused = await decide(moderator, page, project, fields)
  assertValidHtml(refused.body)
  const again = (from: LightMyRequestResponse) =>
    moderator.sendFrom(from, reviewOf(project), { ...fields, do: 'insert' })
  const still = await again(refused)
  for (const [shown, status] of [
    [refused, 409],
    [still, 200],
  ] as const) {
    assertSays(shown, status, /<textarea[^>]* readonly[^>]*>\nMy reasons</)
    assertSays(shown, status, /<textarea[^>]* readonly[^>]*>\nMy note</)
    assertSays(shown, status, '<input type="hidden" name="decision" value="reject">')
  }
  await t.deps.db.updateTable('project').set({ status: 'processing' }).where('id', '=', project.id).execute()
  await t.deps.cache.clear()
  const submittedAgain = await again(still)
  assertSays(submittedAgain, 200, /value="reject" checked/)
  assertSays(submittedAgain, 200, 'My note')
  assertLeads(await decide(moderator, submittedAgain, project, fields), `${reviewOf(project)}?done=rejected`)
})

test('a refused decision names an event only if it is later than the state that the moderator saw', async () => {
  const project = await waiting()
  const { thread_id } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  const body = { type: 'text', body: 'An old message' }
  assert.equal((await t.as(owner).post(`/v3/thread/${thread_id}`, { body })).statusCode, 204)
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  await t.as(owner).patch(`/v3/project/${project.id}`, { summary: 'Another summary' })
  const fields = { do: 'stay', decision: 'reject', message: 'My reasons' }
  const refused = await decide(moderator, page, project, fields)
  assertSays(refused, 409, 'The project has changed since you opened it')
  assertSays(refused, 409, 'Summary')
  assert.ok(!/wrote a message|changed the status/.test(refused.body))
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'draft' })
  const drafted = await decide(moderator, refused, project, { ...fields, do: 'insert' })
  assertSays(drafted, 200, 'My reasons')
  await t.deps.db.updateTable('project').set({ status: 'withheld' }).where('id', '=', project.id).execute()
  const hidden = await decide(moderator, refused, project, fields)
  assertSays(hidden, 409, 'changed the status to')
  assert.ok(!/from \w+ to \w+ since/.test(hidden.body))
})

test('a first review shows changelogs, dependencies, texts of images and manifests that cannot be parsed', async () => {
  const project = await waiting()
  const library = await t.make.project({ name: 'Shared library' })
  const version = await t.make.version({ project, version_number: '2.0.0', changelog: `New **lamps** ${HOSTILE}` })
  const file = await t.make.file({ version, project, bytes: makeZip([{ name: 'fabric.mod.json', data: '{' }]) })
  const { db } = t.deps
  const manifest = { file_id: file.id, entry: 'fabric.mod.json', content: JSON.stringify({ isUnreadable: true }) }
  await db.insertInto('file_manifest').values(manifest).execute()
  const needs = { dependent_id: version.id, dependency_type: 'required', project_id: library.id } as const
  await db.insertInto('dependency').values(needs).execute()
  const image = { id: 'img00001', project_id: project.id, url: 'data/x/a.webp', raw_url: 'data/x/a.png' }
  const texts = { name: 'Cave', description: 'Download more at evil.example', content_sha1: '0'.repeat(40) }
  await db
    .insertInto('gallery_item')
    .values({ ...image, ...texts })
    .execute()
  const draft = { project_id: project.id, status: 'draft', file_parts: [], dependencies: [], featured: false }
  assert.equal((await t.as(owner).post('/v3/version', draft)).statusCode, 201)
  const page = await as(mira).get(reviewOf(project))
  assertValidHtml(page.body)
  assert.ok(!page.body.includes(HOSTILE))
  for (const text of ['<strong>lamps</strong>', '2 new versions', 'evil.example', 'Cave']) assertSays(page, 200, text)
  assertSays(page, 200, /Shared library<\/bdi><\/a> <span class="soft">Required/)
  assertSays(page, 200, 'The manifest fabric.mod.json in test.jar cannot be parsed.')
})

test('an undo after the owner changed the project is refused with the reason', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  await decide(moderator, page, project, { do: 'stay', decision: 'approve' })
  const after = await moderator.get(reviewOf(project))
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'unlisted' })
  assertSays(await undo(moderator, after, project), 409, 'can no longer be undone')
  assert.equal(await statusOf(project), 'unlisted')
})

test('claims are made, extended and released on the page; that of another moderator is shown with the name', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  assertSays(page, 200, 'Nobody is reviewing this project.')
  const path = reviewOf(project)
  assertLeads(await moderator.sendFrom(page, path, { do: 'claim' }), `${path}?done=claimed-one`)
  assertSays(await moderator.get(path), 200, /Your claim ends in \d+ minutes/)
  assertSays(await as(jon).get(path), 200, 'mira</bdi> is reviewing this project')
  const other = as(jon)
  assertSays(await other.sendFrom(await other.get(path), path, { do: 'claim' }), 409, 'mira is reviewing')
  await t.deps.db
    .updateTable('moderation_claim')
    .set({ until: new Date(0) })
    .execute()
  const typed = await decide(moderator, page, project, { do: 'stay', message: 'Typed' })
  assertSays(typed, 400, 'Your claim has expired.')
  assertSays(typed, 400, 'Typed')
  assertSays(await moderator.get(path), 200, 'Your claim has expired.')
  assertLeads(await other.sendFrom(await other.get(path), path, { do: 'claim' }), `${path}?done=claimed-one`)
  assertSays(await moderator.get(path), 200, 'jon</bdi> is reviewing this project')
  // Another moderator's claim does not forbid the decision.
  assertLeads(await decide(moderator, page, project, { do: 'stay', decision: 'approve' }), `${path}?done=approved`)
})

test('saved replies are inserted with their values, and stay editable', async () => {
  const project = await waiting('Resonance')
  const reply = {
    topic: 'files',
    language: 'en',
    title: `Native ${HOSTILE}`,
    body: '{project} {version}: add sources {x}',
  }
  const created = await t.as(mira).post('/_internal/moderation/replies', reply)
  assert.equal(created.statusCode, 201, created.body)
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  const inserted = await decide(moderator, page, project, {
    do: 'insert',
    decision: 'ask',
    message: 'Thanks.',
    replies: [created.json().id],
  })
  assertSays(inserted, 200, /Thanks\.\n\nResonance 1\.0\.0: add sources \{x\}/)
  assertValidHtml(inserted.body)
  assert.equal(await statusOf(project), 'processing')
})

test('a reply links to the project and to the rules, in its language, and names the rules without a page', async () => {
  const project = await waiting('Rulebound')
  const reply = { topic: 'rules', language: 'de', title: 'Regeln', body: '{link} – {rule}' }
  const { id } = (await t.as(mira).post('/_internal/moderation/replies', reply)).json()
  const moderator = as(mira)
  const insert = async () => {
    const page = await moderator.get(reviewOf(project))
    return decide(moderator, page, project, { do: 'insert', decision: 'ask', message: '', replies: [id] })
  }
  const { slug } = (await t.as(mira).get(`/v3/project/${project.id}`)).json()
  assertSays(await insert(), 200, new RegExp(`>\\s*http[^ ]*/mod/${slug} – die Regeln<`))
  const settings = (rules: string | null) =>
    t.anyone.patch('/_internal/admin/settings', { rules }, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.ok((await settings('1. Be kind')).statusCode < 300)
  const linked = await insert()
  assertSays(linked, 200, /– \[die Regeln\]\(http[^ ]*\/rules\)</)
  assertValidHtml(linked.body)
  assert.ok((await settings(null)).statusCode < 300)
})

test('replies in the language of the owner come first, and the page names the language', async () => {
  const project = await waiting('Multilingual')
  const make = async (language: string, title: string) =>
    t.as(mira).post('/_internal/moderation/replies', { topic: 'files', language, title, body: title })
  await make('en', 'Add the sources')
  await make('de', 'Lade die Quellen hoch')
  const order = async () => {
    const { body } = await as(mira).get(reviewOf(project))
    assertValidHtml(body)
    const isBefore = body.indexOf('Lade die Quellen hoch') < body.indexOf('Add the sources')
    return [isBefore, /Language: \w+/.exec(body)?.[0]]
  }
  assert.deepEqual(await order(), [false, undefined])
  await t.as(owner).patch(`/v3/user/${owner.id}`, { language: 'de' })
  assert.deepEqual(await order(), [true, 'Language: Deutsch'])
  const { owner_record: record } = (await t.as(mira).get('/_internal/moderation/projects'))
    .json()
    .projects.find(({ id }: { id: string }) => id === project.id)
  assert.equal(record.language, 'de')
})

test('entries of an archive are filtered, and hostile names are shown without effect', async () => {
  const project = await waiting()
  const old = await t.make.version({ project, version_number: '1.1.0' })
  const now = await t.make.version({ project, version_number: '1.2.0' })
  await t.make.file({ version: old, project, bytes: makeZip([{ name: 'a.txt', data: 'old' }]) })
  const names = ['a\u202Egnp.exe', HOSTILE, 'run.sh', 'a.txt']
  const zip = makeZip(names.map((name) => ({ name, data: `${name}\u0007${HOSTILE}` })))
  const file = await t.make.file({ version: now, project, bytes: zip, filename: 'new.jar' })
  const moderator = as(mira)
  const path = `${reviewOf(project)}/files?version=${now.id}`
  const page = await moderator.get(`${path}&against=${old.id}`)
  assertSays(page, 200, 'Entries of 1.2.0, compared with 1.1.0')
  assertValidHtml(page.body)
  assert.ok(!page.body.includes('\u202E') && !page.body.includes(HOSTILE))
  assertSays(page, 200, 'a⟨U+202E⟩gnp.exe')
  const scripts = await moderator.get(`${path}&label=script&state=added&query=RUN&file=${file.id}`)
  assert.equal(scripts.body.match(/class="hot"/g)?.length, 1)
  const entry = await moderator.get(
    `${reviewOf(project)}/files/entry?version=${now.id}&file=${file.id}&path=${encodeURIComponent('a\u202Egnp.exe')}`,
  )
  assertSays(entry, 200, '⟨U+0007⟩')
  assertValidHtml(entry.body)
  assert.ok(!entry.body.includes(HOSTILE) && !entry.body.includes('\u202E'))
  const other = await t.make.project()
  const elsewhere = await t.make.version({ project: other })
  for (const query of [`version=${elsewhere.id}`, 'version=Zzzzzzzz', `version=${now.id}&against=${elsewhere.id}`, ''])
    assertSays(await moderator.get(`${reviewOf(project)}/files?${query}`), 404, 'does not exist')
})

test('read-only mode shows the page again with everything that was entered', async () => {
  const project = await waiting()
  const moderator = as(mira)
  const page = await moderator.get(reviewOf(project))
  const admin = t.as(await t.make.account({ role: 'admin' }))
  await admin.patch('/_internal/admin/settings', { read_only: true, read_only_message: 'Back at noon' })
  const refused = await decide(moderator, page, project, { do: 'stay', decision: 'approve', message: 'Kept' })
  await admin.patch('/_internal/admin/settings', { read_only: null, read_only_message: null })
  assertSays(refused, 503, 'Kept')
  assertSays(refused, 503, 'Back at noon')
})
