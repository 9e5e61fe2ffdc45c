// The pages about the instance itself: branding, announcement, read-only mode, tags and keys.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'
import { accentContrast } from '#web/ui/accent-contrast.ts'

const HOSTILE = '<script>alert(1)</script>'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin', username: 'olga' })
const operator = visitor(t, admin.token)

const settings = async () => (await t.as(admin).get('/_internal/admin/settings')).json()
const instance = async () => (await t.anyone.get('/_internal/instance')).json()

test('only admins see the pages; visitors are led to sign in', async () => {
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  const lists = ['categories', 'game_versions', 'loaders', 'games'].map((list) => `tags/${list}`)
  for (const path of ['settings', 'announcement', 'read-only', 'read-only/begin', 'keys', ...lists]) {
    assertLeads(
      await visitor(t).get(`/operator/${path}`),
      `/account/sign-in?return=${encodeURIComponent(`/operator/${path}`)}`,
    )
    assert.equal((await moderator.get(`/operator/${path}`)).statusCode, 404, path)
    const shown = await operator.get(`/operator/${path}`)
    assertSays(shown, 200, '</html>')
    assertValidHtml(shown.body)
  }
  assertLeads(await operator.get('/operator/tags'), '/operator/tags/game_versions')
  assert.equal((await operator.get('/operator/tags/boats')).statusCode, 404)
  assertSays(await operator.get('/operator/keys'), 200, 'dpp_')
})

test('branding saves what differs, names the source of each value, and keeps what was entered', async () => {
  const path = '/operator/settings'
  const form = await operator.get(path)
  assertSays(form, 200, 'From the environment or the default.')
  const fields = {
    name: 'Our lanterns',
    accent_hue: '210',
    about: `# ${HOSTILE}`,
    rules: '',
    currency: 'EUR',
    registration: 'invitation',
    home_sections: ['trending', 'downloads', 'newest', 'releases', 'collections'],
  }
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=saved`)
  const { name, accent_hue, currency, registration, set } = await settings()
  assert.deepEqual([name, accent_hue, currency, registration], ['Our lanterns', 210, 'EUR', 'invitation'])
  assert.deepEqual(set.sort(), ['about', 'accent_hue', 'currency', 'name', 'registration'])
  const shown = await operator.get(path)
  assertSays(shown, 200, 'Set by an operator.')
  assert.ok(!shown.body.includes(HOSTILE))
  const refused = await operator.sendFrom(shown, path, { ...fields, name: 'x'.repeat(65), accent_hue: '999' })
  // Each field has its error, and the summary leads to all of them.
  assertSays(refused, 400, 'There are 2 problems')
  assertSays(refused, 400, /The name must (?:be|have) at most 64/)
  assertSays(refused, 400, 'The colour must be an integer from 0 to 359')
  assertSays(refused, 400, 'x'.repeat(65))
  assertLeads(
    await operator.sendFrom(shown, path, {
      ...fields,
      name: '',
      accent_hue: '',
      about: '',
      currency: '',
      registration: 'open',
    }),
    `${path}?done=saved`,
  )
  assert.deepEqual((await settings()).set, ['registration'])
})

test('the preview shows the page in the chosen name and colour, and saves nothing', async () => {
  const path = '/operator/settings'
  const form = await operator.get(path)
  const before = await settings()
  const fields = { name: 'Cave of lanterns', accent_hue: '30', home_heading: HOSTILE, home_sections: ['newest'] }
  const shown = await operator.sendFrom(form, path, { ...fields, do: 'preview' })
  assertSays(shown, 200, 'Nothing is saved yet.')
  assertValidHtml(shown.body)
  assert.match(shown.body, /<html[^>]* class="h30"/)
  assert.match(shown.body, /class="brand"[^>]*>.*<span>Cave of lanterns<\/span>/)
  assert.match(shown.body, /name="name"[^>]* value="Cave of lanterns"/)
  assert.ok(!shown.body.includes(HOSTILE))
  assert.deepEqual(await settings(), before)
  const later = await operator.get(path)
  assert.doesNotMatch(later.body, /Cave of lanterns/)
  assertSays(
    await operator.sendFrom(form, path, { ...fields, accent_hue: '999', do: 'preview' }),
    400,
    'The colour must',
  )
})

test('the home page gets its texts and sections; all sections are the default', async () => {
  const path = '/operator/settings'
  const form = await operator.get(path)
  const rest = { registration: 'open', accent_hue: '' }
  const all = ['trending', 'downloads', 'newest', 'releases', 'collections']
  assertLeads(await operator.sendFrom(form, path, { ...rest, home_sections: all }), `${path}?done=saved`)
  assert.ok(!(await settings()).set.includes('home_sections'))
  const fields = { ...rest, home_heading: ' Lanterns ', home_text: HOSTILE, home_sections: ['trending', 'newest'] }
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=saved`)
  const { home_heading, home_text, home_sections } = await instance()
  assert.deepEqual([home_heading, home_text, home_sections], ['Lanterns', HOSTILE, ['trending', 'newest']])
  const shown = await operator.get(path)
  assertValidHtml(shown.body)
  assert.match(shown.body, /value="newest" checked/)
  assert.doesNotMatch(shown.body, /value="releases" checked/)
  for (const bad of [{ home_heading: 'x'.repeat(101) }, { home_text: 'x'.repeat(301) }, { home_sections: ['boats'] }]) {
    const refused = await operator.sendFrom(shown, path, { ...fields, ...bad })
    assertSays(refused, 400, /The (heading|text|sections) of the home page/)
  }
  assertLeads(await operator.sendFrom(shown, path, { ...rest, home_sections: all }), `${path}?done=saved`)
  const { set } = await settings()
  assert.deepEqual(
    set.filter((name: string) => name.startsWith('home_')),
    [],
  )
})

