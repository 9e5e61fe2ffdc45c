// Which folders the embedded database uses: usually inside the data folder, elsewhere when root's PostgreSQL user
// cannot enter it or its socket's path would be too long.
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
import { EmbeddedPostgresError } from './start-error.ts'
import { canEnter, databaseUser, makeOpenFolder, type SystemUser } from './system-user.ts'

export const PORT = 5432

/** Where a database lives: `root` holds the folders `postgres` (the data) and `run` (the socket). */
export type DatabaseLocation = { root: string; clusterDir: string; user: SystemUser | undefined }

/** In a data folder whose database is elsewhere: where that is, and whether it has been made there. */
type Note = { folder: string; created: boolean }

const NOTE = 'postgres-is-elsewhere.json'
const BACK_NOTE = 'belongs-to-data-folder.txt'
/** Unix socket addresses end at 104 (macOS) or 108 bytes. */
const SOCKET_PATH_BYTES_MAX = 100
const TEMPORARY_PREFIX = 'depot-pg-'

/**
 * Finds or chooses the place of a data folder's database; `dataDir` is a real path. Only the holder of the data
 * folder's lock may call this.
 * @throws EmbeddedPostgresError when the database is not where the note says, belongs to another data folder, or
 * cannot be reached by the user that owns it.
 */
export function resolveLocation(dataDir: string, systemDir: string): DatabaseLocation {
  const inside = join(dataDir, 'postgres')
  if (existsSync(inside)) {
    const user = databaseUser(inside)
    if (user === undefined || canEnter(user, dataDir)) return { root: dataDir, clusterDir: inside, user }
    throw new EmbeddedPostgresError(
      `The database folder ${inside} belongs to user ${user.name}, who cannot enter a folder above it; ` +
        'let others pass through those folders (chmod o+x) or start Depot as an ordinary user.',
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

/** Records that the database has been made, so that its loss is noticed. */
export function recordLocation(dataDir: string, place: DatabaseLocation): void {
  if (place.root !== dataDir && readNote(dataDir)?.created !== true)
    writeNote(dataDir, { folder: place.root, created: true })
}

function locationElsewhere(dataDir: string, { folder, created }: Note): DatabaseLocation {
  const clusterDir = join(folder, 'postgres')
  if (created && !existsSync(clusterDir)) {
    throw new EmbeddedPostgresError(
      `The database of ${dataDir} is missing: it was kept in ${clusterDir}, which is gone or hidden from this user. ` +
        `Bring it back, or delete ${join(dataDir, NOTE)} to begin with an empty one.`,
    )
  }
  // A moved data folder takes its database along; a copied one must not share it with the original.
  const backNote = join(folder, BACK_NOTE)
  const owner = existsSync(backNote) ? readFileSync(backNote, 'utf8').trimEnd() : dataDir
  if (owner !== dataDir && readNote(owner)?.folder === folder) {
    throw new EmbeddedPostgresError(
      `The database in ${folder} belongs to the data folder ${owner}, of which ${dataDir} is a copy; ` +
        `copy the database too, or delete ${join(dataDir, NOTE)} to begin with an empty one.`,
    )
  }
  mkdirSync(folder, { recursive: true, mode: 0o755 })
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
  throw new EmbeddedPostgresError(`The file ${path} should say where the database is, and does not.`)
}

/** On disk when it returns: a note lost with the power would begin an empty database beside the real one. */
function writeNote(dataDir: string, note: Note): void {
  const temporary = join(dataDir, `${NOTE}.new`)
  writeFileSync(temporary, `${JSON.stringify(note)}\n`, { flush: true })
  renameSync(temporary, join(dataDir, NOTE))
  syncFolder(dataDir)
}

/**
 * Makes a fresh private folder (0700, of PostgreSQL's user) for the socket. It is the whole of the database's access
 * control: who can enter it is that user or root, and both could read the data files anyway.
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

/** Removes a socket folder made by `makeSocketDir`, also one that a dead process left; never anything else. */
export function removeSocketDir({ root }: DatabaseLocation, socketDir: string): void {
  if (socketDir !== join(root, 'run') && !basename(socketDir).startsWith(TEMPORARY_PREFIX)) return
  rmSync(socketDir, { recursive: true, force: true })
}

/** The folder for temporary files, if it is short and PostgreSQL's user may enter it; else the one every Unix has. */
function temporaryRoot(user: SystemUser | undefined): string {
  const configured = tmpdir()
  const isShort = Buffer.byteLength(configured) <= SOCKET_PATH_BYTES_MAX / 2
  return isShort && (user === undefined || canEnter(user, configured)) ? configured : '/tmp'
}

/** Forces the names in a folder to disk, as a rename or a new file needs to survive a loss of power. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
