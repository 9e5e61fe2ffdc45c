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
    ...(await makeGroupPages(site, { owner, reader })),
    at('gallery-settings', 'manageGallery', `${settings}/gallery`),
  ]
  return { pages, owner, reader }
}

const at = (name: string, operation: string, path: string): SitePage => ({ name, operation, path, isSignedIn: true })

/** Creates an organization with members and projects, an invitation to another one, and collections. */
async function makeGroupPages({ t }: Site, { owner, reader }: { owner: Person; reader: Person }): Promise<SitePage[]> {
  const send = async (by: Person, path: string, body: object = {}): Promise<{ id: string; team_id: string }> => {
    const answer = await t.as(by).post(path, body)
    if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.body}`)
    return answer.statusCode === 204 ? { id: '', team_id: '' } : answer.json()
  }
  const description = 'We make lamps, lanterns and everything else that shines in the dark.'
  const { id: organization_id, team_id } = await send(owner, '/v3/organization', {
    name: 'Makers of lanterns',
    slug: 'lanterns',
    description,
  })
  const invite = { permissions: 13, organization_permissions: 16, role: 'Art' }
  const invitee = await t.make.account({ username: 'tide-and-tow-of-the-northern-sea-shore' })
  for (const person of [reader, await t.make.account({ username: 'moth-owl' }), invitee]) {
    await send(owner, `/v3/team/${team_id}/members`, { user_id: person.id, ...invite })
    if (person !== invitee) await send(person, `/v3/team/${team_id}/join`)
  }
  const inviter = await t.make.account({ username: 'fair-winds' })
  const other = await send(inviter, '/v3/organization', { name: 'Fair winds', slug: 'fair-winds', description })
  await send(inviter, `/v3/team/${other.team_id}/members`, { user_id: owner.id })

  const names = [
    'Glow squid lamp',
    'Hearth and forage',
    'A very long name that does not fit in one line of a narrow window',
  ]
  const projects: string[] = []
  for (const [index, name] of names.entries()) {
    const project = await t.make.project({
      owner,
      slug: `group-${index}`,
      name,
      ...(index === 2 ? {} : { organization_id }),
    })
    await t.make.version({
      project,
      version_number: `${index}.2.0`,
      game_versions: [index === 0 ? '1.20.1' : '1.21.8'],
    })
    projects.push(project.id)
  }
  const name = 'Lights for long winter nights'
  const { id: collection } = await send(owner, '/v3/collection', { name, description: 'All that shines', projects })
  await send(owner, '/v3/collection', { name: 'Empty for now' })
  await t.searchable()
  const settings = '/organization/lanterns/settings'
  return [
    at('organizations', 'ownOrganizations', '/dashboard/organizations'),
    at('new-organization', 'publishNewOrganization', '/new/organization'),
    at('organization-general', 'manageOrganizationGeneral', settings),
    at('organization-members', 'manageOrganizationMembers', `${settings}/members`),
    at('organization-projects', 'manageOrganizationProjects', `${settings}/projects`),
    at('organization-deletion', 'manageOrganizationDeletion', `${settings}/delete`),
    at('collections', 'ownCollections', '/dashboard/collections'),
    at('new-collection', 'publishNewCollection', '/new/collection'),
    at('collection-editor', 'manageCollection', `/collection/${collection}/edit?find=lantern`),
    at('collection-deletion', 'manageCollectionDeletion', `/collection/${collection}/delete`),
  ]
}
