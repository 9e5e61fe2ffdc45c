// The side of the upload page, the preview of the changelog, and errors next to their fields and files.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip, type TestEntry } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import type { FormFile } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { sendForm } from '#test/support/http/send-form.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let person: Visitor
before(async () => {
  t = await testApp()
  t.freeze()
  owner = await t.make.account({ username: 'ida-marsh' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  person = visitor(t, owner.token)
})
after(() => t?.close())

const PAGE = '/mod/lantern/versions/new'
/** A project without versions has another path. */
const FIRST = '/project/lantern/versions/new'
const jar = (version: string, more: readonly TestEntry[] = []): Buffer =>
  makeZip([{ name: 'fabric.mod.json', data: JSON.stringify({ id: 'lantern', name: 'Lantern', version }) }, ...more])

type Fields = Record<string, string | readonly string[]>
const send = (page: InjectResponse, path: string, fields: Fields, files: FormFile[] = []) =>
  sendForm(t, person, path, { ...hiddenFields(page, path), ...fields }, files)
const COMPLETE = {
  version_number: '2.0.0',
  name: 'Second light',
  version_type: 'release',
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
  changelog: 'Brighter.',
  when: 'now',
}
async function draftWith(bytes: Buffer, filename = 'lantern.jar', at = PAGE): Promise<string> {
  const answer = await send(await person.get(at), at, { do: 'upload' }, [{ name: 'files', filename, bytes }])
  assert.equal(answer.statusCode, 303, answer.body)
  return String(answer.headers.location)
}
/** The text of the side of a page, without markup. */
const asideOf = ({ body }: InjectResponse): string =>
  (/<aside id="aside"[\s\S]*<\/aside>/.exec(body)?.[0] ?? '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

test('the first version lists what is missing, and has nothing to compare with', async () => {
  const page = await person.get(FIRST)
  assertValidHtml(page.body)
  const aside = asideOf(page)
  for (const text of ['A file is uploaded (missing)', 'The title is set (missing)', 'Before you publish'])
    assert.ok(aside.includes(text), aside)
  assert.ok(!aside.includes('Compared with'))
})

test('a manifest that cannot be parsed is a warning', async () => {
  const path = await draftWith(makeZip([{ name: 'fabric.mod.json', data: '{"id": ' }]), 'broken.jar', FIRST)
  assert.match(asideOf(await person.get(path)), /The manifest fabric\.mod\.json cannot be parsed/)
})

test('the side compares with the previous version, shows the version and the request to the API', async () => {
  const version = await t.make.version({ project, version_number: '1.0.0', loaders: ['fabric', 'quilt'] })
  await t.make.file({ version, project, bytes: jar('1.0.0', [{ name: 'old.class' }]), filename: 'lantern-1.jar' })
  const oil = await t.make.project({ slug: 'oil', name: 'Oil' })
  const path = await draftWith(jar('2.0.0', [{ name: 'new.class' }]), "ida's lantern.jar")
  const page = await person.get(path)
  assertValidHtml(page.body)
  const typed = { ...COMPLETE, version_number: "2.0'0", game_versions: ['1.20.1', '1.20.2'] }
  const row = { dep_declared: '', dep_project: oil.id, dep_file: '', dep_type: 'required', dep_version: '' }
  const shown = await send(page, path, { ...typed, ...row, changelog: '**bold**', do: 'preview' })
  assertSays(shown, 200, '<strong>bold</strong>')
  assertValidHtml(shown.body)
  const aside = asideOf(shown)
  for (const text of [
    'One file is uploaded (done)',
    '2 game versions are selected (done)',
    'The changelog is written (done)',
    'Compared with 1.0.0',
    'Loaders Quilt',
    'Game versions 1.20.2',
    'Dependencies Oil',
    '1 added, 1 removed, 1 changed',
    'Fabric · 1.20.1 – 1.20.2',
    'Requires Oil',
  ])
    assert.ok(aside.includes(text), `${text}: ${aside}`)
  assertSays(shown, 200, '<del dir="auto">Quilt</del>')
  // The command survives quotes in names.
  assertSays(shown, 200, `-F 'file-0=@"ida'\\''s lantern.jar"'`)
  assertSays(shown, 200, `"version_number": "2.0'\\''0"`)
  const later = { when: 'at', day: '2999-01-01', time: '18:00', zone: 'Europe/Berlin' }
  const scheduled = await send(page, path, { ...typed, ...later, do: 'preview' })
  assertSays(scheduled, 200, '"scheduled_at":"2999-01-01T17:00:00.000Z"')
  assertSays(scheduled, 200, 'Offset: UTC+1.')
  const long = await send(page, path, { ...typed, changelog: 'x'.repeat(3000), do: 'preview' })
  assertSays(long, 200, 'The command omits the changelog')
  // Nothing is saved by a preview.
  assertSays(await person.get(path), 200, 'name="changelog" maxlength="65536"')
  assert.ok(!(await person.get(path)).body.includes('<strong>bold'))
  await send(page, path, { do: 'discard' })
})

test('the page needs a constant number of statements for any number of dependencies', async () => {
  const projects = await Promise.all([1, 2, 3, 4, 5].map((n) => t.make.project({ slug: `lib-${n}` })))
  for (const library of projects) await t.make.version({ project: library })
  const path = await draftWith(jar('2.1.0'))
  const page = await person.get(path)
  const count = async (many: readonly MadeProject[]): Promise<number> => {
    const rows = {
      dep_declared: many.map(() => ''),
      dep_project: many.map(({ id }) => id),
      dep_file: many.map(() => ''),
      dep_version: many.map(() => ''),
      dep_type: many.map(() => 'required'),
    }
    await send(page, path, { ...COMPLETE, ...rows, do: 'preview' })
    return (await t.queriesOf(() => send(page, path, { ...COMPLETE, ...rows, do: 'preview' }))).queries.length
  }
  assert.equal(await count(projects), await count(projects.slice(0, 1)))
  await send(page, path, { do: 'discard' })
})

test('a dependency can name a version, and the dependencies of the previous version can be copied', async () => {
  const wick = await t.make.project({ slug: 'wick', name: 'Wick' })
  const first = await t.make.version({ project: wick, version_number: '1.1.1' })
  const hidden = await t.make.version({ project: wick, version_number: '9.9.9', status: 'draft' })
  const path = await draftWith(jar('2.2.0'))
  const page = await person.get(path)
  const added = await send(page, path, { ...COMPLETE, do: 'find', dep_find: 'wick' })
  assertSays(added, 200, `<option value="${first.id}">1.1.1</option>`)
  assert.ok(!added.body.includes('9.9.9'))
  const row = { dep_declared: 'wick', dep_project: wick.id, dep_file: '', dep_type: 'optional', dep_version: first.id }
  const fields = { ...COMPLETE, version_number: '2.2.0', ...row }
  t.advance(1000)
  assertSays(await send(page, path, { ...fields, dep_version: hidden.id, do: 'save' }), 400, 'The dependency')
  assertLeads(await send(page, path, { ...fields, do: 'publish' }), '/mod/lantern/version/2.2.0?done=version-published')
  const [dependency] = (await t.anyone.get('/v3/project/lantern/version/2.2.0')).json().dependencies
  assert.deepEqual([dependency.project_id, dependency.version_id], [wick.id, first.id])
  t.advance(1000)
  const next = await draftWith(jar('2.3.0'))
  const copied = await send(await person.get(next), next, { ...COMPLETE, do: 'copy' })
  assertSays(copied, 200, `<option value="${first.id}" selected>1.1.1</option>`)
  await send(copied, next, { do: 'discard' })
})

test('projects are found by their names', async () => {
  await t.make.project({ slug: 'yet-another-config', name: 'Yet Another Config Library' })
  await t.searchable()
  const path = await draftWith(jar('2.4.0'))
  const page = await person.get(path)
  const row = { dep_declared: 'yacl', dep_project: '', dep_file: '', dep_type: 'required', dep_version: '' }
  const found = await send(page, path, { ...COMPLETE, ...row, do: 'search.0', 'dep_query.0': 'config library' })
  assertSays(found, 200, 'Use Yet Another Config Library')
  const button = /value="(choose\.0\.\w+)"/.exec(found.body)?.[1] ?? ''
  assertSays(await send(found, path, { ...COMPLETE, ...row, do: button }), 200, 'Yet Another Config Library</bdi></a>')
  await send(page, path, { do: 'discard' })
})

test('a version with the same number and files is named with a link', async () => {
  const bytes = jar('3.0.0')
  const path = await draftWith(bytes)
  const fields = { ...COMPLETE, version_number: '3.0.0', do: 'publish' }
  assertLeads(await send(await person.get(path), path, fields), '/mod/lantern/version/3.0.0?done=version-published')
  const { id } = (await t.anyone.get('/v3/project/lantern/version/3.0.0')).json()
  const again = await draftWith(bytes)
  const refused = await send(await person.get(again), again, fields)
  assertSays(refused, 409, 'The project already has a version 3.0.0 with the same files.')
  assertSays(refused, 409, `<a href="/mod/lantern/version/${id}">View version</a>`)
  assertValidHtml(refused.body)
  await send(refused, again, { do: 'discard' })
})

test('a file that the loaders refuse has its error next to it, with the loaders that accept it', async () => {
  const path = await draftWith(makeZip([{ name: 'litemod.json', data: '{}' }]), 'lantern.litemod')
  const refused = await send(await person.get(path), path, { ...COMPLETE, do: 'publish' })
  assertSays(refused, 400, 'do not accept files with the extension litemod')
  assertSays(refused, 400, 'Files with the extension .litemod are for these loaders: LiteLoader.')
  assert.match(refused.body, /<a href="#(file-[0-9a-f]{12})">[\s\S]*<li id="\1"/)
  assertValidHtml(refused.body)
  await send(refused, path, { do: 'discard' })
})

test('the script learns where a file already is before it is sent', async () => {
  const page = await person.get(PAGE)
  const check = (bytes: Buffer) => {
    const sha512 = createHash('sha512').update(bytes).digest('hex')
    return person.sendFrom(page, PAGE, { do: 'check', filename: '<b>.jar', sha512 })
  }
  const known = await check(jar('3.0.0'))
  assertSays(known, 400, 'This file is already part of 3.0.0.')
  assert.ok(!known.body.includes('<b>.jar'))
  assertSays(await check(jar('unknown')), 200, 'New version of Lantern')
  assertSays(await person.sendFrom(page, PAGE, { do: 'check', filename: 'a.jar', sha512: 'x' }), 200, 'Lantern')
  const other = await t.make.project({ slug: 'copied', name: 'Copied' })
  const version = await t.make.version({ project: other })
  await t.make.file({ version, project: other, bytes: jar('copied') })
  assertSays(await check(jar('copied')), 400, '<a href="/mod/copied">View project</a>')
  const hidden = await t.make.project({ slug: 'secret', name: 'Secret', status: 'private' })
  const inside = await t.make.version({ project: hidden })
  await t.make.file({ version: inside, project: hidden, bytes: jar('secret') })
  const silent = await check(jar('secret'))
  assert.equal(silent.statusCode, 200)
  assert.ok(!silent.body.includes('Secret'))
})
