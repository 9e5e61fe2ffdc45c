// Waits until everyone can see a version.
import { createDepot } from '../client.ts'
import { sleep } from '../retry.ts'
import type { Project } from './outcome.ts'
import type { Settings } from './settings.ts'

/** Status of a project that the token cannot read. */
export const NOT_PUBLIC = 'not public'
/** Versions of these projects are not public, so waiting is useless. */
const HIDDEN = [NOT_PUBLIC, 'draft', 'processing', 'rejected', 'withheld', 'private']

/**
 * Reads the version without credentials until everyone can see it. The version is published, so failures of the instance
 * are not errors here.
 * @returns false if that takes too long.
 */
export async function waitForPublic(
  { url, timeoutSeconds }: Settings,
  { status }: Project,
  id: string,
  userAgent: string,
): Promise<boolean> {
  if (HIDDEN.includes(status)) return false
  const anyone = createDepot({ url, userAgent })
  const end = Date.now() + timeoutSeconds * 1000
  for (let pause = 1000; ; pause = Math.min(pause * 1.5, 10_000)) {
    const isPublic = await anyone.get('/v3/version/{id}', { params: { path: { id } } }).then(
      () => true,
      () => false,
    )
    if (isPublic) return true
    if (Date.now() + pause > end) return false
    await sleep(pause)
  }
}
