// The pages on which operators edit tags by fields.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '<script>alert(1)</script>'
const LISTS = ['game_versions', 'loaders', 'categories', 'loader_fields', 'licenses', 'link_platforms', 'games']
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/></svg>'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin', username: 'olga' })
const operator = visitor(t, admin.token)

type Row = Record<string, unknown>
const listed = async (list: string): Promise<Row[]> =>
  (await t.as(admin).get('/_internal/admin/tags')).json()[list].rows
const rowOf = async (list: string, key: string, value: string) => (await listed(list)).find((row) => row[key] === value)
const TAGS = '/operator/tags'
const add = (list: string, fields: Record<string, string | readonly string[]>) =>
  operator.send(`${TAGS}/${list}/new`, `${TAGS}/${list}/new`, { do: 'save', ...fields })
const pageOf = (list: string, id: string) => `${TAGS}/${list}/tag/${encodeURIComponent(id)}`
const edit = (list: string, id: string, fields: Record<string, string | readonly string[]>) =>
  operator.send(pageOf(list, id), pageOf(list, id), { do: 'save', ...fields })
const saved = (list: string) => `${TAGS}/${list}?done=tag-saved`

afterEach(async () => {
  for (const list of LISTS) await t.as(admin).delete(`/_internal/admin/tags/${list}`)
})

test('a game version is added with the date of today, changed and hidden', async () => {
  const today = new Date(t.deps.now()).toISOString().slice(0, 10)
  const form = await operator.get(`${TAGS}/game_versions/new`)
  assertSays(form, 200, `value="${today}"`)
  assertValidHtml(form.body)
  const fields = { value: '99.1', created: today, type: 'release', major: 'yes', offered: 'yes' }
  assertLeads(await add('game_versions', fields), saved('game_versions'))
  const row = await rowOf('game_versions', 'value', '99.1')
  assert.deepEqual([row?.['metadata'], row?.['hidden']], [{ type: 'release', major: true }, false])
  const created = String(row?.['created'])
  assert.ok(Math.abs(Date.parse(created) - t.deps.now()) < 60_000, created)
  const list = await operator.get(`${TAGS}/game_versions`)
  assert.ok(list.body.indexOf('>99.1<') < list.body.indexOf('>26.2<'), 'the newest is first')
  assertSays(await operator.get(`${TAGS}/game_versions?q=99.1`), 200, '>99.1<')
  assertSays(await operator.get(`${TAGS}/game_versions?q=${encodeURIComponent(HOSTILE)}`), 200, 'No tag has this name')
  const others = { created: '2026-01-02', type: 'snapshot' }
  assertLeads(await edit('game_versions', '99.1', others), saved('game_versions'))
  const { uses: _, ...next } = (await rowOf('game_versions', 'value', '99.1')) ?? {}
  const metadata = { type: 'snapshot', major: false }
  assert.deepEqual(next, { value: '99.1', created: '2026-01-02T12:00:00.000Z', metadata, hidden: true })
})

test('errors are next to their fields, and the form keeps what was entered', async () => {
  for (const [list, fields, message] of [
    ['game_versions', { value: HOSTILE, created: '2026-13-45', type: 'release' }, 'The date '],
    ['game_versions', { value: '26.2', created: '2026-01-01', type: 'release' }, 'The version must be new'],
    ['game_versions', { value: '', created: '2026-01-01', type: 'release' }, 'The version '],
    ['categories', { name: 'Two words', project_type: 'mod', header: 'x', icon: SVG }, 'The name '],
    ['categories', { name: 'x', project_type: 'mod', header: 'x' }, 'The icon '],
    ['loaders', { name: 'x', icon: SVG }, 'The project types '],
    ['loader_fields', { name: 'x', type: 'enum', options: '' }, 'The values '],
    ['loader_fields', { name: 'x', type: 'integer', min: 'a' }, 'The lower limit '],
    ['licenses', { id: 'Mine' }, 'The identifier '],
    ['link_platforms', { name: '' }, 'The name '],
    ['games', { slug: 'x', name: 'X', icon: 'javascript:alert(1)' }, 'The icon '],
  ] as const) {
    const refused = await add(list, fields)
    assertSays(refused, 400, message)
    assertValidHtml(refused.body)
    for (const [, id] of refused.body.matchAll(/<li[^>]*><a href="#([a-z_]+)">/g))
      assert.match(refused.body, new RegExp(`id="${id}"`), 'the summary leads to the field')
    assert.ok(!refused.body.includes(HOSTILE))
  }
  assertSays(await operator.get(pageOf('categories', 'mod:nothing')), 404, '</html>')
})

