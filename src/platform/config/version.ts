// The version and commit of Depot, in a separate module so that `depot --version` loads nothing else.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string; gitHead?: string }

export const VERSION: string = manifest.version

let known: string | null | undefined

/** Returns the commit that this Depot was built from. A release records it; a checkout asks Git. Null if neither knows. */
export function commitId(): string | null {
  known ??= manifest.gitHead ?? askGit()
  return known
}

function askGit(): string | null {
  // Without this, Git would answer for a repository that contains the folder of an installed package.
  if (!existsSync(join(ROOT, '.git'))) return null
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return null
  }
}
