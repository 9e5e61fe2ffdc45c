// Waits until everyone can see a version.
import { createDepot } from '../client.ts'
import { sleep } from '../retry.ts'
import type { Project } from './outcome.ts'
import type { Settings } from './settings.ts'

/** Status of a project that the token cannot read. */
export const NOT_PUBLIC = 'not public'
/** Versions of these projects are not public, so waiting is useless. */
const HIDDEN = [NOT_PUBLIC, 'draft', 'processing', 'rejected', 'withheld', 'private']

const FIRST_PAUSE_MS = 1000

type Published = { project: Project; id: string; userAgent: string; note: (text: string) => void }

/**
 * Reads the version without credentials until everyone can see it. The version is published, so failures of the instance
 * are not errors here.
 * @returns false if that takes too long.
 */
export async function waitForPublic(
  { url, timeoutSeconds }: Settings,
  { project, id, userAgent, note }: Published,
): Promise<boolean> {
  if (HIDDEN.includes(project.status)) return false
  const anyone = createDepot({ url, userAgent })
  const end = Date.now() + timeoutSeconds * 1000
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, 10_000)) {
    const isPublic = await anyone.get('/v3/version/{id}', { params: { path: { id } } }).then(
      () => true,
      () => false,
    )
    if (isPublic) return true
    if (pause === FIRST_PAUSE_MS)
      note(`Published. Waiting up to ${timeoutSeconds} s until everyone can see the version`)
    if (Date.now() + pause > end) return false
    await sleep(pause)
  }
}