test('tags of every list are added and changed by fields; what the form does not show stays', async () => {
  const category = { name: 'lamps', project_type: 'mod', header: 'features', icon: SVG, offered: 'yes' }
  assertLeads(await add('categories', category), saved('categories'))
  assertLeads(await edit('categories', 'mod:lamps', { header: 'categories', offered: 'yes' }), saved('categories'))
  const lamps = await rowOf('categories', 'name', 'lamps')
  assert.deepEqual([lamps?.['header'], lamps?.['icon'], lamps?.['ordering']], ['categories', SVG, 0])

  const velocity = {
    project_types: ['plugin', 'mod'],
    games: 'minecraft-java',
    fields: ['game_versions'],
    offered: 'yes',
  }
  assertLeads(await edit('loaders', 'velocity', velocity), saved('loaders'))
  const loader = await rowOf('loaders', 'name', 'velocity')
  assert.deepEqual([loader?.['project_types'], loader?.['metadata']], [['plugin', 'mod'], { platform: true }])

  const size = { name: 'size', type: 'enum', options: 'small\r\nlarge\r\n', default: 'small', optional: 'yes' }
  assertLeads(await add('loader_fields', size), saved('loader_fields'))
  const field = await rowOf('loader_fields', 'name', 'size')
  assert.deepEqual([field?.['options'], field?.['default'], field?.['optional']], [['small', 'large'], 'small', true])
  assertLeads(await edit('loader_fields', 'game_versions', { min: '1', max: '40' }), saved('loader_fields'))
  const { uses: _, hidden: __, ...versions } = (await rowOf('loader_fields', 'name', 'game_versions')) ?? {}
  assert.deepEqual([versions['values'], versions['max'], versions['optional']], ['game-versions.json', 40, false])

  assertLeads(await add('licenses', { id: 'LicenseRef-Lamps', name: 'Lamp Licence' }), saved('licenses'))
  assertLeads(await add('licenses', { id: 'ISC' }), saved('licenses'))
  assertLeads(await add('link_platforms', { name: 'forum', offered: 'yes' }), saved('link_platforms'))
  const project = await t.make.project({ owner: admin })
  await t.make.version({ project, loaders: ['fabric'] })
  const { slug } = (await t.as(admin).get(`/v3/project/${project.id}`)).json()
  assertSays(await operator.get(`/mod/${slug}/settings/links`), 200, 'link_urls.forum')
  assertSays(await operator.get(`/mod/${slug}/settings/tags`), 200, 'LicenseRef-Lamps: Lamp Licence')

  const game = { slug: 'blocks', name: 'Blocks', icon: '', banner: '', offered: 'yes' }
  assertLeads(await add('games', game), saved('games'))
  assert.deepEqual((await rowOf('games', 'slug', 'blocks'))?.['icon'], null)
})

/** Sends the form of a page as browsers send a form with a file. */
async function upload(
  path: string,
  fields: readonly (readonly [string, string])[],
  svg: string,
  filename = 'icon.svg',
) {
  const form = new FormData()
  for (const field of Object.entries(hiddenFields(await operator.get(path), path))) form.append(...field)
  for (const field of fields) form.append(...field)
  form.append('icon_file', new Blob([svg]), filename)
  const request = new Request('http://depot.test', { method: 'POST', body: form })
  const cookie = [...operator.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, accept: 'text/html', 'content-type': request.headers.get('content-type') ?? '' }
  return t.inject({ method: 'POST', url: path, payload: Buffer.from(await request.arrayBuffer()), headers })
}

