// Requests for the tests of all operations.
import { type Declared, entry, type Sample, send, shows, thing } from '#test/api/operations/sample.ts'
import { nextRange } from '#test/api/operations/world.ts'

export const SAMPLES: Record<string, Sample> = {
  listRateLimits: shows('grant'),
  createRateLimit: { body: () => ({ address_range: nextRange(), requests_per_minute: 600 }) },
}

export const DECLARED: Record<string, Declared> = {
  createRateLimit: {
    by: 'operator',
    view: entry('/_internal/admin/rate-limits'),
    fields: {
      token_id: send(thing('pat'), { needs: { address_range: undefined } }),
      address_range: send('198.51.100.0/24'),
      requests_per_minute: send(900),
      note: send('For a mirror'),
    },
  },
}
