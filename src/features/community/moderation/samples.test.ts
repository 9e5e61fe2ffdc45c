// Requests for the tests of all operations.
import { newId } from '#lib/ids.ts'
import { type Declared, type Sample, send, shows } from '#test/api/operations/sample.ts'
import type { Thing, World } from '#test/api/operations/world.ts'
import { makeZip } from '#test/support/factories/archives.ts'

/** Puts the project into the moderation queue. Returns its ID. */
async function submitProject(w: World): Promise<string> {
  const id = await w.id('project')
  await w.t.deps.db.updateTable('project').set({ status: 'processing' }).where('id', '=', id).execute()
  return id
}
/** Lets the moderator reject the project. Returns its ID. */
async function rejectProject(w: World): Promise<string> {
  const id = await submitProject(w)
  await w.t.as(await w.person('moderator')).patch(`/v3/project/${id}`, { status: 'rejected' })
  return id
}
/** Rejects the project as an operator, and appeals as its owner. Returns its ID. */
async function appealProject(w: World): Promise<string> {
  const id = await submitProject(w)
  await w.t.as(await w.person('admin')).patch(`/v3/project/${id}`, { status: 'rejected' })
  await w.t.as(await w.person('owner')).post(`/v3/project/${id}/appeal`, { body: 'It is mine' })
  return id
}
const savedReply = { topic: 'Licence', language: 'en', title: 'Name the licence', body: 'Please add a licence.' }
const takeDown = async (w: World, body: object) =>
  w.t.as(await w.person('admin')).post('/_internal/moderation/takedown', { reason: 'spam', ...body })
async function takenDown(w: World): Promise<string> {
  const project = await w.t.make.project()
  return (await takeDown(w, { kind: 'project', id: project.id, visibility: 'rejected' })).json().id
}
async function blockedHash(w: World): Promise<string> {
  const project = await w.t.make.project()
  const version = await w.t.make.version({ project })
  const { sha512 } = await w.t.make.file({ project, version, bytes: Buffer.from(project.id) })
  await takeDown(w, { kind: 'file', id: sha512, visibility: 'rejected' })
  return sha512
}
const cleanup = async (w: World) => ({ action: 'spam', users: [(await w.t.make.account()).id], message: 'Advertising' })
async function cleanedUp(w: World): Promise<string> {
  const by = w.t.as(await w.person('moderator'))
  return (await by.post('/_internal/moderation/cleanups', await cleanup(w))).json().id
}
const savedReplies = async ({ t }: World): Promise<string[]> =>
  (await t.deps.db.selectFrom('saved_reply').select('id').execute()).map(({ id }) => id)
/** Adds an archive to the version. Returns the ID of the file. */
const anArchive = async (w: World): Promise<string> => {
  const [version, project] = [{ id: await w.id('version') }, { id: await w.id('project') }]
  const filename = `${newId()}.jar`
  const bytes = makeZip([{ name: 'fabric.mod.json', data: '{}' }])
  return (await w.t.make.file({ version, project, bytes, filename, primary: false })).id
}
const savedReplyView =
  (name?: Thing): Declared['view'] =>
  async (read, world, answer) => {
    const wanted = name === undefined ? answer['id'] : await world.id(name)
    const { replies } = (await read('/_internal/moderation/replies')) as { replies: { id: string }[] }
    return replies.find(({ id }) => id === wanted)
  }
const savedReplyFields = {
  topic: send('Links'),
  language: send('de'),
  title: send('Remove the link'),
  body: send('Please remove the link.'),
}

export const SAMPLES: Record<string, Sample> = {
  listSavedReplies: shows('savedReply'),
  claimProject: { at: { id: submitProject } },
  appealDecision: { at: { id: rejectProject }, body: { body: 'The licence allows this.' } },
  rejectAppeal: { at: { id: appealProject }, body: { message: 'It does not.' } },
  claimNextProject: { body: { project_type: 'mod' } },
  takeDown: {
    body: async (w) => ({ kind: 'project', id: await w.id('project'), reason: 'spam', visibility: 'withheld' }),
  },
  undoTakedown: { at: { id: takenDown } },
  listAccounts: { query: { email_domain: 'example.org', sort: 'seen' } },
  approveAccounts: { body: async (w) => ({ users: [await w.id('owner')] }) },
  cleanUpAccounts: { body: cleanup },
  undoCleanup: { at: { id: cleanedUp } },
  unblockFile: { at: { hash: blockedHash } },
  createSavedReply: { body: savedReply },
  updateSavedReply: { body: { title: 'Another title' } },
  orderSavedReplies: { body: async (w) => ({ ids: await savedReplies(w) }) },
  writeUserNote: { body: { body: 'Known since May', revision: 0 } },
  askOperators: { body: { message: 'Please suspend this account' } },
  getVersionEntry: { query: async (w) => ({ file: await anArchive(w), path: 'fabric.mod.json' }) },
  listProjectsOfFiles: { body: { hashes: ['0'.repeat(128)] } },
}

export const DECLARED: Record<string, Declared> = {
  createSavedReply: { by: 'moderator', view: savedReplyView(), fields: savedReplyFields },
  updateSavedReply: { by: 'moderator', view: savedReplyView('savedReply'), fields: savedReplyFields },
}
