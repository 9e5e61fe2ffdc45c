// Background jobs that delete files from the store, and expired drafts.

import type { Deps } from '#ports/deps.ts'
import { sweepClaims } from '#ports/files/claims.ts'
import { removeUnlessHeld } from '#ports/files/removals.ts'
import { expireDrafts } from './drafts/expire-drafts.ts'
import { expireUploads } from './uploads/expire-uploads.ts'

export const versionJobs = (deps: Pick<Deps, 'db' | 'files' | 'cache' | 'now' | 'log' | 'metrics'>) => ({
  // Idempotent: deleting a missing file is not an error.
  'files.remove': async ({ keys }: { keys: string[] }) => removeUnlessHeld(deps, keys),
  // Idempotent: deletes the files of expired claims.
  'files.sweep': async () => sweepClaims(deps),
  // Idempotent: deletes the uploads that are expired when the job runs.
  'uploads.expire': async (_payload: Record<string, never>, signal: AbortSignal) => expireUploads(deps, signal),
  // Idempotent: deletes the drafts that are expired when the job runs.
  'versions.expire-drafts': async (_payload: Record<string, never>, signal: AbortSignal) => expireDrafts(deps, signal),
})
