// Requests for the tests of all operations.
import { asPng, galleryUrl } from '#features/catalogue/projects/samples.test.ts'
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { PNG } from '#test/support/http/forms.ts'

const aDownload = async (w: World) => ({
  url: `/data/${await w.id('project')}/versions/${await w.id('version')}/${await w.id('filename')}`,
  ip: '192.0.2.1',
})
const iconUrl = async (w: World): Promise<string> => {
  const path = `/v3/project/${await w.id('project')}`
  const owner = w.t.as(await w.person('owner'))
  await owner.patch(`${path}/icon`, PNG, asPng)
  return (await owner.get(path)).json().icon_url
}
/** Creates a public version with a modpack. Returns its ID. */
async function aModpack({ t }: World): Promise<string> {
  const index = { game: 'minecraft', formatVersion: 1, versionId: '1', name: 'Pack', files: [], dependencies: {} }
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['mrpack'] })
  const entries = [
    { name: 'modrinth.index.json', data: JSON.stringify(index) },
    { name: 'overrides/a.txt', data: version.id },
  ]
  await t.make.file({ project, version, bytes: makeZip(entries), filename: 'pack.mrpack' })
  return version.id
}
const partOf = (url: string, index: number): string => url.split('/').at(index) ?? ''

export const SAMPLES: Record<string, Sample> = {
  downloadFile: { at: { project_id: 'project', filename: 'filename' } },
  getPicture: {
    at: { folder: async (w) => partOf(await iconUrl(w), -2), picture: async (w) => partOf(await iconUrl(w), -1) },
  },
  getGalleryPicture: {
    at: { folder: async (w) => partOf(await galleryUrl(w), -3), picture: async (w) => partOf(await galleryUrl(w), -1) },
  },
  downloadCollectionArchive: {
    before: async ({ t, id }) => {
      await id('version')
      const row = { collection_id: await id('collection'), project_id: await id('project'), position: 0 }
      const query = t.deps.db.insertInto('collection_project').values(row)
      return query.onConflict((conflict) => conflict.doNothing()).execute()
    },
  },
  downloadVersionServer: { at: { id: aModpack } },
  countDownloads: { body: async (w) => ({ downloads: [await aDownload(w)] }) },
  countDownload: { body: aDownload },
}
