// An instance in a data folder with the embedded engines, opened in this process at the time of a recording.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { buildApp } from '#main/app.ts'
import { boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'
import { BYPASS_KEY, type Client, makeClient } from '#test/support/app/test-app.ts'

export type OpenInstance = {
  deps: Deps
  /** Migrations that opening has applied. */
  migrations: string[]
  /** A client with the token of a session, or without one. */
  client(token?: string): Client
  close(): Promise<void>
}

/** Opens the instance as `depot serve` does, with `time` as the time of its clock. */
async function openInstance(dataDir: string, time: number): Promise<OpenInstance> {
  const config = loadConfig({
    DATA_DIR: dataDir,
    BASE_URL: 'https://depot.test',
    RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
    LOG_LEVEL: 'silent',
  })
  const test = { onQuery: () => {}, poolSize: 10, cacheBytes: 32 * 1024 * 1024 }
  const booted = await boot({ config, log: silentLog(), mode: 'server', now: () => time, test })
  const { deps } = booted
  const migrations = await migrateInstance(deps, SYSTEM)
  await deps.tags.refresh()
  deps.cache.enable()
  const app = await buildApp(deps)
  await app.ready()
  const common = { 'user-agent': 'depot-tests/1.0 (tests)', 'x-ratelimit-key': BYPASS_KEY }
  return {
    deps,
    migrations,
    client: (token) =>
      makeClient((options) => app.inject(options), token === undefined ? common : { ...common, authorization: token }),
    close: async () => {
      await app.close()
      await booted.close()
    },
  }
}

/** Runs `act` on the instance and closes it. */
export async function withInstance<T>(
  dataDir: string,
  time: number,
  act: (instance: OpenInstance) => Promise<T>,
): Promise<T> {
  const instance = await openInstance(dataDir, time)
  try {
    return await act(instance)
  } finally {
    await instance.close()
  }
}
