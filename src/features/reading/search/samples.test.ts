// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  searchProjects: { query: { query: 'lantern' } },
  countSearchFacets: { query: { query: 'lantern' } },
  suggestSearch: { query: { query: 'lan' } },
  searchProjectsByBody: { body: { query: 'lantern' } },
}
