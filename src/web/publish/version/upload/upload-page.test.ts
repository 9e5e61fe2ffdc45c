// Uploading a version without scripts: one form with files and fields, and a draft that survives errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeZip } from '#test/support/factories/archives.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { COMPLETE, draftPath, jar, PAGE, uploadPage } from '#test/support/http/upload-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const { t, owner, project, person, send, versions } = await uploadPage()

test('a byte order mark at the start of a text is not part of it', async () => {
  const page = await person.get(PAGE)
  const path = draftPath(await send(page, PAGE, { do: 'save', changelog: '\uFEFF# Brighter' }))
  const id = new URL(path, 'https://depot.test').searchParams.get('draft')
  assert.equal((await t.as(owner).get(`/v3/version/${id}`)).json().changelog, '# Brighter')
  assert.equal((await t.as(owner).delete(`/v3/version/${id}`)).statusCode, 204)
})

test('the page warns if another version stays the latest one', async () => {
  const [first] = await versions()
  const set = (ordering: number | null) => t.as(owner).patch(`/v3/version/${first?.id}`, { ordering })
  assert.doesNotMatch((await person.get(PAGE)).body, /stays the latest version/)
  assert.equal((await set(1)).statusCode, 204)
  assertSays(
    await person.get(PAGE),
    200,
    'Version 1.0.0 stays the latest version after you publish this version, because its position in the list was set',
  )
  assert.equal((await set(null)).statusCode, 204)
})

test('where the highest number is the newest, the page compares with it, by the number that the form shows', async () => {
  const order = (version_order: string) => t.as(owner).patch(`/v3/project/${project.id}`, { version_order })
  assert.equal((await order('number')).statusCode, 204)
  await t.make.version({ project, version_number: '15.0.1', name: 'Lantern 15.0.1', date_published: new Date(0) })
  const higher = /stays the latest version after you publish this version, because its number is higher/
  const empty = await person.get(PAGE)
  assertSays(empty, 200, 'Compared with 15.0.1')
  assert.doesNotMatch(empty.body, higher)
  const upload = async (number: string) => {
    const files = [{ name: 'files', bytes: jar(number) }]
    return draftPath(await send(await person.get(PAGE), PAGE, { do: 'upload' }, files))
  }
  const [newer, older] = [await upload('15.2.0'), await upload('14.0.0')]
  assert.doesNotMatch((await person.get(newer)).body, higher)
  assert.match((await person.get(older)).body, higher)
  for (const path of [newer, older]) await send(await person.get(path), path, { do: 'discard' })
  const [first] = (await versions()).filter(({ version_number }) => version_number === '15.0.1')
  assert.equal((await t.as(owner).delete(`/v3/version/${first?.id}`)).statusCode, 204)
  assert.equal((await order('date')).statusCode, 204)
})

test('a complete draft leads back to the upload page, with the dependency that its file declares', async () => {
  const manifest = { id: 'lantern', version: '5.0.0', depends: { minecraft: '1.20.1', ae2: '*' } }
  const bytes = makeZip([{ name: 'fabric.mod.json', data: JSON.stringify(manifest) }])
  const path = draftPath(await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes }]))
  const id = new URL(path, 'https://depot.test').searchParams.get('draft')
  const complete = { version_number: '5.0.0', name: 'Five', loaders: ['fabric'], game_versions: ['1.20.1'] }
  assert.equal((await t.as(owner).patch(`/v3/version/${id}`, complete)).statusCode, 204)
  const row = { dep_declared: 'ae2', dep_project: '', dep_file: '', dep_type: 'required', dep_version: '' }
  const refused = await send(await person.get(path), path, { ...COMPLETE, ...row, do: 'publish' })
  assertSays(refused, 400, 'ae2: no project has this ID')
  const list = await person.get('/mod/lantern/settings/versions')
  assert.ok(list.body.includes(`href="${path}"`), 'no link to the draft')
  assert.ok(!list.body.includes(`/version/${id}/edit`))
  assertLeads(await person.get(`/mod/lantern/version/${id}/edit`), path)
  const shown = await person.get(path)
  assertSays(shown, 200, 'ae2')
  assertSays(shown, 200, 'No project has this ID')
  await send(shown, path, { do: 'discard' })
})

