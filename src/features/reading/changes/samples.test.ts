// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = { streamChanges: { query: { since: '00000000-0' } } }
