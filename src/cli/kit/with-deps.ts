// Runs a command with the configuration and `Deps`, and closes everything afterwards.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { requireInstance } from '#main/require-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'

export type Env = Record<string, string | undefined>

/**
 * Runs `act` on the migrated database of an instance, whether or not a server is running. Logs warnings and errors to
 * standard error, because standard output is for the result of the command.
 * @throws OperatorError if the instance does not exist
 */
export async function withDeps<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  await requireInstance(loadConfig(env))
  return withNewDeps(env, act)
}

/** Does the same, and creates the instance if it does not exist. */
export function withNewDeps<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  return withUnmigratedDeps(env, async (deps) => {
    await migrateInstance(deps, COMMAND)
    await deps.tags.refresh()
    return act(deps)
  })
}

/** Does the same, but leaves the schema unchanged, which might be missing or older. */
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
