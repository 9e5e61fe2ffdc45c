// The queue and the reviews of a first and a repeated submission, with archives whose names are hostile.
import assert from 'node:assert/strict'
import type { TestApp } from '../app/test-app.ts'
import { makeZip } from '../factories/archives.ts'
import type { MadeProject, Person } from '../factories/factories.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import { LONG_NAME as LONG, type WorkPeople } from './work-pages.ts'

export async function makeModerationPages(t: TestApp, { moderator }: WorkPeople): Promise<ShownPage[]> {
  const owner = await t.make.account({ username: 'quartzine' })
  const edit = async ({ id }: { id: string }, who: Person, fields: object): Promise<void> => {
    const answer = await t.as(who).patch(`/v3/project/${id}`, fields)
    assert.equal(answer.statusCode, 204, answer.body)
  }
  const reply = { topic: 'files', language: 'en', title: 'Sources', body: 'Add the sources of {project}.' }
  assert.equal((await t.as(moderator).post('/_internal/moderation/replies', reply)).statusCode, 201)
  const project = await makeWaiting(t, owner, LONG)
  const old = await addVersion(t, project, '1.0.0', [{ name: 'fabric.mod.json', data: '{"id":1}' }])
  await edit(project, moderator, { status: 'approved' })
  const description = Array.from({ length: 9 }, (_, n) => `Paragraph ${n} of ${LONG}.`).join('\n\n')
  const links = { source: `https://git.example.org/${LONG}` }
  await edit(project, owner, { description, link_urls: links, summary: 'Another summary', status: 'draft' })
  const now = await addVersion(t, project, '1.1.0', [
    { name: 'fabric.mod.json', data: '{"id":2}' },
    { name: `natives/${LONG}/tone.dll`, data: 'x' },
    { name: 'a\u202Egnp.sh', data: 'x' },
  ])
  await edit(project, owner, { status: 'processing' })
  const first = await makeWaiting(t, owner, 'Resonance')
  const appealed = await makeWaiting(t, owner, 'Afterglow')
  await edit(appealed, await t.make.account({ role: 'moderator', username: 'jonquil' }), {
    status: 'rejected',
    moderation_message: 'The texture is from another project.',
  })
  const appeal = {
    body: 'I drew the texture myself, and both projects are mine. The source of it is in the repository.',
  }
  assert.equal((await t.as(owner).post(`/v3/project/${appealed.id}/appeal`, appeal)).statusCode, 204)
  const files = `/moderation/project/${project.id}/files`
  const compared = new URLSearchParams({ version: now, against: old })
  const entries = (await t.as(moderator).get(`/_internal/moderation/versions/${now}/entries`)).json()
  const entry = new URLSearchParams({ version: now, file: entries.files[0].id, path: 'fabric.mod.json' })
  const at = pagesOf(moderator)
  return [
    at('moderation', 'moderationHome', '/moderation'),
    at('queue', 'moderationQueue', '/moderation/queue'),
    at('queue-none', 'moderationQueue', '/moderation/queue?query=nothing'),
    at('review', 'moderationReview', `/moderation/project/${project.id}`),
    at('first-review', 'moderationReview', `/moderation/project/${first.id}`),
    at('appeal-review', 'moderationReview', `/moderation/project/${appealed.id}`),
    pagesOf(owner)('appeal-waiting', 'publishReview', `/mod/${appealed.slug}/settings/review`),
    at('entries', 'moderationEntries', `${files}?${compared}`),
    at('entry', 'moderationEntry', `${files}/entry?${entry}`),
    at('moderate-users', 'moderateAccounts', '/moderation/users'),
    at('moderate-users-error', 'moderateAccounts', '/moderation/users?address_range=here', { status: 400 }),
    at('queue-statistics', 'moderationStatistics', '/moderation/statistics'),
  ]
}

/** Adds a version with a file that has some entries; returns its ID. */
export async function addVersion(
  t: TestApp,
  project: MadeProject,
  number: string,
  entries: { name: string; data: string }[],
): Promise<string> {
  const version = await t.make.version({ project, version_number: number })
  await t.make.file({ version, project, bytes: makeZip(entries), filename: `${LONG}-${number}.jar` })
  return version.id
}

/** Creates a project that waits for its first review. */
export async function makeWaiting(t: TestApp, owner: Person, name: string): Promise<MadeProject> {
  const project = await t.make.project({ owner, name, status: 'processing' })
  await t.make.version({ project, version_number: '0.9.0' })
  await t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', project.id).execute()
  return project
}
