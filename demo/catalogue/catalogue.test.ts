import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { demoEvents } from '#demo/catalogue/events.ts'
import { createRandom } from '#demo/catalogue/random.ts'
import {
  characterCount,
  checkHttpsUrl,
  PROJECT_SLUG,
  textProblem,
  USERNAME,
  VERSION_NUMBER,
} from '#lib/text/text-rules.ts'
import { isOpenSource, parseLicense } from '#taxonomy/licenses.ts'
import { checkLoaderFields } from '#taxonomy/loader-fields.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { checkCategories, checkLoaders, loadTaxonomy, projectTypesOf } from '#taxonomy/taxonomy.ts'

const { taxonomy } = loadTaxonomy()
const until = new Date('2025-09-01T00:00:00Z')
const catalogue = demoCatalogue({ taxonomy, projects: 1500, seed: 7, until })
const projects = [...catalogue.projects]

test('the same seed gives the same catalogue, another seed another, and a longer one begins like a shorter one', () => {
  const names = (seed: number, count: number) =>
    [...demoCatalogue({ taxonomy, projects: count, seed, until }).projects].map((project) => project.name)
  const again = demoCatalogue({ taxonomy, projects: 1500, seed: 7, until })
  assert.deepEqual([...again.projects].slice(0, 100), projects.slice(0, 100))
  assert.deepEqual([...again.projects].length, 1500, 'can be walked twice')
  assert.notDeepEqual(names(8, 50), names(7, 50))
  assert.deepEqual(names(7, 50), names(7, 200).slice(0, 50))
})

test('slugs and usernames are unique without regard to case, and of the right form', () => {
  const unique = (list: string[]) => assert.equal(new Set(list.map((item) => item.toLowerCase())).size, list.length)
  unique(projects.map((project) => project.slug))
  unique(catalogue.people.map((person) => person.username))
  unique(catalogue.organizations.map((organization) => organization.slug))
  for (const project of projects) assert.match(project.slug, PROJECT_SLUG)
  for (const person of catalogue.people) assert.match(person.username, USERNAME)
  for (const organization of catalogue.organizations) assert.match(organization.slug, /^[a-z0-9-]{3,64}$/)
})

test('every project keeps the limits of text, tags, licence and links', () => {
  for (const project of projects) {
    const problems = [
      textProblem(project.name, { min: 3, max: 64, visible: true }),
      textProblem(project.summary, { min: 3, max: 255, visible: true }),
      textProblem(project.description, { min: 200, max: 65536 }),
    ]
    assert.deepEqual(problems, [undefined, undefined, undefined], project.slug)
    assert.ok(project.categories.length >= 1 && project.categories.length <= 3)
    checkCategories(taxonomy, [...project.categories, ...project.additionalCategories])
    assert.equal(parseLicense(project.licenseId), project.licenseId)
    for (const [platform, url] of Object.entries(project.links)) {
      assert.ok(taxonomy.linkPlatforms.has(platform))
      checkHttpsUrl(url, platform)
    }
  }
})

test('every version keeps the rules of its loaders and of its numbers, and no date is later than the end', () => {
  for (const project of projects) {
    assert.ok(project.versions.length >= 1)
    assert.equal(new Set(project.versions.map((version) => version.number)).size, project.versions.length)
    assert.equal(
      project.versions.reduce((sum, version) => sum + version.downloads, 0),
      project.downloads,
    )
    for (const version of project.versions) {
      assert.match(version.number, VERSION_NUMBER)
      assert.ok(characterCount(version.name) <= 64)
      assert.deepEqual(checkLoaders(taxonomy, version.loaders), version.loaders)
      assert.deepEqual(projectTypesOf(taxonomy, version.loaders), [project.projectType])
      assert.deepEqual(checkLoaderFields(taxonomy, version.loaders, version.fields), version.fields)
      assert.ok(version.published >= project.published && version.published <= until)
      assert.match(version.fileName, /^[a-z0-9-]+-[A-Za-z0-9._+-]+\.(jar|zip|mrpack)$/)
    }
  }
})

test('dependencies point to earlier projects, each once', () => {
  const seen = new Set<string>()
  let count = 0
  for (const project of projects) {
    const slugs = project.versions.at(-1)?.dependencies.map((dependency) => dependency.slug) ?? []
    assert.equal(new Set(slugs).size, slugs.length)
    for (const slug of slugs) assert.ok(seen.has(slug))
    count += slugs.length
    seen.add(project.slug)
  }
  assert.ok(count > 500)
})

test('dates are consistent: users are older than their projects, and nothing depends on later events', () => {
  const joined = new Map(catalogue.people.map(({ username, created }) => [username, created]))
  const founded = new Map(catalogue.organizations.map(({ slug, created }) => [slug, created]))
  const published = new Map(projects.map((project) => [project.slug, project.published]))
  const isBefore = (date: Date | undefined, other: Date): boolean => date !== undefined && date <= other
  for (const organization of catalogue.organizations) {
    for (const username of [organization.owner, ...organization.members.map((member) => member.username)])
      assert.ok(isBefore(joined.get(username), organization.created), organization.slug)
    assert.ok(organization.created <= until)
  }
  for (const project of projects) {
    assert.ok(isBefore(joined.get(project.owner), project.published), project.slug)
    if (project.organization !== null) assert.ok(isBefore(founded.get(project.organization), project.published))
    for (const version of project.versions) {
      for (const { slug } of version.dependencies) assert.ok(isBefore(published.get(slug), version.published))
    }
  }
})

