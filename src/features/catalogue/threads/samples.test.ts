// Requests for the tests of all operations.
import { ids, type Sample } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  listThreads: ids('thread'),
  postThreadMessage: { body: { body: { type: 'text', body: 'Hello' } } },
}
