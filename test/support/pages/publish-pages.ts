// The dashboard of a publisher whose projects are in every state, new projects, reviews, and the pages of versions.
import assert from 'node:assert/strict'
import { randomBase62 } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import { makeZip } from '../factories/archives.ts'
import type { MadeProject, Person } from '../factories/factories.ts'
import { form, projectData } from '../http/forms.ts'
import { metadata } from '../http/tus-requests.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import type { WorkPeople } from './work-pages.ts'

const LONG = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-of-a-mod'

/** The archive of a mod that declares its number and two dependencies, and has one class per number. */
export const declaringJar = (version: string): Buffer =>
  makeZip([
    {
      name: 'fabric.mod.json',
      data: JSON.stringify({
        id: 'lantern',
        version,
        depends: { minecraft: '1.20.1', 'fabric-api': '*', yet_another_config_lib_v3: '*' },
      }),
    },
    { name: `ida/Lantern${version}.class`, data: version },
  ])

export async function makePublishPages(t: TestApp, people: WorkPeople): Promise<ShownPage[]> {
  await makeDrafts(t, people)
  const { draft, version, hash } = await makeVersions(t, people.owner)
  const at = pagesOf(people.owner)
  const upload = '/mod/lantern/versions/new'
  return [
    at('dashboard', 'publishDashboard', '/dashboard'),
    at('projects', 'publishProjects', '/dashboard/projects'),
    at('uploads', 'publishUploads', '/dashboard/uploads'),
    at('chooser', 'publishChooser', '/dashboard/publish'),
    at('new-project', 'publishNewProject', '/new/project'),
    at('draft', 'manageGeneral', '/mod/driftwood/settings'),
    at('review-draft', 'publishReview', '/mod/driftwood/settings/review'),
    at('review-waiting', 'publishReview', '/mod/hearth/settings/review'),
    at('review-rejected', 'publishReview', '/mod/tidepool/settings/review'),
    at('upload', 'publishVersion', upload),
    at('upload-draft', 'publishVersion', `${upload}?draft=${draft}`),
    at('version-edit', 'manageVersion', `/mod/lantern/version/${version}/edit`),
    at('version-withdraw', 'manageVersionWithdrawal', `/mod/lantern/version/${version}/withdraw`),
    at('version-delete', 'manageVersionDeletion', `/mod/lantern/version/${version}/delete`),
    at('file-delete', 'manageVersionFileDeletion', `/mod/lantern/version/${version}/file/${hash}/delete`),
  ]
}

/** Creates a draft, a project under review, a rejected project and an invitation. */
async function makeDrafts(t: TestApp, { owner, moderator }: WorkPeople): Promise<void> {
  const create = async (slug: string, fields: Record<string, unknown> = {}): Promise<string> => {
    const made = await t.as(owner).post('/v3/project', projectData(slug, { project_type: 'mod', ...fields }))
    assert.equal(made.statusCode, 201, made.body)
    return made.json().id
  }
  const set = async (who: Person, id: string, body: object): Promise<void> => {
    const answer = await t.as(who).patch(`/v3/project/${id}`, body)
    assert.equal(answer.statusCode, 204, answer.body)
  }
  await create('driftwood', { name: 'Driftwood', description: '', license_decided: false })
  for (const slug of ['hearth', 'tidepool']) {
    const id = await create(slug, { name: slug === 'hearth' ? 'Hearth & Forage' : LONG })
    await t.make.version({ project: { id, owner } as MadeProject, game_versions: ['1.21.8'] })
    await set(owner, id, { status: 'processing' })
    if (slug === 'tidepool') {
      const moderation_message = 'The image on the cards is from another mod. Please use your own or credit its author.'
      await set(moderator, id, { status: 'rejected', moderation_message })
    }
  }
  const invited = await t.make.project({ name: 'Fair Winds' })
  const invitation = { user_id: owner.id, role: 'Painter', permissions: 0, payouts_split: 0 }
  await t.as(invited.owner).post(`/v3/team/${invited.teamId}/members`, invitation)
}

/** Creates versions in every state; returns a draft, a listed version and the hash of its second file. */
async function makeVersions(t: TestApp, owner: Person) {
  const project = await t.make.project({ owner, name: 'Lantern', slug: 'lantern' })
  const library = await t.make.project({ name: 'Wick Library' })
  const dependency = { project_id: library.id, dependency_type: 'required' } as const
  const version = await t.make.version({ project, version_number: '1.0.0', name: 'Lantern 1.0.0' })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: version.id, ...dependency })
    .execute()
  await t.make.file({ project, version, bytes: declaringJar('1.0.0'), filename: 'lantern-1.0.0.jar' })
  const second = { bytes: Buffer.from('sources'), filename: 'lantern-1.0.0-sources.jar', primary: false }
  const { sha512 } = await t.make.file({ project, version, ...second })
  const { id } = await t.make.version({ project, version_number: '2.0.0', status: 'unknown' })
  await t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: id,
      state: 'quarantine',
      reason: 'Contains a password-protected archive.',
      next_attempt: new Date(),
      requested: new Date(),
    })
    .execute()
  const { payload, headers } = await form({ project_id: project.id, status: 'draft', dependencies: [dependency] }, [
    { name: 'file', filename: 'lantern-3.0.0.jar', bytes: declaringJar('3.0.0') },
  ])
  const draft = await t.as(owner).post('/v3/version', payload, { headers })
  assert.equal(draft.statusCode, 201, draft.body)
  await makeWaiting(t, owner, draft.json().id)
  return { draft: draft.json().id as string, version: version.id, hash: sha512 }
}

/** Begins two uploads that the draft names, of which one has arrived. */
async function makeWaiting({ deps }: TestApp, owner: Person, versionId: string): Promise<void> {
  const upload = (filename: string, length: number, received: number) => ({
    id: randomBase62(22),
    account_id: owner.id,
    metadata: metadata(filename)['upload-metadata'],
    version_id: versionId,
    expires: new Date(deps.now() + DAY_MS),
    length,
    received,
  })
  const uploads = [
    upload(`${LONG}-3.0.0-dev.jar`, 64_000_000, 21_500_000),
    upload('lantern-3.0.0-sources.jar', 9000, 9000),
  ]
  await deps.db.insertInto('upload').values(uploads).execute()
}