test('the publisher has a handful of projects that people use, and the moderator none', () => {
  const [publisher, moderator] = catalogue.people.map(({ username }) => username)
  const owned = projects.filter((project) => project.owner === publisher && project.organization === null)
  assert.deepEqual(owned.flatMap(({ status }) => (status === 'approved' ? [] : [status])).sort(), [
    'draft',
    'rejected',
    'scheduled',
  ])
  const own = owned.filter(({ status }) => status === 'approved')
  assert.equal(own.length, 8)
  assert.ok(own.every((project) => project.hasIcon && project.gallery === 4 && project.downloads >= 4000))
  assert.ok(!projects.some((project) => project.owner === moderator))
  assert.equal(catalogue.organizations[0]?.owner, publisher)
})

test('teams consist of catalogue users, and no user exceeds a quota', () => {
  const people = new Set(catalogue.people.map((person) => person.username))
  const owned = new Map<string, number>()
  const owners = new Map(catalogue.organizations.map((organization) => [organization.slug, organization.owner]))
  for (const project of projects) {
    assert.ok(people.has(project.owner))
    assert.ok(project.members.every((member) => people.has(member.username) && member.username !== project.owner))
    if (project.organization !== null) assert.equal(owners.get(project.organization), project.owner)
    owned.set(project.owner, (owned.get(project.owner) ?? 0) + 1)
  }
  assert.ok(Math.max(...owned.values()) <= 200)
  const few = demoCatalogue({ taxonomy, projects: 1, seed: 1, until })
  assert.equal([...few.projects].length, 1)
})

test('downloads have a long tail, and the catalogue is varied', () => {
  const downloads = projects.map((project) => project.downloads).sort((a, b) => b - a)
  const total = downloads.reduce((a, b) => a + b, 0)
  const topTenth = downloads.slice(0, 150).reduce((a, b) => a + b, 0)
  assert.ok(topTenth / total > 0.8, 'a tenth of the projects has most of the downloads')
  assert.ok((downloads[750] ?? 0) < 1000)
  assert.ok(projects.every((project) => project.follows <= project.downloads))
  const types = new Set(projects.map((project) => project.projectType))
  assert.deepEqual([...types].sort(), [...taxonomy.projectTypes].sort())
  for (const pattern of [/'/, /-/, /\d/, /^[A-Z]{3} \(/, /[^\p{ASCII}]/u, /[\p{Script=Han}\p{Script=Hangul}]/u])
    assert.ok(
      projects.some((project) => pattern.test(project.name)),
      String(pattern),
    )
  assert.ok(projects.some((project) => isOpenSource(project.licenseId)))
  assert.ok(projects.some((project) => project.status === 'archived'))
  assert.ok(projects.some((project) => project.organization !== null))
  for (const part of [/^# /, /```toml/, /- \[x\]/, /\{picture\}/, /<details>/, /\]\(\/project\//])
    assert.ok(
      projects.some((project) => part.test(project.description)),
      String(part),
    )
})

test('even a small demo has a project of every state, and spreads its projects across authors', () => {
  const few = [...demoCatalogue({ taxonomy, projects: 40, seed: 1, until }).projects]
  const states = new Set(few.map(({ status }) => status))
  for (const status of PROJECT_STATUSES) if (status !== 'unknown') assert.ok(states.has(status), status)
  const public120 = [...demoCatalogue({ taxonomy, projects: 120, seed: 1, until }).projects].filter(
    ({ status }) => status === 'approved',
  )
  const owned = Map.groupBy(public120, ({ owner }) => owner)
  assert.ok(owned.size >= 25, `${owned.size} authors`)
  assert.ok(Math.max(...[...owned.values()].map((list) => list.length)) <= 8)
})

test('the downloads of the last months are a plausible part of the counter, and no version has more than its own', () => {
  for (const [index, project] of projects.slice(0, 40).entries()) {
    if (project.downloads < 100) continue
    const versionIds = project.versions.map((_, n) => `v${n}`)
    const { downloads } = demoEvents(createRandom(7, index), { project, projectId: 'p', versionIds, until })
    const days = Math.max(1, (until.getTime() - project.published.getTime()) / 86_400_000)
    const expected = project.downloads * Math.min(1, 120 / days)
    assert.ok(downloads.length > 0.4 * expected, `${project.slug}: ${downloads.length} of ${expected}`)
    assert.ok(downloads.length <= 1.6 * expected + 30, `${project.slug}: ${downloads.length} of ${expected}`)
    for (const [n, version] of project.versions.entries())
      assert.ok(downloads.filter(({ version_id }) => version_id === `v${n}`).length <= version.downloads)
  }
})

test('numbers of projects that make no sense are rejected', () => {
  for (const count of [-1, 1.5, Number.NaN, 1_000_001])
    assert.throws(() => demoCatalogue({ taxonomy, projects: count, seed: 1, until }), RangeError)
  assert.deepEqual([...demoCatalogue({ taxonomy, projects: 0, seed: 1, until }).projects], [])
})
