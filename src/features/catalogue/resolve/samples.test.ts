// Requests for the tests of all operations.
import { type Declared, ids, type Sample, send, theAnswer } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const packed = new WeakMap<object, Promise<{ lock: string; slug: string }>>()
/** A lock that can be written as a pack; one per application. */
function packedLock({ t }: World): Promise<{ lock: string; slug: string }> {
  const make = async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project, loaders: ['fabric'] })
    await t.make.file({ project, version, bytes: Buffer.from(project.id) })
    const body = { versions: [version.id], loaders: ['fabric'], loader_version: '0.15.11', game_versions: ['1.20.1'] }
    const answer = await t.anyone.post('/v3/lock', body)
    return { lock: answer.json().lock as string, slug: project.slug }
  }
  const made = packed.get(t) ?? make()
  packed.set(t, made)
  return made
}
const storedLock = async (w: World): Promise<string> => (await packedLock(w)).lock
const packedFile = async (w: World): Promise<string> => `${(await packedLock(w)).slug}.pw.toml`

export const SAMPLES: Record<string, Sample> = {
  resolveItems: { body: async (w) => ({ items: [{ project: await w.id('project') }] }) },
  findCompatibility: ids('project'),
  createLock: { body: async (w) => ({ versions: [await w.id('version')] }) },
  getLock: { at: { id: storedLock } },
  getLockMrpack: { at: { id: storedLock } },
  getLockPack: { at: { id: storedLock } },
  getLockIndex: { at: { id: storedLock } },
  downloadLockServer: { at: { id: storedLock } },
  getLockMetafile: { at: { id: storedLock, folder: () => 'mods', file: packedFile } },
}

export const DECLARED: Record<string, Declared> = {
  createLock: {
    view: theAnswer,
    fields: {
      versions: send(async (w: World) => [await w.id('version')], {
        at: 'chosen.0.version_id',
        shows: (w: World) => w.id('version'),
      }),
      loaders: send(['forge']),
      game_versions: send(['1.20.1']),
      name: send('Evening'),
      version: send('2.0.0'),
      loader_version: send('0.15.11', { needs: { loaders: ['fabric'] } }),
    },
  },
}