test('Save draft keeps the files and returns the proposals, and Publish publishes them', async () => {
  const page = await person.get(PAGE)
  assertSays(page, 200, 'New version of Lantern')
  assertValidHtml(page.body)
  const saved = await send(page, PAGE, { do: 'save' }, [{ name: 'files', bytes: jar('2.0.0') }])
  const path = draftPath(saved)
  assert.match(path, /\?draft=/)
  const filled = await person.get(path)
  assertValidHtml(filled.body)
  assertSays(filled, 200, 'lantern.jar')
  for (const text of ['value="2.0.0"', 'Lantern 2.0.0', 'fabric.mod.json', 'Deletes'])
    if (text !== 'Deletes') assertSays(filled, 200, text)
  assert.match(filled.body, /value="fabric" checked/)
  assert.match(filled.body, /value="1.20.1" checked/)
  const published = await send(filled, path, { ...COMPLETE, do: 'publish' })
  assertLeads(published, '/mod/lantern/version/2.0.0?done=version-published')
  const view = (await t.anyone.get(`/v3/project/${project.id}/version/2.0.0`)).json()
  assert.deepEqual([view.status, view.changelog, view.files[0].filename], ['listed', 'Brighter.', 'lantern.jar'])
  // The page confirms it, and leads members to the next steps.
  const shown = await person.get(String(published.headers.location))
  for (const text of ['The version is published.', 'Manage versions', 'Publish another version'])
    assertSays(shown, 200, text)
  assertValidHtml(shown.body)
  const other = await visitor(t).get(String(published.headers.location))
  assert.ok(!other.body.includes('Manage versions'))
  const moderator = await t.make.account({ role: 'moderator' })
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'draft' })).statusCode, 204)
  const hidden = await person.get(String(published.headers.location))
  assertSays(hidden, 200, 'Other users do not see it until the project is public.')
  assert.match(hidden.body, /href="\/mod\/lantern\/settings\/review"/)
  assert.equal((await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
})

test('an error keeps the files and everything that was entered', async () => {
  const page = await person.get(PAGE)
  const files = [
    { name: 'files', bytes: jar('3.0.0') },
    { name: 'files', filename: 'readme.exe', bytes: Buffer.from('x') },
    { name: 'files', filename: 'broken.jar', bytes: Buffer.from('no archive') },
  ]
  const typed = { ...COMPLETE, version_number: 'not a number', name: '"><script>', changelog: '</textarea>' }
  const refused = await send(page, PAGE, { ...typed, do: 'publish' }, files)
  assert.equal(refused.statusCode, 400)
  assertValidHtml(refused.body)
  for (const text of ['readme.exe:', 'broken.jar:', 'The version number must be', 'value="not a number"'])
    assertSays(refused, 400, text)
  assert.ok(!refused.body.includes('<script>"'))
  const path = /action="([^"]*draft=[^"]*)"/.exec(refused.body)?.[1] ?? ''
  assertSays(refused, 400, 'lantern.jar')
  const published = await send(refused, path, { ...COMPLETE, version_number: '3.0.0', do: 'publish' })
  assertLeads(published, '/mod/lantern/version/3.0.0?done=version-published')
})

test('publishing names every missing field', async () => {
  const page = await person.get(PAGE)
  const refused = await send(page, PAGE, { version_type: 'release', do: 'publish', when: 'now' })
  for (const text of ['Choose at least one file.', 'Enter a version number', 'Enter a title', 'at least one loader'])
    assertSays(refused, 400, text)
  const path = /action="([^"]*draft=[^"]*)"/.exec(refused.body)?.[1] ?? ''
  assertLeads(await send(refused, path, { do: 'discard' }), '/mod/lantern/settings/versions?done=draft-discarded')
})

