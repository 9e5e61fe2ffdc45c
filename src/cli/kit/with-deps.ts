// What every command but `serve` does first: read the configuration, open what it needs, close it whatever happens.

import { COMMAND } from '#features/basics/audit/actor.ts'
import { boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'

export type Env = Record<string, string | undefined>

/**
 * Runs `act` with an open Depot on the configured data folder, beside a running server or without one, on a migrated
 * database. Only warnings and worse are logged, to standard error's neighbour: what a command prints is its result.
 */
export function withDeps<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  return withUnmigratedDeps(env, async (deps) => {
    await migrateInstance(deps, COMMAND)
    return act(deps)
  })
}

/** The same on a database as it is, which may have no schema at all. */
export async function withUnmigratedDeps<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  const config = loadConfig(env)
  const booted = await boot({
    config,
    log: createLog({ level: 'warn', buffered: false, destination: 2 }),
    mode: 'command',
  })
  try {
    return await act(booted.deps)
  } finally {
    await booted.close()
  }
}

/** Prints a result: as one line of JSON, or as a sentence. */
export function print(result: { json: unknown; text: string }, asJson: boolean | undefined): void {
  process.stdout.write(`${asJson === true ? JSON.stringify(result.json) : result.text}\n`)
}
