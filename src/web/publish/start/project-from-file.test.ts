// A project that begins with a file: the proposals of its manifests, and files that are refused.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip, type TestEntry } from '#test/support/factories/archives.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { sendForm } from '#test/support/http/send-form.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true', MAX_PROJECTS: '100' } })
after(() => t.close())
const person = await t.make.account()

const PAGE = '/new/project'
const PATH = '/new/project/file'
const png = (size: number) =>
  sharp({ create: { width: size, height: size, channels: 3, background: '#c06020' } })
    .png()
    .toBuffer()
const fabric = (mod: object = {}): TestEntry => ({
  name: 'fabric.mod.json',
  data: JSON.stringify({ id: 'lantern', name: 'Brass Lantern', version: '1.0.0', ...mod }),
})

type Sent = { filename?: string; fields?: Record<string, string>; who?: { token: string } }

/** Sends a file with the form, as a browser without scripts does. */
async function send(content: readonly TestEntry[] | Buffer, { filename, fields = {}, who = person }: Sent = {}) {
  const browser = visitor(t, who.token)
  const page = await browser.get(PAGE)
  const bytes = Buffer.isBuffer(content) ? content : makeZip(content)
  const file = filename === undefined ? { name: 'files', bytes } : { name: 'files', bytes, filename }
  return sendForm(t, browser, PATH, { ...hiddenFields(page, PATH), ...fields }, [file])
}
const projectOf = async (slug: string) => (await t.as(person).get(`/v3/project/${slug}`)).json()
const countRows = async () => {
  const { db } = t.deps
  const [projects, files] = await Promise.all([
    db.selectFrom('project').select('id').execute(),
    db.selectFrom('file').select('id').execute(),
  ])
  return [projects.length, files.length]
}
/** Checks that the page shows the file as refused, and that neither a project nor a file exists. */
async function assertRefused(send: () => Promise<Awaited<ReturnType<typeof sendForm>>>, status: number, text: string) {
  const before = await countRows()
  const refused = await send()
  assertSays(refused, status, text)
  assertValidHtml(refused.body)
  assert.deepEqual(await countRows(), before)
}

