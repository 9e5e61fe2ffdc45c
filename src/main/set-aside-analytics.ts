// Renames an analytics database that cannot be read, so that the next start creates an empty one.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#platform/config/config.ts'
import { isDamagedStore } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { openStore } from './open-analytics.ts'
import { lockAnalytics, openDataFolder } from './preflight.ts'

/** The database and its write-ahead log. */
const FILES = ['events.duckdb', 'events.duckdb.wal']

/** Renames the files and returns their new paths. Fails while a server uses them. */
export function setAsideAnalytics(config: Config, folder: string): string[] {
  openDataFolder(config)
  const lock = lockAnalytics(config)
  try {
    const ending = `.set-aside-${new Date().toISOString().replace(/[:.]/g, '-')}`
    return FILES.filter((name) => existsSync(join(folder, name))).map((name) => {
      renameSync(join(folder, name), join(folder, name + ending))
      return join(folder, name + ending)
    })
  } finally {
    lock?.release()
  }
}

/** Reads all events, and renames the files if they are damaged. Returns their new paths. */
export async function setAsideIfDamaged(config: Config): Promise<string[]> {
  const { store } = config.analytics
  if (store.kind !== 'embedded') return []
  try {
    const opened = await openStore(store)
    try {
      for (const kind of EVENT_KINDS) await opened.readEvents(kind, async () => {})
    } finally {
      await opened.close()
    }
    return []
  } catch (error) {
    if (!isDamagedStore(error)) throw error
    return setAsideAnalytics(config, store.folder)
  }
}
