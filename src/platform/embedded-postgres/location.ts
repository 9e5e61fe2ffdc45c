// Chooses the folders of the embedded database. They are in the data folder unless Depot runs as root and PostgreSQL's
// user cannot enter it, or the path of the socket would be too long.
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'
import { canEnter, databaseUser, makeOpenFolder, type SystemUser } from './system-user.ts'

export const PORT = 5432

/** Location of a database: `root` contains the folders `postgres` (the data) and `run` (the socket). */
export type DatabaseLocation = { root: string; clusterDir: string; user: SystemUser | undefined }

/** File in a data folder whose database is elsewhere: the folder of the database, and whether the database was created. */
type Note = { folder: string; created: boolean }

const NOTE = 'postgres-is-elsewhere.json'
const BACK_NOTE = 'belongs-to-data-folder.txt'
/** The maximum length of a Unix socket path is 104 bytes (macOS) or 108 bytes. */
const SOCKET_PATH_BYTES_MAX = 100
const TEMPORARY_PREFIX = 'depot-pg-'

/**
 * Finds or chooses the location of the database of a data folder. `dataDir` must be a real path. Only the process with
 * the lock of the data folder can call this function.
 * @throws OperatorError if the database is missing, belongs to another data folder, or is in a folder that its
 * user cannot enter.
 */
export function resolveLocation(dataDir: string, systemDir: string): DatabaseLocation {
  const inside = join(dataDir, 'postgres')
  if (existsSync(inside)) {
    const user = databaseUser(inside)
    if (user === undefined || canEnter(user, dataDir)) return { root: dataDir, clusterDir: inside, user }
    throw new OperatorError(
      `The database folder ${inside} belongs to user ${user.name}, who cannot enter one of its parent folders. ` +
        'Allow other users to enter these folders (chmod o+x), or start Depot as an unprivileged user.',
    )
  }
  const note = readNote(dataDir)
  if (note !== undefined) return locationElsewhere(dataDir, note)
  const user = databaseUser(undefined)
  if (user === undefined || canEnter(user, dataDir)) return { root: dataDir, clusterDir: inside, user }
  makeOpenFolder(systemDir)
  const folder = mkdtempSync(join(systemDir, 'database-'))
  chmodSync(folder, 0o755)
  writeFileSync(join(folder, BACK_NOTE), `${dataDir}\n`, { flush: true })
  syncFolder(systemDir)
  writeNote(dataDir, { folder, created: false })
  return { root: folder, clusterDir: join(folder, 'postgres'), user }
}

/** Returns whether the data folder has a database, inside or elsewhere. Creates nothing. */
export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'postgres')) || readNote(dataDir)?.created === true
}

/** Returns the folder of the database, inside or elsewhere, or the data folder if there is no database. */
export function databaseFolder(dataDir: string): string {
  const folder = join(readNote(dataDir)?.folder ?? dataDir, 'postgres')
  return existsSync(folder) ? folder : dataDir
}

/** Records that the database was created, so that a later start reports a missing database. */
export function recordLocation(dataDir: string, place: DatabaseLocation): void {
  if (place.root !== dataDir && readNote(dataDir)?.created !== true)
    writeNote(dataDir, { folder: place.root, created: true })
}

function locationElsewhere(dataDir: string, { folder, created }: Note): DatabaseLocation {
  const clusterDir = join(folder, 'postgres')
  if (created && !existsSync(clusterDir)) {
    throw new OperatorError(
      `The database of ${dataDir} is missing: its folder ${clusterDir} was deleted, or this user cannot read it. ` +
        `Restore the folder, or delete ${join(dataDir, NOTE)} to start with an empty database.`,
    )
  }
  // A moved data folder continues to use its database, but a copy must not share the database with the original.
  const backNote = join(folder, BACK_NOTE)
  const owner = existsSync(backNote) ? readFileSync(backNote, 'utf8').trimEnd() : dataDir
  if (owner !== dataDir && readNote(owner)?.folder === folder) {
    throw new OperatorError(
      `The database in ${folder} belongs to the data folder ${owner}, and ${dataDir} is a copy of that folder. ` +
        `Copy the database as well, or delete ${join(dataDir, NOTE)} to start with an empty database.`,
    )
  }
  makeOpenFolder(folder)
  if (owner !== dataDir || !existsSync(backNote)) writeFileSync(backNote, `${dataDir}\n`, { flush: true })
  return { root: folder, clusterDir, user: databaseUser(created ? clusterDir : undefined) }
}

function readNote(dataDir: string): Note | undefined {
  const path = join(dataDir, NOTE)
  if (!existsSync(path)) return undefined
  try {
    const { folder, created } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Note>
    if (typeof folder === 'string' && typeof created === 'boolean') return { folder, created }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new OperatorError(`The file ${path} must contain the location of the database, but is damaged.`)
}

/** Writes the note and syncs it to disk. If a power failure deleted it, Depot would create a second, empty database. */
function writeNote(dataDir: string, note: Note): void {
  const temporary = join(dataDir, `${NOTE}.new`)
  writeFileSync(temporary, `${JSON.stringify(note)}\n`, { flush: true })
  renameSync(temporary, join(dataDir, NOTE))
  syncFolder(dataDir)
}

/**
 * Creates a private folder for the socket, with mode 0700 and PostgreSQL's user as its owner. It is the only access
 * control of the database: only that user and root can enter the folder, and both can read the data files anyway.
 */
export function makeSocketDir({ root, user }: DatabaseLocation): string {
  const inside = join(root, 'run')
  rmSync(inside, { recursive: true, force: true })
  const fits = Buffer.byteLength(join(inside, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_BYTES_MAX
  if (fits) mkdirSync(inside, { mode: 0o700 })
  const folder = fits ? inside : mkdtempSync(join(temporaryRoot(user), TEMPORARY_PREFIX))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

/** Removes a socket folder that this process or an earlier one created with `makeSocketDir`. Ignores other folders. */
export function removeSocketDir({ root }: DatabaseLocation, socketDir: string): void {
  if (socketDir !== join(root, 'run') && !basename(socketDir).startsWith(TEMPORARY_PREFIX)) return
  rmSync(socketDir, { recursive: true, force: true })
}

/** Returns the folder for temporary files if its path is short and PostgreSQL's user can enter it; otherwise `/tmp`. */
function temporaryRoot(user: SystemUser | undefined): string {
  const configured = tmpdir()
  const isShort = Buffer.byteLength(configured) <= SOCKET_PATH_BYTES_MAX / 2
  return isShort && (user === undefined || canEnter(user, configured)) ? configured : '/tmp'
}

/** Syncs a folder to disk, so that renamed and new files in it survive a power failure. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
