// Access to the data folder: other users can read nothing below it.
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Sets folders below `folder` to 0700 and files to 0600, except what belongs to other users and what is neither. */
export function makePrivate(folder: string): void {
  const uid = process.getuid?.()
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || !(stat.isDirectory() || stat.isFile()) || (uid !== 0 && uid !== stat.uid)) continue
    // Copies of PostgreSQL's programs remain executable.
    const mode = stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o700 : 0o600
    try {
      if ((stat.mode & 0o777) !== mode) chmodSync(path, mode)
      if (stat.isDirectory()) makePrivate(path)
    } catch (error) {
      // Another process can delete files at the same time.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}