test('the manifest fills the fields, and the first version is a draft with the file', async () => {
  const mod = fabric({
    description: 'Lanterns of brass.',
    license: 'MIT',
    icon: 'assets/icon.png',
    contact: {
      homepage: 'https://lantern.example',
      sources: 'https://code.example/lantern',
      issues: 'http://code.example/insecure',
      discord: 'javascript:alert(1)',
    },
  })
  const sent = await send([mod, { name: 'assets/icon.png', data: await png(64) }])
  const path = assertLeads(sent, '/mod/brass-lantern/settings?done=from-file')
  const page = await visitor(t, person.token).get(path)
  assertSays(page, 200, 'The draft was created from lantern.jar. Filled in: Name, Summary, Licence, Links, Icon.')
  assertSays(page, 200, 'Continue with the first version')
  assert.ok(!page.body.includes('does not contain'))
  assertValidHtml(page.body)
  const made = await projectOf('brass-lantern')
  assert.deepEqual(
    [made.name, made.summary, made.status, made.license.id, made.license_decided, made.project_types],
    ['Brass Lantern', 'Lanterns of brass.', 'draft', 'MIT', true, ['mod']],
  )
  assert.deepEqual(
    Object.values<{ platform: string; url: string }>(made.link_urls).map(({ platform, url }) => [platform, url]),
    [
      ['site', 'https://lantern.example'],
      ['source', 'https://code.example/lantern'],
    ],
  )
  assert.match(made.icon_url, /\/data\//)
  const [version] = await t.deps.db.selectFrom('version').selectAll().where('project_id', '=', made.id).execute()
  assert.deepEqual([version?.status, version?.is_new_draft], ['draft', true])
  assert.ok(version?.draft_expires)
  // The upload page continues with the draft.
  const upload = /href="([^"]*versions\/new\?draft=[^"]*)"/.exec(page.body)?.[1] ?? ''
  assertSays(await visitor(t, person.token).get(upload), 200, 'lantern.jar')
  // Everything stays editable, also the summary.
  assert.equal((await t.as(person).patch(`/v3/project/${made.id}`, { summary: 'Other words.' })).statusCode, 204)
})

test('without a manifest, the name is that of the file, and the notice names what is missing', async () => {
  const sent = await send([{ name: 'shaders/final.fsh', data: '' }], { filename: 'Dusk_Light-v1.2+mc1.21.zip' })
  const path = assertLeads(sent, '/shader/dusk-light/settings?done=from-file')
  const page = await visitor(t, person.token).get(path)
  assertSays(page, 200, 'Filled in: Name. The file does not contain: Summary, Licence, Links, Icon.')
  assertSays(page, 200, 'Before you can submit this project, complete: Summary')
  const made = await projectOf('dusk-light')
  assert.deepEqual([made.name, made.summary, made.license_decided, made.icon_url], ['Dusk Light', '', false, null])
  const saved = await t.as(person).patch(`/v3/project/${made.id}`, { description: 'Only this.' })
  assert.equal(saved.statusCode, 204, saved.body)
})

test('the slug of another project is never taken', async () => {
  await t.make.project({ name: 'Copper Lantern', slug: 'copper-lantern' })
  assertLeads(
    await send([fabric({ name: 'Copper Lantern', salt: 'slug' })]),
    '/mod/copper-lantern-2/settings?done=from-file',
  )
})

test('files with the same name at the same time get different slugs, or must be sent again', async () => {
  const answers = await Promise.all([1, 2, 3, 4].map((salt) => send([fabric({ name: 'Twin lantern', salt })])))
  const created = answers.filter(({ statusCode }) => statusCode === 303)
  for (const answer of answers)
    if (answer.statusCode !== 303) assertSays(answer, 400, 'created at the same moment. Choose the file again.')
  const { db } = t.deps
  const made = await db.selectFrom('project').select('id').where('name', '=', 'Twin lantern').execute()
  const files = await db
    .selectFrom('version')
    .innerJoin('file', 'file.version_id', 'version.id')
    .select('file.id')
    .where(
      'version.project_id',
      'in',
      made.map(({ id }) => id),
    )
    .execute()
  assert.ok(created.length > 0)
  assert.deepEqual([made.length, files.length], [created.length, created.length])
})

test('licences: only those that SPDX lists, or all rights reserved', async () => {
  const licences = [
    ['Apache-2.0 OR MIT', 'Apache-2.0 OR MIT', true],
    ['All rights reserved', 'LicenseRef-All-Rights-Reserved', true],
    ['Free for all', 'LicenseRef-All-Rights-Reserved', false],
    ['LicenseRef-Mine', 'LicenseRef-All-Rights-Reserved', false],
    ['GPL-3.0', 'LicenseRef-All-Rights-Reserved', false],
  ] as const
  for (const [index, [license, id, isDecided]] of licences.entries()) {
    assertLeads(
      await send([fabric({ name: `Licence ${index}`, license })]),
      `/mod/licence-${index}/settings?done=from-file`,
    )
    const made = await projectOf(`licence-${index}`)
    assert.deepEqual([made.license.id, made.license_decided], [id, isDecided], license)
  }
})

test('icons: valid ones are set, and others are no reason to fail', async () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><script>alert(1)</script><rect width="8" height="8" fill="red"/></svg>'
  const noise = Buffer.alloc(300_000, 7)
  const icons = [
    ['svg', [{ name: 'icon.svg', data: svg }], { icon: 'icon.svg' }, true],
    ['fallback', [{ name: 'pack.png', data: await png(32) }], { icon: 'absent.png' }, true],
    ['missing', [], { icon: 'absent.png' }, false],
    ['outside', [], { icon: '../../etc/passwd' }, false],
    ['huge', [{ name: 'icon.png', data: noise }], { icon: 'icon.png' }, false],
    ['broken', [{ name: 'icon.png', data: 'not a png' }], { icon: 'icon.png' }, false],
    ['type', [{ name: 'icon.exe', data: await png(8) }], { icon: 'icon.exe' }, false],
  ] as const
  for (const [name, entries, mod, hasIcon] of icons) {
    const sent = await send([fabric({ name: `Icon ${name}`, ...mod }), ...entries])
    assertLeads(sent, `/mod/icon-${name}/settings?done=from-file`)
    assert.equal((await projectOf(`icon-${name}`)).icon_url !== null, hasIcon, name)
  }
})

