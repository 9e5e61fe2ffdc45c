// The form for a new project: drafts, similar names, the suggested URL, owners, errors.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())
const person = await t.make.account()

const PATH = '/new/project'
const FIELDS = {
  name: 'Glowstone Lamps',
  slug: '',
  project_type: 'shader',
  summary: 'Lamps that glow.',
  license_id: 'later',
  requested_status: 'unlisted',
  do: 'create',
}

test('visitors are led to the sign-in page', async () => {
  assertLeads(await visitor(t).get(PATH), `/account/sign-in?return=${encodeURIComponent(PATH)}`)
})

test('the form creates a draft with a URL from its name, and leads to its description', async () => {
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  assertSays(page, 200, 'Create draft')
  assertValidHtml(page.body)
  const path = assertLeads(
    await browser.sendFrom(page, PATH, FIELDS),
    '/shader/glowstone-lamps/settings/description?done=created',
  )
  const review = await browser.get(path)
  assertSays(review, 200, 'The draft was created')
  assertValidHtml(review.body)
  const made = (await t.as(person).get('/v3/project/glowstone-lamps')).json()
  assert.deepEqual(
    [made.status, made.requested_status, made.project_types, made.license_decided, made.license.id],
    ['draft', 'unlisted', ['shader'], false, 'LicenseRef-All-Rights-Reserved'],
  )
})

test('the URL follows the name until the user edits it', async () => {
  const browser = visitor(t, (await t.make.account()).token)
  const send = (page: Awaited<ReturnType<typeof browser.get>>, fields: object) => {
    const suggested = /name="suggested" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    const slug = /name="slug"[^>]*value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    return browser.sendFrom(page, PATH, { ...FIELDS, suggested, slug, ...fields })
  }
  const checked = await send(await browser.get(PATH), { name: 'Quartz Oven', do: 'check' })
  assertSays(checked, 200, 'value="quartz-oven"')
  const renamed = await send(checked, { name: 'Basalt Kiln', do: 'check' })
  assertSays(renamed, 200, 'value="basalt-kiln"')
  // A rejected form keeps a URL that was edited, and no URL of a name that was rejected.
  assertSays(await send(renamed, { name: 'Marble Vase', slug: 'my-own-vase', do: 'check' }), 200, 'value="my-own-vase"')
  const rejected = await send(renamed, { name: 'No', do: 'create' })
  assert.equal(rejected.statusCode, 400)
  assertLeads(
    await send(rejected, { name: 'Tuff Bench', do: 'create' }),
    '/shader/tuff-bench/settings/description?done=created',
  )
})

test('checking a name lists similar projects, suggests a free URL and keeps what was entered', async () => {
  const hostile = 'Vermilion"><script>alert(1)</script>'
  await t.make.project({ name: 'Vermilion Keep', slug: 'vermilion-keep' })
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  const checked = await browser.sendFrom(page, PATH, {
    ...FIELDS,
    name: 'Vermilion Keeps',
    summary: hostile,
    do: 'check',
  })
  assertSays(checked, 200, 'Vermilion Keep</bdi></a> by')
  assertSays(checked, 200, 'similar letters, same words')
  assertSays(checked, 200, 'value="vermilion-keeps"')
  assertValidHtml(checked.body)
  assert.ok(!checked.body.includes('<script>alert'))
  assert.match(checked.body, /value="shader" selected/)
  const same = await browser.sendFrom(page, PATH, { ...FIELDS, name: 'Vermilion Keep', do: 'check' })
  assertSays(same, 200, 'value="vermilion-keep-2"')
  assertSays(
    await browser.sendFrom(page, PATH, { ...FIELDS, name: 'Zzyzx', do: 'check' }),
    200,
    'No project has a similar',
  )
})

test('errors stay next to their fields, and a taken URL comes with one that is free', async () => {
  await t.make.project({ name: 'Amber', slug: 'amber' })
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  const taken = await browser.sendFrom(page, PATH, { ...FIELDS, name: 'Amber', slug: 'amber' })
  assertSays(taken, 409, 'The URL is taken.')
  assertSays(taken, 409, 'amber-2 is available.')
  assertSays(taken, 409, 'value="amber"')
  assertValidHtml(taken.body)
  assertSays(await browser.sendFrom(page, PATH, { ...FIELDS, name: 'x' }), 400, 'href="#name"')
  assertSays(await browser.sendFrom(page, PATH, { ...FIELDS, summary: '' }), 400, 'href="#summary"')
  assertSays(await browser.sendFrom(page, PATH, { ...FIELDS, slug: 'similar' }), 409, 'is reserved')
  assertSays(await browser.sendFrom(page, PATH, { ...FIELDS, license_id: 'Nonsense' }), 400, 'The licence')
  for (const name of ['🏮', 'Ωμέγα', '---'])
    assertSays(await browser.sendFrom(page, PATH, { ...FIELDS, name, do: 'check' }), 200, 'value="project')
})

test('an organization can own the draft if the member may add projects', async () => {
  const make = teamFactories(t.deps.db)
  const organization = await make.organization(person)
  const other = await make.organization(await t.make.account())
  await make.member(other.teamId, person, { organization_permissions: 1 })
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  assert.ok(page.body.includes(organization.id) && !page.body.includes(other.id))
  const made = await browser.sendFrom(page, PATH, { ...FIELDS, name: 'Owned lamps', organization_id: organization.id })
  assertLeads(made, '/shader/owned-lamps/settings/description?done=created')
  const refused = await browser.sendFrom(page, PATH, { ...FIELDS, name: 'Other lamps', organization_id: other.id })
  assertSays(refused, 403, 'You need the permission “Add projects” for this.')
})

test('an unverified email address is explained, and nothing entered is lost', async () => {
  const fresh = await t.make.account({ email_verified: false })
  const browser = visitor(t, fresh.token)
  const page = await browser.get(PATH)
  assertSays(page, 200, 'Verify your email address')
  const refused = await browser.sendFrom(page, PATH, FIELDS)
  assertSays(refused, 403, 'Lamps that glow.')
})
