// Flushes written files to disk. Flushing thousands of files one by one takes minutes. Linux can flush a whole file system,
// which the program `sync` does; Node.js has no function for it.
import { execFile } from 'node:child_process'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Flushes everything below `folder`. */
export async function syncFileSystem(folder: string, program = 'sync'): Promise<void> {
  try {
    await run(program, ['-f', folder])
  } catch {
    // Other systems do not have this program, or not its option `-f`.
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

/** Flushes one file, or the names in one folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
