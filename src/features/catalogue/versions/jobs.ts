// Background jobs that delete files from the store.

import type { Deps } from '#ports/deps.ts'
import { sweepClaims } from '#ports/files/claims.ts'
import { removeUnlessHeld } from '#ports/files/removals.ts'

export const versionJobs = (deps: Pick<Deps, 'db' | 'files'>) => ({
  // Idempotent: deleting a missing file is not an error.
  'files.remove': async ({ keys }: { keys: string[] }) => removeUnlessHeld(deps, keys),
  // Idempotent: deletes the files of expired claims.
  'files.sweep': async () => sweepClaims(deps),
})
