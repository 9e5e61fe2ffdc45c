// Lets test files share a few processes, because loading the application costs more than most files' tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const WORKER = join(import.meta.dirname, 'worker.mjs')

/** Returns the programs that run these files, and the environment that they need. */
export function shareProcesses(files, parallel) {
  const queue = mkdtempSync(join(tmpdir(), 'depot-test-queue-'))
  writeFileSync(join(queue, 'files.json'), JSON.stringify(files))
  return {
    programs: Array.from({ length: Math.min(parallel, files.length) }, () => WORKER),
    env: { TEST_QUEUE: queue },
    remove: () => rmSync(queue, { recursive: true }),
  }
}
