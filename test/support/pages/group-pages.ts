// An organization with members and projects, an invitation to another one, and collections.
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import type { Person } from '../factories/factories.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import type { WorkPeople } from './work-pages.ts'

export async function makeGroupPages(t: TestApp, { owner, reader }: WorkPeople): Promise<ShownPage[]> {
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
  const pack = await makePack(t, owner)
  const settings = '/organization/lanterns/settings'
  const publisher = { issuer: 'https://gitlab.com', repository: 'lanterns/tools/lamp', workflow: '.gitlab-ci.yml' }
  await send(owner, `/v3/organization/${organization_id}/trusted-publisher`, publisher)
  const accounts = `/v3/organization/${organization_id}/service-accounts`
  const service = await send(owner, accounts, { username: 'lantern-builds' })
  await send(owner, accounts, { username: 'lantern-mirror' })
  const expires = new Date(t.deps.now() + 30 * DAY_MS).toISOString()
  const limits = { addresses: ['192.0.2.0/24'] }
  await send(owner, `${accounts}/${service.id}/tokens`, {
    name: 'Releases',
    scopes: ['VERSION_CREATE'],
    expires,
    limits,
  })
  const at = pagesOf(owner)
  return [
    at('new-project-of-member', 'publishNewProject', '/new/project'),
    at('withdraw-only-version', 'manageVersionWithdrawal', '/mod/group-0/version/0.2.0/withdraw'),
    at('organizations', 'ownOrganizations', '/dashboard/organizations'),
    at('new-organization', 'publishNewOrganization', '/new/organization'),
    at('organization-general', 'manageOrganizationGeneral', settings),
    at('organization-members', 'manageOrganizationMembers', `${settings}/members`),
    at('organization-publishing', 'manageOrganizationPublishing', `${settings}/publishing`),
    at('organization-webhooks', 'manageOrganizationWebhooks', `${settings}/webhooks`),
    at('organization-service-accounts', 'manageServiceAccounts', `${settings}/service-accounts`),
    at('organization-projects', 'manageOrganizationProjects', `${settings}/projects`),
    at('organization-deletion', 'manageOrganizationDeletion', `${settings}/delete`),
    at('collections', 'ownCollections', '/dashboard/collections'),
    at('new-collection', 'publishNewCollection', '/new/collection'),
    at('collection-editor', 'manageCollection', `/collection/${collection}/edit?find=lantern`),
    at('collection-deletion', 'manageCollectionDeletion', `/collection/${collection}/delete`),
    at('packs', 'ownPacks', '/dashboard/packs'),
    at('saved-pack', 'siteSavedPack', pack),
    at('pack-settings', 'managePack', `${pack}/edit`),
    at('pack-deletion', 'managePackDeletion', `${pack}/delete`),
  ]
}

/** A pack with two saves. Returns its path. */
async function makePack(t: TestApp, owner: Person): Promise<string> {
  const projects: string[] = []
  for (const name of ['Harbour lamps', 'A name for a mod that is far too long for one line of a narrow window']) {
    const project = await t.make.project({ owner, slug: `packed-${projects.length}`, name })
    const version = await t.make.version({ project, loaders: ['fabric'], game_versions: ['1.20.1'] })
    await t.make.file({ project, version, bytes: Buffer.from(project.id), filename: `${projects.length}.jar` })
    projects.push(project.id)
  }
  const setup = { game_version: '1.20.1', loader: 'fabric', loader_version: '0.15.11' }
  const body = { name: 'Evenings at the harbour', slug: 'evenings', projects: projects.slice(0, 1), ...setup }
  const made = await t.as(owner).post('/v3/pack', body)
  if (made.statusCode !== 201) throw new Error(made.body)
  const { id } = made.json()
  await t.as(owner).patch(`/v3/pack/${id}`, { projects, status: 'unlisted' })
  const { username } = (await t.anyone.get(`/v3/user/${owner.id}`)).json()
  return `/pack/${username}/evenings`
}
