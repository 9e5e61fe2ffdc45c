// Where the processes of one server meet: a Unix socket in a folder that only its user may enter.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of a socket has 107 bytes at most on Linux, 103 on other systems. */
const PATH_BYTES_MAX = 100
const NAME = 'processes.sock'

export type Meeting = { path: string; close(): void }

/**
 * Listens on a new socket: in `DATA_DIR/run-processes`, or where that path is too long in the system's folder for
 * temporary files. Only one server at a time uses a data folder so; what a killed one left is removed.
 */
export async function listenForProcesses(dataDir: string, onConnection: (socket: Socket) => void): Promise<Meeting> {
  const folder = makeFolder(dataDir)
  const path = join(folder, NAME)
  const server = createServer(onConnection)
  await listen(server, path)
  chmodSync(path, 0o600)
  return {
    path,
    close: () => {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function makeFolder(dataDir: string): string {
  const inside = join(dataDir, 'run-processes')
  rmSync(inside, { recursive: true, force: true })
  if (Buffer.byteLength(join(inside, NAME)) > PATH_BYTES_MAX) return mkdtempSync(join(shortTemporary(), 'depot-'))
  mkdirSync(inside, { mode: 0o700 })
  return inside
}

/** The configured folder for temporary files may be just as deep. */
const shortTemporary = (): string => (Buffer.byteLength(tmpdir()) < PATH_BYTES_MAX / 2 ? tmpdir() : '/tmp')

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
