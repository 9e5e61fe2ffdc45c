// Requests for the tests of all operations.
import {
  type Declared,
  icon,
  ids,
  made,
  PICTURE,
  type Sample,
  send,
  thing,
  viewAt,
} from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

export const SAMPLES: Record<string, Sample> = {
  listCollections: ids('collection'),
  createCollection: { body: { name: 'Lanterns' } },
  updateCollection: { body: { status: 'unlisted' } },
  setCollectionIcon: icon,
}

export const DECLARED: Record<string, Declared> = {
  updateCollection: {
    view: viewAt('/v3/collection', 'collection'),
    fields: {
      name: send('Lamps'),
      description: send('Lights to carry'),
      status: send('unlisted'),
      new_projects: send(async (w: World) => [await w.id('project')], { at: 'projects.0', shows: thing('project') }),
    },
  },
  createCollection: {
    view: made('/v3/collection'),
    fields: {
      name: send('Lamps'),
      description: send('Lights to carry'),
      projects: send(async (w: World) => [await w.id('project')]),
    },
  },
  setCollectionIcon: { view: viewAt('/v3/collection', 'collection'), unseen: { ext: PICTURE } },
}
