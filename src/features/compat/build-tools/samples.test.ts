// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const makeFile = (w: World) => w.file()

export const SAMPLES: Record<string, Sample> = {
  getMavenMetadata: { at: { group: () => 'depot', id: 'project', file: () => 'maven-metadata.xml' }, before: makeFile },
  getMavenFile: {
    at: {
      group: () => 'depot',
      id: 'project',
      version: 'version',
      file: async (w) => `${await w.id('project')}-${await w.id('version')}.pom`,
    },
  },
  getUpdateFile: { at: { id: 'project', file: () => 'forge_updates.json' } },
}
