// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  dismissAttention: { at: { item: async (w) => `incomplete_draft:${await w.id('project')}` } },
  restoreAttention: { at: { item: async (w) => `incomplete_draft:${await w.id('project')}` } },
}
