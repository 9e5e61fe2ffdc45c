// Bad input for the page that uploads a version.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { BYPASS_KEY } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { COMPLETE, draftPath, jar, PAGE, uploadPage } from '#test/support/http/upload-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const { t, owner, project, person, send, versions } = await uploadPage()

test('a form without its token stores nothing', async () => {
  const before = (await versions()).length
  const page = await person.get(PAGE)
  const forged = await send(
    page,
    PAGE,
    { do: 'save' },
    [{ name: 'files', bytes: jar('9', 'forged') }],
    visitor(t, owner.token),
  )
  assert.equal(forged.statusCode, 403)
  assert.equal((await versions()).length, before)
})

test('a draft that was deleted, published or belongs to another project keeps what was entered', async () => {
  const path = draftPath(
    await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes: jar('6.0.0') }]),
  )
  const page = await person.get(path)
  const published = await send(page, path, { ...COMPLETE, version_number: '6.0.0', do: 'publish' })
  assert.equal(published.statusCode, 303)
  assert.equal((await person.get(path)).statusCode, 404)
  const again = await send(page, path, { ...COMPLETE, version_number: '6.0.1', do: 'publish' })
  assertSays(again, 409, 'value="6.0.1"')
  assertSays(again, 409, 'somebody has published it')
  const other = await t.make.project({ owner, slug: 'other' })
  await t.make.version({ project: other })
  assert.equal((await person.get(path.replace('lantern', 'other'))).statusCode, 404)
})

test('a member whose permission was removed keeps the text, and no file is stored', async () => {
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 1 })
  const who = visitor(t, helper.token)
  const page = await who.get(PAGE)
  await t.deps.db.updateTable('team_member').set({ permissions: 0 }).where('account_id', '=', helper.id).execute()
  t.deps.cache.clear()
  const before = (await versions()).length
  const refused = await send(
    page,
    PAGE,
    { ...COMPLETE, name: 'My words', do: 'publish' },
    [{ name: 'files', bytes: jar('8') }],
    who,
  )
  assertSays(refused, 403, 'value="My words"')
  assert.equal((await versions()).length, before)
  assertSays(await who.get(PAGE), 200, 'Upload versions')
  assert.equal((await visitor(t, (await t.make.account()).token).get(PAGE)).statusCode, 404)
  assertLeads(await visitor(t).get(PAGE), `/account/sign-in?return=${encodeURIComponent(PAGE)}`)
})

test('a form whose session has expired is stored until the person has signed in again', async () => {
  const who = visitor(t, owner.token)
  const page = await who.get(PAGE)
  const session = who.cookies.get('__Host-depot-session') ?? ''
  who.cookies.delete('__Host-depot-session')
  const fields = { ...COMPLETE, name: 'Kept words', do: 'save' }
  const answer = await send(page, PAGE, fields, [{ name: 'files', bytes: jar('10') }], who)
  assert.equal(answer.statusCode, 303)
  for (const { name, value } of answer.cookies) who.cookies.set(name, value)
  who.cookies.set('__Host-depot-session', session)
  const back = new URL(String(answer.headers.location), 'http://local').searchParams.get('return') ?? ''
  assertSays(await who.get(back), 200, 'value="Kept words"')
})

test('a file of another project names the project', async () => {
  const other = await t.make.project({ slug: 'copied', name: 'Copied' })
  const bytes = jar('7', 'copied')
  const version = await t.make.version({ project: other })
  await t.make.file({ version, project: other, bytes })
  const refused = await send(await person.get(PAGE), PAGE, { do: 'save' }, [{ name: 'files', bytes }])
  assertSays(refused, 400, 'Copied already contains this file')
})

