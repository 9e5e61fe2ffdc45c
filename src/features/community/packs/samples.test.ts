// Requests for the tests of all operations.
import { type Declared, made, type Sample, send, viewAt } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

/** A public project with a version for the setup. */
async function packable({ t }: World): Promise<string> {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['minecraft'], game_versions: ['1.20.1', '1.20.2'] })
  await t.make.file({ project, version, bytes: Buffer.from(project.id) })
  return project.id
}

const SETUP = { loader: 'fabric', game_version: '1.20.1', loader_version: '0.15.11' }
const ALL = async (w: World) => ({ name: 'Evening', projects: [await packable(w)], ...SETUP })

let sent: string[] = []
const projects = send(async (w: World) => (sent = [await packable(w)]), { shows: () => sent })

export const SAMPLES: Record<string, Sample> = {
  createPack: { body: ALL },
  updatePack: { body: { status: 'unlisted' } },
}

export const DECLARED: Record<string, Declared> = {
  updatePack: {
    view: viewAt('/v3/pack', 'pack'),
    fields: {
      name: send('Morning'),
      slug: send('morning'),
      status: send('unlisted'),
      projects,
      game_version: send('1.20.2'),
      loader: send('quilt'),
      loader_version: send('0.16.9'),
    },
  },
  createPack: {
    view: made('/v3/pack'),
    fields: {
      name: send('Morning'),
      slug: send('morning'),
      status: send('unlisted'),
      projects,
      game_version: send('1.20.2'),
      loader: send('quilt'),
      loader_version: send('0.16.9'),
    },
  },
}
