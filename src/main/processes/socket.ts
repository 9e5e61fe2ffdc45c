// The Unix socket on which the HTTP processes connect to the hub. Only the user of the server can access its folder.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A socket path can have 107 bytes on Linux, 103 on other systems. */
const PATH_BYTES_MAX = 100
const NAME = 'processes.sock'

export type ProcessSocket = { path: string; close(): void }

/**
 * Listens on a new socket in `DATA_DIR/run-processes`, or in the temporary folder if that path is too long. Deletes the
 * socket of a killed server: only one server at a time can have several processes on a data folder.
 */
export async function listenForProcesses(
  dataDir: string,
  onConnection: (socket: Socket) => void,
): Promise<ProcessSocket> {
  const folder = createFolder(dataDir)
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

function createFolder(dataDir: string): string {
  const inside = join(dataDir, 'run-processes')
  rmSync(inside, { recursive: true, force: true })
  if (Buffer.byteLength(join(inside, NAME)) > PATH_BYTES_MAX) return mkdtempSync(join(shortTemporary(), 'depot-'))
  mkdirSync(inside, { mode: 0o700 })
  return inside
}

/** The configured temporary folder can have a long path, too. */
const shortTemporary = (): string => (Buffer.byteLength(tmpdir()) < PATH_BYTES_MAX / 2 ? tmpdir() : '/tmp')

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