test('hostile texts are shown as texts', async () => {
  const hostile = '"><script>alert(1)</script>'
  const mod = fabric({ name: `Evil ${hostile}`, description: `Words ${hostile}`, license: hostile })
  const refused = await send([mod], { filename: '<b>evil.jar' })
  assertSays(refused, 400, '<b>evil.jar: The file name')
  assert.ok(!refused.body.includes('<b>evil'))
  assertValidHtml(refused.body)
  const sent = await send([mod])
  assert.equal(sent.statusCode, 303)
  const page = await visitor(t, person.token).get(String(sent.headers.location))
  assert.equal(page.statusCode, 200)
  assert.ok(!page.body.includes('<script>alert'))
  assertValidHtml(page.body)
  for (const data of ['{', '[]', '{"id":7}', `{"id":"a","name":${'['.repeat(5000)}`, '\ufeff'])
    assert.equal((await send([{ name: 'fabric.mod.json', data }], { filename: 'Odd manifest.jar' })).statusCode, 303)
})

test('files that are refused leave nothing behind', async () => {
  await assertRefused(() => send(Buffer.from('not a zip')), 400, 'not a zip archive')
  await assertRefused(() => send([fabric({ salt: 1 })], { filename: 'setup.exe' }), 400, 'setup.exe')
  await assertRefused(
    () => send([{ name: '../evil', data: 'x' }], { filename: 'Escaping file.zip' }),
    400,
    'does not stay inside the archive',
  )
  await assertRefused(() => send([{ name: 'a', data: 'x' }], { filename: 'x.zip' }), 400, 'no usable name in x.zip')
  await assertRefused(
    () => send([{ name: 'a', data: 'y' }], { filename: `${'x'.repeat(70)}.zip` }),
    400,
    'Rename the file',
  )
  const browser = visitor(t, person.token)
  const fields = hiddenFields(await browser.get(PAGE), PATH)
  await assertRefused(() => sendForm(t, browser, PATH, fields, []), 400, 'Choose a file first.')
  const two = [1, 2].map((salt) => ({ name: 'files', bytes: makeZip([fabric({ salt })]) }))
  await assertRefused(() => sendForm(t, browser, PATH, fields, two), 400, 'Choose only one file.')
  await assertRefused(() => sendForm(t, browser, PATH, { _csrf: 'forged' }, two.slice(0, 1)), 403, '')
})

test('a file of another project is refused with the name of the project', async () => {
  const bytes = makeZip([fabric({ name: 'Public lamp', salt: 'public' })])
  const owned = await t.make.project({ name: 'Street lamp', slug: 'street-lamp' })
  const form = new FormData()
  form.append('data', JSON.stringify({ project_id: owned.id, status: 'draft', file_parts: ['file'] }))
  form.append('file', new Blob([Uint8Array.from(bytes)]), 'lamp.jar')
  const answer = new Response(form)
  const uploaded = await t
    .as(owned.owner)
    .post('/v3/version', Buffer.from(await answer.arrayBuffer()), {
      headers: { 'content-type': answer.headers.get('content-type') ?? '' },
    })
  assert.equal(uploaded.statusCode, 201, uploaded.body)
  await t.deps.db
    .updateTable('version')
    .set({ status: 'listed', is_new_draft: false, version_number: '1', loaders: ['fabric'] })
    .where('id', '=', uploaded.json().id)
    .execute()
  t.deps.cache.clear()
  await assertRefused(() => send(bytes), 400, 'Street lamp')
})

