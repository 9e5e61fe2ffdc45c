// The pages of published versions: the table with actions, editing and deletion.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { modJar } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { sendForm } from '#test/support/http/send-form.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account({ username: 'ida-marsh' })
const project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
const person = visitor(t, owner.token)

const TABLE = '/mod/lantern/settings/versions'
const statusOf = async (id: string) => (await t.as(owner).get(`/v3/version/${id}`)).json().status

test('the table changes several versions, all or none', async () => {
  const [a, b] = [
    await t.make.version({ project, version_number: '1.0.0' }),
    await t.make.version({ project, version_number: '1.1.0' }),
  ]
  const page = await person.get(TABLE)
  assertValidHtml(page.body)
  for (const text of ['1.0.0', '1.1.0', 'New version']) assertSays(page, 200, text)
  assertSays(await person.sendFrom(page, TABLE, { do: 'archive' }), 400, 'Select at least one version')
  assertLeads(await person.sendFrom(page, TABLE, { ids: [a.id, b.id], do: 'archive' }), `${TABLE}?done=saved`)
  assert.deepEqual([await statusOf(a.id), await statusOf(b.id)], ['archived', 'archived'])
  const other = await t.make.version({ project: await t.make.project({ owner }) })
  const foreign = await person.sendFrom(page, TABLE, { ids: [a.id, other.id], do: 'list' })
  assert.equal(foreign.statusCode, 404)
  assert.equal(await statusOf(a.id), 'archived')
  await person.sendFrom(page, TABLE, { ids: [a.id, b.id], do: 'list' })
})

test('pages of a version take its number, also of a hidden version, and only of this project', async () => {
  const version = await t.make.version({ project, version_number: '1.0.0+mc1.20 b/ü', status: 'unlisted' })
  await t.make.file({ version, project, bytes: modJar('numbered') })
  const number = encodeURIComponent('1.0.0+mc1.20 b/ü')
  for (const page of ['edit', 'withdraw', 'delete']) {
    assertSays(await person.get(`/mod/lantern/version/${number}/${page}`), 200, '1.0.0+mc1.20 b/ü')
    assertSays(await person.get(`/mod/lantern/version/${number.replace('%2B', '+')}/${page}`), 200, version.id)
  }
  await t.make.version({ project: await t.make.project({ owner }), version_number: 'elsewhere' })
  assert.equal((await person.get('/mod/lantern/version/elsewhere/edit')).statusCode, 404)
})

test('a version is edited, with new files, and errors keep what was entered', async () => {
  const version = await t.make.version({ project, version_number: '2.0.0' })
  await t.make.file({ version, project, bytes: modJar('edited') })
  const path = `/mod/lantern/version/${version.id}/edit`
  const page = await person.get(path)
  assertValidHtml(page.body)
  assertSays(page, 200, 'Edit 2.0.0')
  const fields = {
    version_number: '2.0.1',
    name: 'Second light',
    version_type: 'beta',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    changelog: 'Better.',
    status: 'unlisted',
  }
  const { _csrf = '' } = hiddenFields(page, path)
  const bad = await sendForm(t, person, path, { _csrf, ...fields, version_number: 'a b', changelog: '</textarea>' })
  assertSays(bad, 400, 'value="a b"')
  assertValidHtml(bad.body)
  const files = [{ name: 'files', filename: 'more.jar', bytes: modJar('more') }]
  assertLeads(await sendForm(t, person, path, { _csrf, ...fields }, files), `${path}?done=saved`)
  const view = (await t.as(owner).get(`/v3/version/${version.id}`)).json()
  assert.deepEqual(
    [view.version_number, view.version_type, view.status, view.changelog, view.files.length],
    ['2.0.1', 'beta', 'unlisted', 'Better.', 2],
  )
  const hash = view.files[1].hashes.sha512
  const confirm = `/mod/lantern/version/${version.id}/file/${hash}/delete`
  assertSays(await person.get(confirm), 200, 'Delete more.jar?')
  assertLeads(await person.send(confirm, confirm, { do: 'confirm' }), `${path}?done=file-deleted`)
  assertSays(await person.get(confirm), 404, 'does not exist')
})

