// Requests for the tests of all operations.
import { at, type Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  deleteUser: { body: {} },
  exportUserData: { ...at('stranger'), body: { reason: 'Asked by letter' } },
}
