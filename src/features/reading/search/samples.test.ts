// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const query = { query: { query: 'lantern' } }
/** A project and a version that the search finds. */
async function makeSearchable(w: World): Promise<void> {
  await w.id('version')
  await w.t.searchable()
}

export const SAMPLES: Record<string, Sample> = {
  searchProjects: { ...query, before: makeSearchable },
  countSearchFacets: query,
  suggestSearch: { query: { query: 'lan' } },
  searchProjectsByBody: { body: { query: 'lantern' }, before: makeSearchable },
}
