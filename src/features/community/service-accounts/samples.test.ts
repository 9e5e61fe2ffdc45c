// Requests for the tests of all operations.
import { newId } from '#lib/ids.ts'
import { type Declared, inDays, PROOF, type Sample, send, shows, slug, theAnswer } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  listServiceAccounts: shows('serviceAccount'),
  createServiceAccount: { body: () => ({ username: `builds-${newId().toLowerCase()}` }) },
  createServiceToken: { body: () => ({ name: 'For my builds', scopes: ['PROJECT_READ'], expires: inDays(365) }) },
}

export const DECLARED: Record<string, Declared> = {
  createServiceAccount: { view: theAnswer, fields: { username: send(() => slug()) } },
  createServiceToken: {
    view: theAnswer,
    fields: { name: send('For a third program'), scopes: send(4), expires: send(() => inDays(30)) },
    unseen: { limits: 'the token is already limited to the organization', ...PROOF },
  },
}
