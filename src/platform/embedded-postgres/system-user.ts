// As whom PostgreSQL runs: it refuses to be root, so root lends it an unprivileged system user.
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from './start-error.ts'

/** A line of /etc/passwd. initdb wants its user to have one. */
export type SystemUser = { name: string; uid: number; gid: number }

const PREFERRED = ['depot', 'postgres', 'nobody']

/**
 * The user PostgreSQL runs as, or undefined when that is simply the user of this process.
 * For root it is the owner of an existing database folder, else the first of `depot`, `postgres`, `nobody` there is.
 * @throws EmbeddedPostgresError when root finds no such user.
 */
export function databaseUser(clusterDir: string | undefined): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = parsePasswd(readFileSync('/etc/passwd', 'utf8')).filter((user) => user.uid !== 0)
  const owner = clusterDir === undefined ? undefined : statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined) {
    const found = users.find((user) => user.uid === owner.uid)
    if (found !== undefined) return found
    throw new EmbeddedPostgresError(
      `The database folder ${clusterDir} belongs to user ${owner.uid}, which is root or not in /etc/passwd; ` +
        'give the folder to an unprivileged system user (chown -R) or set DATABASE_URL.',
    )
  }
  for (const name of PREFERRED) {
    const found = users.find((user) => user.name === name)
    if (found !== undefined) return found
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and none of the system users ${PREFERRED.join(', ')} exists; ` +
      'create the user depot, start Depot as an ordinary user, or set DATABASE_URL.',
  )
}

/** The well-formed lines of a passwd file, in its order. */
export function parsePasswd(text: string): SystemUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return []
    return [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}

/** Options of `spawn` that make a child this user; supplementary groups are dropped with them. */
export function spawnAs(user: SystemUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid }
}

/**
 * Whether `user` may pass through `folder` and every folder above it, by their mode bits. Access lists are not read:
 * where only they would let the user in, the answer is no, and the caller takes the longer way.
 */
export function canEnter(user: SystemUser, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (!isAllowed(user, at, 1)) return false
    if (at === dirname(at)) return true
  }
}

/** Whether the mode bits of `path` itself grant `user` all of `bits` (4 read, 2 write, 1 run or enter). */
export function isAllowed(user: SystemUser, path: string, bits: number): boolean {
  const { mode, uid, gid } = statSync(path)
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** Makes a folder that all users may enter, whatever the mask of this process; leaves an existing one as it is. */
export function makeOpenFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o755)
}
