// Background work of versions and their files.

import type { Deps } from '#ports/deps.ts'
import { sweepClaims } from '#ports/files/claims.ts'
import { removeUnlessHeld } from '#ports/files/removals.ts'

export const versionJobs = (deps: Pick<Deps, 'db' | 'files'>) => ({
  // Idempotent: removing what is gone is no error.
  'files.remove': async ({ keys }: { keys: string[] }) => removeUnlessHeld(deps, keys),
  // Idempotent: it removes what is there.
  'files.sweep': async () => {
    await sweepClaims(deps)
  },
})
