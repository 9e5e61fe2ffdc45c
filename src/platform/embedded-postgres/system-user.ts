// Chooses the system user that runs PostgreSQL: PostgreSQL does not run as root, so root starts it as another user.
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'

/** Line of /etc/passwd. initdb only runs as a user that is listed there. */
export type SystemUser = { name: string; uid: number; gid: number }

const PREFERRED = ['depot', 'postgres', 'nobody']

/**
 * Returns the user that runs PostgreSQL, or undefined for the user of this process. If this process runs as root, the
 * user is the owner of an existing database folder, otherwise the first existing user of `depot`, `postgres` and `nobody`.
 * @throws OperatorError if this process runs as root and no such user exists.
 */
export function databaseUser(clusterDir: string | undefined): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = parsePasswd(readFileSync('/etc/passwd', 'utf8')).filter((user) => user.uid !== 0)
  const owner = clusterDir === undefined ? undefined : statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined) {
    const found = users.find((user) => user.uid === owner.uid)
    if (found !== undefined) return found
    throw new OperatorError(
      `The database folder ${clusterDir} belongs to user ${owner.uid}, which is root or not in /etc/passwd. ` +
        'Change the owner to an unprivileged system user (chown -R), or set DATABASE_URL.',
    )
  }
  for (const name of PREFERRED) {
    const found = users.find((user) => user.name === name)
    if (found !== undefined) return found
  }
  throw new OperatorError(
    `PostgreSQL does not run as root, and none of the system users ${PREFERRED.join(', ')} exists. ` +
      'Create the user depot, start Depot as an unprivileged user, or set DATABASE_URL.',
  )
}

/** Returns the valid lines of a passwd file, in their order. */
export function parsePasswd(text: string): SystemUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return []
    return [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}

/** Returns options that make `spawn` run a child as the user, without supplementary groups. */
export function spawnAs(user: SystemUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid }
}

/**
 * Returns whether the mode bits let `user` enter `folder` and all its parent folders. Ignores access control lists: if
 * only they grant access, the result is false, and the caller uses another folder.
 */
export function canEnter(user: SystemUser, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (!isAllowed(user, at, 1)) return false
    if (at === dirname(at)) return true
  }
}

/** Returns whether the mode bits of `path` grant `user` all `bits` (4: read, 2: write, 1: execute or enter). */
export function isAllowed(user: SystemUser, path: string, bits: number): boolean {
  const { mode, uid, gid } = statSync(path)
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** Creates a folder that all users can enter, regardless of the umask. Does not change an existing folder. */
export function makeOpenFolder(folder: string): void {
  const umask = process.umask(0o022)
  mkdirSync(folder, { recursive: true })
  process.umask(umask)
}