test('several choices and an icon are sent together', async () => {
  const choices = [
    ['name', 'lamp-loader'],
    ['project_types', 'mod'],
    ['project_types', 'plugin'],
    ['games', 'minecraft-java'],
    ['fields', 'game_versions'],
    ['fields', 'environment'],
    ['offered', 'yes'],
    ['do', 'save'],
  ] as const
  const answer = await upload(`${TAGS}/loaders/new`, choices, SVG)
  assertLeads(answer, saved('loaders'))
  const row = await rowOf('loaders', 'name', 'lamp-loader')
  assert.deepEqual(
    [row?.['project_types'], row?.['fields']],
    [
      ['mod', 'plugin'],
      ['game_versions', 'environment'],
    ],
  )
})

test('an icon is uploaded with a preview, and only its drawing is stored', async () => {
  const path = pageOf('categories', 'mod:magic')
  const send = (command: string, svg: string, filename?: string) =>
    upload(
      path,
      [
        ['header', 'categories'],
        ['offered', 'yes'],
        ['do', command],
      ],
      svg,
      filename,
    )
  const before = (await rowOf('categories', 'name', 'magic'))?.['icon']
  const evil = SVG.replace('<circle', '<script>alert(1)</script><circle onload="alert(1)"')
  const preview = await send('preview', evil)
  assertSays(preview, 200, '<circle cx="12"')
  assertValidHtml(preview.body)
  assert.doesNotMatch(preview.body, /alert/)
  assert.equal((await rowOf('categories', 'name', 'magic'))?.['icon'], before, 'a preview saves nothing')
  const kept = hiddenFields(preview as never, path)['icon'] ?? ''
  assertLeads(
    await operator.sendFrom(preview as never, path, { do: 'save', header: 'x', offered: 'yes' }),
    saved('categories'),
  )
  assert.equal((await rowOf('categories', 'name', 'magic'))?.['icon'], kept)
  assertLeads(await send('save', evil), saved('categories'))
  for (const [svg, name] of [
    ['<html></html>', 'icon.svg'],
    [SVG, 'icon.png'],
    [SVG.replace('/>', `/><path d="${'M0 0'.repeat(2_500)}"/>`), 'icon.svg'],
  ] as const)
    assert.equal((await send('save', svg, name)).statusCode, 400, name)
})

test('tags are ordered by buttons and by dragging', async () => {
  const path = `${TAGS}/link_platforms`
  const names = async () => (await listed('link_platforms')).map(({ name }) => name)
  const before = await names()
  const [first, second, third, ...rest] = before
  const moved = (name: unknown) => `${path}?done=tag-moved#tag-${name}`
  assertLeads(await operator.send(path, path, { do: `up.${second}` }), moved(second))
  assert.deepEqual(await names(), [second, first, third, ...rest])
  assertLeads(await operator.send(path, path, { do: `down.${second}` }), moved(second))
  assert.deepEqual(await names(), before)
  const old = await operator.get(path)
  assertLeads(await operator.send(path, path, { do: `place.${first}`, place: '2' }), moved(first))
  assert.deepEqual(await names(), [second, third, first, ...rest])
  const late = await operator.sendFrom(old, path, { do: `up.${third}` })
  assertSays(late, 409, 'Another operator has changed this list')
  const categories = `${TAGS}/categories`
  const json = `${categories}/json`
  const hidden = hiddenFields(await operator.get(json), json)
  await operator.post(categories, { ...hidden, do: 'place.mod:magic', place: '0' })
  const group = (await t.anyone.get('/v3/tag/category'))
    .json()
    .categories.filter(({ project_type, header }: Row) => project_type === 'mod' && header === 'categories')
  assert.equal(group[0].name, 'magic')
})

