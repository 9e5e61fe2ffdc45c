// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = { deleteUser: { body: {} } }
