// Runs a command with the configuration and `Deps`, and closes everything afterwards.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'

export type Env = Record<string, string | undefined>

/**
 * Runs `act` on a migrated database, whether or not a server is running. Logs warnings and errors to standard error,
 * because standard output is for the result of the command.
 */
export function withDeps<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  return withUnmigratedDeps(env, async (deps) => {
    await migrateInstance(deps, COMMAND)
    return act(deps)
  })
}

/** Does the same on a database that might have no schema. */
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

/** Prints a result as one line of JSON or as text. */
export function print(result: { json: unknown; text: string }, asJson: boolean | undefined): void {
  process.stdout.write(`${asJson === true ? JSON.stringify(result.json) : result.text}\n`)
}