test('hostile names of files and of entries in archives are refused, and shown as text', async () => {
  const path = draftPath(
    await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes: jar('11.0.0') }]),
  )
  const page = await person.get(path)
  const hostile = '<img src=x onerror=alert(1)>'
  const refused = await send(page, path, { ...COMPLETE, do: 'save' }, [
    { name: 'files', filename: '../../etc/passwd.jar', bytes: jar('1') },
    { name: 'files', filename: 'con.jar', bytes: jar('2') },
    { name: 'files', filename: 'good\u202erar.jar', bytes: jar('3') },
    { name: 'files', filename: `${'x'.repeat(300)}.jar`, bytes: jar('4') },
    { name: 'files', filename: 'entries.jar', bytes: makeZip([{ name: `../${hostile}` }]) },
    { name: 'files', filename: 'bomb.jar', bytes: makeZip([{ name: hostile, lie: { sizeBytes: 2 ** 31 } }]) },
    {
      name: 'files',
      filename: 'manifest.jar',
      bytes: makeZip([
        {
          name: 'fabric.mod.json',
          data: JSON.stringify({ id: hostile, name: hostile, version: hostile, depends: { [hostile]: '*' } }),
        },
      ]),
    },
  ])
  assert.equal(refused.statusCode, 400)
  assertValidHtml(refused.body)
  assert.ok(!refused.body.includes('<img src=x'))
  for (const name of ['passwd.jar', 'con.jar', 'entries.jar', 'bomb.jar']) assertSays(refused, 400, name)
  const again = await person.get(path)
  assertValidHtml(again.body)
  assert.ok(!again.body.includes('<img src=x'))
  await send(page, path, { do: 'discard' })
})

test('the same form sent twice publishes once', async () => {
  const path = draftPath(
    await send(await person.get(PAGE), PAGE, { do: 'upload' }, [{ name: 'files', bytes: jar('12.0.0') }]),
  )
  const page = await person.get(path)
  const publish = () => send(page, path, { ...COMPLETE, version_number: '12.0.0', do: 'publish' })
  const codes = (await Promise.all([publish(), publish()])).map(({ statusCode }) => statusCode).sort()
  // The second form finds the version published, or the draft gone.
  assert.ok(codes[0] === 303 && [303, 409].includes(codes[1] ?? 0), String(codes))
  const twice = (await versions()).filter(({ version_number }) => version_number === '12.0.0')
  assert.deepEqual(
    twice.map(({ status }) => status),
    ['listed'],
  )
  // Two forms with the same file and without a draft make two drafts, of which one can be published.
  const fresh = await person.get(PAGE)
  const file = { name: 'files', bytes: jar('12.1.0') }
  const both = () => send(fresh, PAGE, { ...COMPLETE, version_number: '12.1.0', do: 'publish' }, [file])
  const answers = await Promise.all([both(), both()])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [303, 409])
  const refused = answers.find(({ statusCode }) => statusCode === 409)
  assert.match(refused?.body ?? '', /already has a version 12\.1\.0 with the same files/)
  const left = /action="([^"]*draft=[^"]*)"/.exec(refused?.body ?? '')?.[1] ?? ''
  assertLeads(
    await send(await person.get(left), left, { do: 'discard' }),
    '/mod/lantern/settings/versions?done=draft-discarded',
  )
})

test('a draft whose project is deleted shows what was entered', async () => {
  const doomed = await t.make.project({ owner, slug: 'doomed' })
  await t.make.version({ project: doomed })
  const at = '/mod/doomed/versions/new'
  const path = draftPath(await send(await person.get(at), at, { do: 'upload' }, [{ name: 'files', bytes: jar('d') }]))
  const page = await person.get(path)
  assert.equal((await t.as(owner).delete(`/v3/project/${doomed.id}`)).statusCode, 204)
  const lost = await send(page, path, { ...COMPLETE, changelog: 'My lost words', do: 'publish' }, [
    { name: 'files', filename: 'more.jar', bytes: jar('e') },
  ])
  assertSays(lost, 404, 'My lost words')
  assertValidHtml(lost.body)
  assert.equal((await person.get(path)).statusCode, 404)
})

test('a form that is too large or cut off is refused', async () => {
  const page = await person.get(PAGE)
  const large = await send(page, PAGE, { changelog: 'x'.repeat(300_000), do: 'save' })
  assert.equal(large.statusCode, 400)
  t.advance(DAY_MS / 24)
  const cut = await t.inject({
    method: 'POST',
    url: PAGE,
    payload: '--b\r\ncontent-disposition: form-data; name="_csrf"\r\n\r\nx',
    headers: {
      accept: 'text/html',
      'user-agent': 'Firefox',
      'x-ratelimit-key': BYPASS_KEY,
      'content-type': 'multipart/form-data; boundary=b',
      cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
  })
  assert.equal(cut.statusCode, 400)
})
