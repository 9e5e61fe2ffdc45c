// Every page of the public site in a real browser: wide and narrow, light and dark, with scripts and without.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCatalogue } from '#features/seed/seed-catalogue.ts'
import { checkAccess, newPerson, openSite, type Site, shoot } from '../support/chromium.ts'

let site: Site
let paths: [name: string, path: string][]
before(async () => {
  site = await openSite()
  await seedCatalogue(site.t.deps, 120)
  await site.t.searchable()
  const found = await fetch(
    `${site.url}/v3/search?index=downloads&limit=1&new_filters=${encodeURIComponent('project_types = mod')}`,
    {
      headers: { 'user-agent': 'browser-tests' },
    },
  ).then(
    async (answer) =>
      (await answer.json()) as { hits: Record<'slug' | 'version_id' | 'author' | 'author_id', string>[] },
  )
  const [hit] = found.hits
  assert.ok(hit !== undefined)
  const project = `/mod/${hit.slug}`
  const organization = await site.t.deps.db
    .selectFrom('organization')
    .select('slug')
    .orderBy('id')
    .executeTakeFirstOrThrow()
  const collection = await site.t.deps.db
    .selectFrom('collection')
    .select('id')
    .where('status', '=', 'listed')
    .orderBy('id')
    .executeTakeFirstOrThrow()
  paths = [
    ['home', '/'],
    ['list', '/mods'],
    ['search', '/search?q=a&sort=downloads&c=-magic'],
    ['nothing', '/mods?q=qqqqqqqqqqqqq&c=magic'],
    ['project', project],
    ['gallery', `${project}/gallery`],
    ['versions', `${project}/versions`],
    ['version', `${project}/version/${hit.version_id}`],
    ['changelog', `${project}/changelog`],
    ['dependencies', `${project}/dependencies`],
    ['used-by', `${project}/used-by`],
    ['user', `/user/${hit.author}`],
    ['organization', `/organization/${organization.slug}`],
    ['collection', `/collection/${collection.id}`],
    ['absent', '/mod/does-not-exist'],
  ]
})
after(() => site?.close())

const LOOKS = [
  { name: 'wide-light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'wide-dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'narrow-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'narrow-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

for (const { name, ...look } of LOOKS) {
  test(`every page is readable by everybody and fits its window (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, { javaScriptEnabled: true, ...look })
    for (const [what, path] of paths) {
      const answer = await page.goto(`${site.url}${path}`)
      assert.equal(answer?.status(), what === 'absent' ? 404 : 200, path)
      await shoot(page, `${what}-${name}`)
      await checkAccess(page)
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      assert.equal(await page.evaluate(overflow), false, path)
    }
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('404')),
      [],
    )
    await context.close()
  })
}