test('content that moderators have blocked is refused', async () => {
  const bytes = makeZip([fabric({ name: 'Blocked lamp', salt: 'blocked' })])
  const project = await t.make.project()
  const version = await t.make.version({ project })
  const { sha512 } = await t.make.file({ version, project, bytes, filename: 'lamp.jar' })
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const body = { kind: 'file', id: sha512, visibility: 'withheld', reason: 'malicious' }
  const done = await moderator.post('/_internal/moderation/takedown', body)
  assert.equal(done.statusCode, 200, done.body)
  await t.deps.db.updateTable('project').set({ status: 'rejected' }).where('id', '=', project.id).execute()
  t.deps.cache.clear()
  await assertRefused(() => send(bytes), 400, 'The moderators of this instance blocked the file lantern.jar')
})

test('users who may not create projects see why, and their file is not stored', async () => {
  const left = await t.make.account()
  const browser = visitor(t, left.token)
  const fields = hiddenFields(await browser.get(PAGE), PATH)
  await t.deps.db.deleteFrom('session').where('account_id', '=', left.id).execute()
  t.deps.cache.clear()
  const before = await countRows()
  const answer = await sendForm(t, browser, PATH, fields, [{ name: 'files', bytes: makeZip([fabric()]) }])
  assert.match(String(answer.headers.location), /^\/account\/sign-in/)
  assert.deepEqual(await countRows(), before)
  const unverified = await t.make.account({ email_verified: false })
  await assertRefused(() => send([fabric({ salt: 'u' })], { who: unverified }), 403, 'erif')
  const waiting = await t.make.account()
  const opened = visitor(t, waiting.token)
  const token = hiddenFields(await opened.get(PAGE), PATH)
  await t.deps.db.updateTable('account').set({ awaits_approval: true }).where('id', '=', waiting.id).execute()
  t.deps.cache.clear()
  const file = { name: 'files', bytes: makeZip([fabric({ salt: 'w' })]) }
  await assertRefused(() => sendForm(t, opened, PATH, token, [file]), 403, 'approv')
  const full = await t.make.account()
  await t.deps.db.insertInto('quota_override').values({ account_id: full.id, projects: 0 }).execute()
  await assertRefused(() => send([fabric({ salt: 'f' })], { who: full }), 400, 'limit')
})

test('in read-only mode, the page shows the message of the operator, and no file is stored', async () => {
  const admin = t.as(await t.make.account({ role: 'admin' }))
  await admin.patch('/_internal/admin/settings', { read_only: true, read_only_message: 'Back at noon' })
  try {
    await assertRefused(() => send([fabric({ salt: 'r' })]), 503, 'Back at noon')
  } finally {
    await admin.patch('/_internal/admin/settings', { read_only: false })
  }
})

test('an organization can own the project if the member may add projects', async () => {
  const make = teamFactories(t.deps.db)
  const organization = await make.organization(person)
  const other = await make.organization(await t.make.account())
  assertLeads(
    await send([fabric({ name: 'Owned lantern' })], { fields: { owner: organization.id } }),
    '/mod/owned-lantern/settings?done=from-file',
  )
  assert.equal((await projectOf('owned-lantern')).organization, organization.id)
  await assertRefused(() => send([fabric({ salt: 'o' })], { fields: { owner: other.id } }), 403, 'Add projects')
  await assertRefused(() => send([fabric({ salt: 'p' })], { fields: { owner: 'nonsense!' } }), 400, 'The owner')
})

test('the URL of the form leads back to its page', async () => {
  assertLeads(await visitor(t, person.token).get(PATH), PAGE)
})
