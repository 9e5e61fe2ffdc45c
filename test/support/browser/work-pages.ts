// Pages for publishers, with the data that they show, for the browser tests.
import sharp from 'sharp'
import type { Person } from '../factories/factories.ts'
import type { Site } from './chromium.ts'
import type { SitePage } from './site-pages.ts'

/** Makes a project with a gallery, its owner, and a member without permissions. */
export async function makeWorkPages(site: Site): Promise<{ pages: SitePage[]; owner: Person; reader: Person }> {
  const { t } = site
  const owner = await t.make.account({ username: 'ida-marsh' })
  const reader = await t.make.account({ username: 'hollis' })
  const project = await t.make.project({ owner, slug: 'lantern-of-the-deep', name: 'Lantern of the deep' })
  await t.make.member({ teamId: project.teamId, accountId: reader.id, permissions: 0 })
  await t.make.version({ project, version_number: '1.0.0' })
  for (const [ordering, red] of [20, 140, 230].entries()) {
    const background = { r: red, g: 120, b: 90 }
    const bytes = await sharp({ create: { width: 480, height: 270, channels: 3, background } })
      .png()
      .toBuffer()
    await t.as(owner).post(`/v3/project/${project.id}/gallery`, bytes, {
      query: { ext: 'png', ordering, title: 'A cave', featured: ordering === 0 },
      headers: { 'content-type': 'image/png' },
    })
  }
  const settings = '/mod/lantern-of-the-deep/settings'
  const at = (name: string, operation: string, path: string): SitePage => ({ name, operation, path, isSignedIn: true })
  const pages = [
    at('general', 'manageGeneral', settings),
    at('saved', 'manageGeneral', `${settings}?done=saved`),
    at('description', 'manageDescription', `${settings}/description`),
    at('tags', 'manageTags', `${settings}/tags`),
    at('links', 'manageLinks', `${settings}/links`),
    at('members', 'manageMembers', `${settings}/members`),
    at('visibility', 'manageVisibility', `${settings}/visibility`),
    at('organization-settings', 'manageOrganization', `${settings}/organization`),
    at('transfer', 'manageTransfer', `${settings}/transfer`),
    at('deletion', 'manageDeletion', `${settings}/delete`),
    at('gallery-settings', 'manageGallery', `${settings}/gallery`),
  ]
  return { pages, owner, reader }
}
