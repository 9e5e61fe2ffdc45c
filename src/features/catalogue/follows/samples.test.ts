// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  unfollowProject: {
    before: async (w) => w.t.as(await w.person('owner')).post(`/v3/project/${await w.id('project')}/follow`),
  },
}