test('files are removed, and dependencies found, kept as external files and dropped', async () => {
  const oil = await t.make.project({ slug: 'oil', name: 'Oil' })
  const bytes = makeZip([
    { name: 'fabric.mod.json', data: JSON.stringify({ id: 'lantern', version: '4.0.0', depends: { wick: '*' } }) },
  ])
  const path = draftPath(await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes }]))
  const page = await person.get(path)
  assertSays(page, 200, 'No project has this ID')
  const row = { dep_declared: 'wick', dep_project: '', dep_file: '', dep_type: 'required', dep_version: '' }
  const fields = { ...COMPLETE, version_number: '4.0.0', ...row }
  assertSays(await send(page, path, { ...fields, do: 'publish' }), 400, 'wick: no project has this ID')
  const nothing = await send(page, path, { ...fields, do: 'search.0', 'dep_query.0': 'nothing-like-this' })
  assertSays(nothing, 400, 'No project that you can see')
  assertSays(nothing, 400, 'href="#dep_query.0"')
  const found = await send(page, path, { ...fields, do: 'search.0', 'dep_query.0': 'https://mods.example.org/mod/oil' })
  assertSays(found, 200, `name="dep_project" value="${oil.id}"`)
  const more = await send(page, path, { ...fields, do: 'find', dep_find: 'oil' })
  assertSays(more, 200, `name="dep_project" value="${oil.id}"`)
  const twice = { ...row, dep_project: oil.id }
  assertSays(await send(page, path, { ...fields, ...twice, do: 'find', dep_find: oil.id }), 400, 'already in the list')
  assertSays(await send(page, path, { ...fields, do: 'drop.0' }), 200, 'This version has no dependencies')
  assert.equal((await send(page, path, { ...fields, do: 'drop.7' })).statusCode, 400)
  assert.equal((await send(page, path, { ...fields, do: 'choose.0.not an ID' })).statusCode, 400)
  const kept = await send(page, path, { ...fields, do: 'external.0' })
  assertSays(kept, 200, 'name="dep_file" value="wick"')
  assertSays(kept, 200, 'External file')
  const external = { ...row, dep_file: 'wick' }
  const saved = await send(page, path, { ...fields, ...external, do: 'save' })
  assertLeads(saved, `${path}&done=draft-saved`)
  assertSays(await person.get(`${path}&done=draft-saved`), 200, 'The draft is saved.')
  const [draft] = (await versions()).filter(({ status }) => status === 'draft')
  const view = (await t.as(owner).get(`/v3/version/${draft?.id}`)).json()
  assert.equal(view.dependencies[0].file_name, 'wick')
  await send(page, path, { do: `remove.${view.files[0].hashes.sha512}` })
  assert.deepEqual((await t.as(owner).get(`/v3/version/${draft?.id}`)).json().files, [])
  await send(page, path, { do: 'discard' })
})

test('a schedule uses the time zone, refuses a time that clocks skip, and remembers the zone', async () => {
  const path = draftPath(
    await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes: jar('5.0.0') }]),
  )
  const page = await person.get(path)
  const fields = {
    ...COMPLETE,
    version_number: '5.0.0',
    when: 'at',
    time: '02:30',
    zone: 'Europe/Berlin',
    do: 'publish',
  }
  assertSays(await send(page, path, { ...fields, day: '2999-03-31' }), 400, 'clocks are set forward')
  assertSays(await send(page, path, { ...fields, day: '2999-13-01' }), 400, 'The date must be')
  assertSays(await send(page, path, { ...fields, day: '2001-01-01' }), 400, 'must be a time in the future')
  assertSays(await send(page, path, { ...fields, day: '2999-01-01', zone: 'Mars/Phobos' }), 400, 'The time zone is not')
  const scheduled = await send(page, path, { ...fields, day: '2999-01-01' })
  assertLeads(scheduled, '/mod/lantern/settings/versions?done=version-scheduled')
  assert.match(String(scheduled.headers['set-cookie']), /zone=Europe%2FBerlin/)
  const [version] = (await versions()).filter(({ status }) => status === 'scheduled')
  assert.equal(version?.scheduled_at?.toISOString(), '2999-01-01T01:30:00.000Z')
})