test('a version shows its files with hashes, and its dependencies are edited as on the upload page', async () => {
  const oil = await t.make.project({ slug: 'oil', name: 'Oil' })
  const choice = await t.make.version({ project: oil, version_number: '0.0.7' })
  const version = await t.make.version({ project, version_number: '2.5.0' })
  const { sha1, sha512 } = await t.make.file({ version, project, bytes: modJar('detailed') })
  const path = `/mod/lantern/version/${version.id}/edit`
  const page = await person.get(path)
  for (const text of [sha1, sha512, 'The version has no downloads.', 'Hashes and download']) assertSays(page, 200, text)
  const fields = {
    _csrf: hiddenFields(page, path)['_csrf'] ?? '',
    version_number: '2.5.0',
    name: 'Oiled',
    version_type: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    changelog: '# Big',
    status: 'listed',
    featured: 'yes',
  }
  const found = await sendForm(t, person, path, { ...fields, do: 'find', dep_find: 'oil' })
  assertSays(found, 200, `<option value="${choice.id}">0.0.7</option>`)
  assertValidHtml(found.body)
  assertSays(await sendForm(t, person, path, { ...fields, do: 'preview' }), 200, '<h2 id="text-big"')
  const row = { dep_declared: '', dep_project: oil.id, dep_file: '', dep_type: 'embedded', dep_version: choice.id }
  const file = { name: 'files', filename: 'also.jar', bytes: modJar('also') }
  const type = { [`type.${sha512}`]: 'dev-jar' }
  assertLeads(await sendForm(t, person, path, { ...fields, ...row, ...type, do: 'save' }, [file]), `${path}?done=saved`)
  const view = (await t.as(owner).get(`/v3/version/${version.id}`)).json()
  assert.deepEqual(
    [view.featured, view.dependencies[0].version_id, view.files.length, view.files[0].file_type],
    [true, choice.id, 2, 'dev-jar'],
  )
  const refused = await sendForm(t, person, path, { ...fields, ...row, do: 'save' }, [{ ...file, filename: 'a.exe' }])
  assertSays(refused, 400, 'a.exe')
  assertSays(refused, 400, 'Not uploaded')
  await t.as(owner).delete(`/v3/version/${version.id}`)
  const gone = await sendForm(t, person, path, { ...fields, changelog: 'My words', do: 'save' })
  assertSays(gone, 404, 'My words')
})

test('a version is deleted after its number is typed', async () => {
  const version = await t.make.version({ project, version_number: '3.0.0' })
  const path = `/mod/lantern/version/${version.id}/delete`
  const page = await person.get(path)
  assertValidHtml(page.body)
  assertSays(page, 200, 'Delete version 3.0.0?')
  assertSays(await person.sendFrom(page, path, { name: '3.0', do: 'confirm' }), 400, 'must be 3.0.0')
  assert.equal(await statusOf(version.id), 'listed')
  assertLeads(await person.sendFrom(page, path, { name: '3.0.0', do: 'confirm' }), `${TABLE}?done=version-deleted`)
  assert.equal((await t.as(owner).get(`/v3/version/${version.id}`)).statusCode, 404)
})

test('members without the permission view, and others see nothing', async () => {
  const version = await t.make.version({ project, version_number: '4.0.0' })
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 0 })
  const who = visitor(t, helper.token)
  assertSays(await who.get(TABLE), 200, 'Upload versions')
  assertSays(await who.get(`/mod/lantern/version/${version.id}/edit`), 200, 'Upload versions')
  const stranger = visitor(t, (await t.make.account()).token)
  for (const path of [TABLE, `/mod/lantern/version/${version.id}/edit`, `/mod/lantern/version/${version.id}/delete`])
    assert.equal((await stranger.get(path)).statusCode, 404, path)
  const other = await t.make.project({ owner, slug: 'other' })
  await t.make.version({ project: other })
  assert.equal((await person.get(`/mod/other/version/${version.id}/edit`)).statusCode, 404)
})
