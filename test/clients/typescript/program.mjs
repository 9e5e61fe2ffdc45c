// The official TypeScript client: an editor's session.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { AuthFeature, GenericModrinthClient } from '@modrinth/api-client'

const { DEPOT_URL, DEPOT_TOKEN, DEPOT_PROJECT, DEPOT_VERSION, DEPOT_SHA1, DEPOT_PICTURE } = process.env
const { labrinth } = new GenericModrinthClient({
  userAgent: 'depot-tests/1.0',
  labrinthBaseUrl: DEPOT_URL,
  features: [new AuthFeature({ token: DEPOT_TOKEN })],
})

const project = await labrinth.projects_v2.get(DEPOT_PROJECT)
assert.deepEqual([project.project_type, project.versions], ['mod', [DEPOT_VERSION]])
assert.equal((await labrinth.projects_v2.check(project.slug)).id, project.id)
assert.equal((await labrinth.projects_v2.getMultiple([project.id, project.slug])).length, 1)
assert.equal((await labrinth.projects_v3.getMembers(project.id)).length, 1)
const found = await labrinth.projects_v2.search({ query: project.title, facets: [['project_type:mod']], limit: 5 })
assert.equal(found.hits[0].project_id, project.id)
assert.equal((await labrinth.versions_v2.getVersion(DEPOT_VERSION)).project_id, project.id)
const listed = await labrinth.versions_v2.getProjectVersions(project.id, {
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
})
assert.deepEqual(
  listed.map(({ id }) => id),
  [DEPOT_VERSION],
)
assert.equal((await labrinth.versions_v2.getVersionFromFileHash(DEPOT_SHA1, 'sha1')).id, DEPOT_VERSION)
assert.ok((await labrinth.tags_v2.getLicenseText('MIT')).body.length > 0)

await labrinth.projects_v2.edit(project.id, {
  title: 'By TypeScript',
  client_side: 'required',
  server_side: 'optional',
})
const edited = await labrinth.projects_v2.get(project.id)
assert.deepEqual([edited.title, edited.client_side, edited.server_side], ['By TypeScript', 'required', 'optional'])
const picture = new Blob([readFileSync(DEPOT_PICTURE)], { type: 'image/png' })
await labrinth.projects_v2.createGalleryImage(project.id, picture, { ext: 'png', featured: true, title: 'Dusk' })
const [shown] = (await labrinth.projects_v2.get(project.id)).gallery
assert.equal(shown.title, 'Dusk')
await labrinth.projects_v2.editGalleryImage(project.id, shown.url, { featured: false, title: 'Dawn' })
await labrinth.projects_v2.deleteGalleryImage(project.id, shown.url)
await labrinth.projects_v3.changeIcon(project.id, picture, 'png')
await labrinth.projects_v2.bulkEdit([project.id], { add_categories: ['magic'], issues_url: 'https://example.org/i' })
const after = await labrinth.projects_v2.get(project.id)
assert.deepEqual([after.categories, after.gallery, after.issues_url], [['magic'], [], 'https://example.org/i'])
assert.notEqual(after.icon_url, null)
await labrinth.versions_v3.modifyVersion(DEPOT_VERSION, { changelog: 'By TypeScript.' })
const pats = await labrinth.pats_v2.list()
assert.equal(pats[0].name, 'test token')