test('every hue of the page has a contrast of at least 4.5', () => {
  for (let hue = 0; hue < 360; hue += 15) {
    const { light, dark } = accentContrast(hue)
    assert.ok(light >= 4.5 && dark >= 4.5, `${hue}: ${light}, ${dark}`)
  }
})

test('an announcement is shown between its times, on pages and in the API', async () => {
  const path = '/operator/announcement'
  t.freeze()
  const at = (hours: number) => new Date(t.deps.now() + hours * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')
  const form = await operator.get(path)
  const fields = {
    announcement: `Tea at five ${HOSTILE}`,
    announcement_link: '/about',
    announcement_start: at(2),
    announcement_end: at(4),
  }
  assertSays(
    await operator.sendFrom(form, path, { ...fields, announcement_end: at(1) }),
    400,
    'must end after it begins',
  )
  assertSays(
    await operator.sendFrom(form, path, { ...fields, announcement_start: 'tomorrow' }),
    400,
    'The start must be a date',
  )
  const whole = { ...fields, announcement_start: '31.12.2026', announcement_end: '2027-01-02' }
  assertLeads(await operator.sendFrom(form, path, whole), `${path}?done=saved`)
  assert.deepEqual(
    [(await settings()).announcement_start, (await settings()).announcement_end],
    ['2026-12-31T00:00:00.000Z', '2027-01-02T00:00:00.000Z'],
  )
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=saved`)
  const isShown = async (): Promise<boolean> => {
    const page = await visitor(t).get('/search?q=announced')
    assert.ok(!page.body.includes(HOSTILE))
    const onPage = page.body.includes('Tea at five')
    assert.equal((await instance()).announcement !== null, onPage)
    return onPage
  }
  assertSays(await operator.get(path), 200, 'do not see this announcement now')
  const seen: boolean[] = []
  for (const hours of [0, 2.5, 2]) {
    t.advance(hours * HOUR_MS)
    seen.push(await isShown())
  }
  assert.deepEqual(seen, [false, true, false])
  t.thaw()
  assert.equal((await instance()).announcement_link, null, 'the link is hidden with its announcement')
  const shown = await operator.get(path)
  const asked = await operator.sendFrom(shown, path, { do: 'remove' })
  assertSays(asked, 200, 'Remove the announcement?')
  assertLeads(await operator.sendFrom(asked, path, { do: 'remove' }), `${path}?done=announcement-removed`)
  assert.deepEqual([(await settings()).announcement, (await settings()).announcement_start], [null, null])
})

test('an announcement is Markdown with a severity and a link; the preview shows what is typed', async () => {
  const path = '/operator/announcement'
  const form = await operator.get(path)
  const announcement = `**Tea** [at five](https://tea.example)\r\n\r\n- Cake ${HOSTILE}`
  const fields = { announcement, announcement_severity: 'warning', announcement_link: 'https://status.example/now' }
  const preview = await operator.sendFrom(form, path, { ...fields, do: 'preview' })
  assertSays(preview, 200, '<strong>Tea</strong>')
  assertSays(preview, 200, 'There is no announcement.')
  assert.equal((await instance()).announcement, null)
  for (const [name, value, said] of [
    ['announcement_link', 'http://status.example', 'The link must'],
    ['announcement_link', '//status.example', 'The link must'],
    ['announcement_severity', 'loud', 'The severity must'],
    ['announcement', 'x'.repeat(1001), 'The announcement must'],
    ['announcement', 'a\u202eb', 'The announcement must not contain control characters'],
  ] as const)
    assertSays(await operator.sendFrom(form, path, { ...fields, [name]: value }), 400, said)
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=saved`)
  const { announcement_severity, announcement_link } = await instance()
  assert.deepEqual([announcement_severity, announcement_link], ['warning', 'https://status.example/now'])
  const page = await visitor(t).get('/')
  assertValidHtml(page.body)
  const shown = /<aside class="announcement warning"[\s\S]*?<\/aside>/.exec(page.body)?.[0] ?? ''
  for (const part of ['Warning', '<strong>Tea</strong>', '<li>Cake', 'href="https://status.example/now"'])
    assert.ok(shown.includes(part), part)
  assert.ok(!page.body.includes(HOSTILE))
})

test('a visitor hides an announcement without scripts, until its text changes; a critical one stays', async () => {
  const set = (body: object) => t.as(admin).patch('/_internal/admin/settings', body)
  await set({ announcement: 'Tea at five', announcement_severity: 'info' })
  const guest = visitor(t)
  const shows = async (who = guest, path = '/?hidden') => (await who.get(path)).body.includes('class="announcement')
  assert.equal(await shows(), true)
  assertLeads(await guest.sendFrom(await guest.get('/rules'), '/preferences'), '/rules')
  assert.deepEqual([await shows(), await shows(visitor(t))], [false, true], 'the page of other visitors is unchanged')
  assert.equal(await shows(), false, 'also from the cache')
  await set({ announcement_severity: 'critical' })
  assert.equal(await shows(), true)
  assert.doesNotMatch((await guest.get('/')).body, /name="announcement"/)
  await set({ announcement: 'Tea at six', announcement_severity: 'warning' })
  assert.equal(await shows(), true)
  await guest.post('/preferences', { announcement: 'x'.repeat(12) })
  assert.equal(await shows(), true)
  await set({ announcement: null, announcement_severity: null, announcement_link: null })
})

test('read-only mode begins after a confirmation and ends on its page', async () => {
  const path = '/operator/read-only'
  assertSays(await operator.get(path), 200, 'Read-only mode is off.')
  const begin = `${path}/begin`
  const form = await operator.get(begin)
  assertSays(await operator.sendFrom(form, begin, { read_only_message: 'two\nlines', do: 'confirm' }), 400, 'one line')
  assertLeads(
    await operator.sendFrom(form, begin, { read_only_message: 'Back at six', do: 'confirm' }),
    `${path}?done=read-only-on`,
  )
  assert.equal((await instance()).read_only, true)
  const shown = await operator.get(path)
  assertSays(shown, 200, 'Back at six')
  assertSays(shown, 200, 'an open session')
  assertSays(shown, 200, `/operator/user/${admin.id}`)
  assertLeads(await operator.sendFrom(shown, path, { do: 'end' }), `${path}?done=read-only-off`)
  assert.equal((await instance()).read_only, false)
  await t.as(admin).patch('/_internal/admin/settings', { read_only_message: null })
})
