// A PostgreSQL that the caller alone has, and may end and start again.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'

export type OwnDatabase = {
  /** Folder of the socket; it changes with each restart. */
  socketDir(): string
  /** The process that all others of it come from. */
  pid(): number
  /** Starts it again once it has ended. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** @param folder keeps its data; it must be one that the database's own user can pass. */
export async function startOwnDatabase(folder: string): Promise<OwnDatabase> {
  const quiet = () => undefined
  const open = () =>
    startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      holder: 'server',
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      systemDir: join(folder, 'system'),
    })
  let current = await open()
  return {
    socketDir: () => current.connection.host,
    pid: () => Number(readFileSync(join(current.folder ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]),
    restart: async () => {
      await current.exited
      await current.stop()
      current = await open()
    },
    stop: () => current.stop(),
  }
}
