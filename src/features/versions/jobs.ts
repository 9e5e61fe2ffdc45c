// Background work of versions and their files.

import { sweepClaims } from '#files/claims.ts'
import { removeUnlessHeld } from '#files/removals.ts'
import type { Deps } from '#main/deps.ts'

export const versionJobs = (deps: Pick<Deps, 'db' | 'files'>) => ({
  // Idempotent: removing what is gone is no error.
  'files.remove': async ({ keys }: { keys: string[] }) => removeUnlessHeld(deps, keys),
  // Idempotent: it removes what is there.
  'files.sweep': async () => {
    await sweepClaims(deps)
  },
})
