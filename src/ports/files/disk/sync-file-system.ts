// Forces what was written to disk. Forcing thousands of files one by one takes minutes; Linux can force a whole file
// system, which Node has no call for and the program `sync` has.
import { execFile } from 'node:child_process'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Everything below `folder` is on disk when it resolves. */
export async function syncFileSystem(folder: string, program = 'sync'): Promise<void> {
  try {
    await run(program, ['-f', folder])
  } catch {
    // Other systems have no such program, or one without `-f`.
    await syncTree(folder)
  }
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else if (entry.isFile()) await syncPath(path)
  }
  await syncPath(folder)
}

/** One file, or the names in one folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