test('renaming, merging and removing show the affected projects and versions first', async () => {
  const project = await t.make.project()
  const { id } = await t.make.version({ project, game_versions: ['1.16.1', '1.16.2'] })
  const read = async () => (await t.anyone.get(`/v3/version/${id}`)).json().game_versions
  const path = pageOf('game_versions', '1.16.1')
  const send = (fields: Record<string, string>) => operator.send(path, path, fields)
  assertSays(await operator.get(path), 200, 'One project, one version')
  assertSays(await send({ to: '1.16.2', do: 'rename' }), 400, 'The new name is already in the list')
  assertSays(await send({ to: 'x'.repeat(65), do: 'rename' }), 400, 'The new name is not a valid name')
  assertSays(await send({ into: '1.16.1', do: 'merge' }), 400, 'The other tag must be the name of another tag')
  assertSays(await send({ into: 'nothing', do: 'merge' }), 400, 'The other tag must be the name of another tag')
  const rename = await send({ to: HOSTILE, do: 'rename' })
  assertSays(rename, 200, `Rename 1.16.1 to ${HOSTILE}?`)
  assertSays(rename, 200, 'one project and one version')
  assertValidHtml(rename.body)
  const merge = await send({ into: '1.16.2', do: 'merge' })
  assertSays(merge, 200, 'Merge 1.16.1 into 1.16.2?')
  assertSays(merge, 200, 'one project and one version')
  assert.deepEqual(await read(), ['1.16.1', '1.16.2'], 'the first page changes nothing')
  assertSays(await send({ into: 'nothing', do: 'merge', confirmed: 'yes' }), 400, 'The other tag must be the name')
  const list = `${TAGS}/game_versions`
  assertLeads(await operator.sendFrom(merge, path, { do: 'merge' }), `${list}?done=tag-merged`)
  assert.deepEqual(await read(), ['1.16.2'])
  const other = pageOf('game_versions', '1.16.2')
  const confirmed = { confirmed: 'yes' }
  assertLeads(
    await operator.send(other, other, { to: '1.16.2-final', do: 'rename', ...confirmed }),
    `${list}?done=tag-renamed`,
  )
  assert.deepEqual(await read(), ['1.16.2-final'])
})

test('a list is exported and imported as JSON', async () => {
  const path = `${TAGS}/games/json`
  const file = await operator.get(`${TAGS}/games/export.json`)
  const rows = file.json()
  assert.deepEqual([rows[0].slug, Object.hasOwn(rows[0], 'uses')], ['minecraft-java', false])
  assert.match(String(file.headers['content-disposition']), /games\.json/)
  for (const [text, message] of [
    ['{', 'must be JSON'],
    ['[{"name": "x"}]', 'is required'],
    [JSON.stringify(rows.slice(1)), 'unknown game'],
  ] as const) {
    const refused = await operator.send(path, path, { rows: text, do: 'save', confirmed: 'yes' })
    assertSays(refused, 400, message)
    assertValidHtml(refused.body)
  }
  const next = [{ ...rows[0], name: 'Blocks' }, ...rows.slice(1)]
  const asked = await operator.send(path, path, { rows: JSON.stringify(next), do: 'save' })
  assertSays(asked, 200, 'Replace the whole list?')
  assertLeads(await operator.sendFrom(asked, path, { do: 'save' }), `${TAGS}/games?done=tags-imported`)
  assert.equal((await listed('games'))[0]?.['name'], 'Blocks')
  const reset = await operator.send(`${TAGS}/games`, `${TAGS}/games`, { do: 'reset' })
  assertSays(reset, 200, 'Use the data file again?')
  assertLeads(await operator.sendFrom(reset, `${TAGS}/games`, { do: 'reset' }), `${TAGS}/games?done=tags-reset`)
  assertSays(await operator.get(`${TAGS}/games`), 200, 'comes from the data files')
})
