// `depot migrate` and `depot check`.

import { readArguments } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { checkDependencies } from '#features/basics/meta/readiness.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createLog } from '#platform/telemetry/log.ts'

const log = () => createLog({ level: 'warn', buffered: false, destination: 2 })

export async function migrateCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const booted = await boot({ config: loadConfig(env), log: log(), mode: 'command' })
  try {
    const applied = await withProgress({ label: 'Applying migrations' }, (onProgress) =>
      migrateInstance(booted.deps, COMMAND, { onProgress }),
    )
    const text = applied.length === 0 ? 'The schema is up to date' : `Applied ${applied.join(', ')}`
    print({ json: { applied }, text }, values.json)
  } finally {
    await booted.close()
  }
}

/** Prints each dependency with its state; exit code 1 when one is bad, also when it cannot even be opened. */
export async function checkCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const states: Record<string, { status: string; error?: string }> = {}
  try {
    const config = loadConfig(env)
    states['configuration'] = { status: 'ok' }
    const booted = await boot({ config, log: log(), mode: 'command' })
    try {
      Object.assign(states, (await checkDependencies(booted.deps)).dependencies)
    } finally {
      await booted.close()
    }
  } catch (error) {
    const named = error instanceof OperatorError ? error.dependency : undefined
    const failed = 'configuration' in states ? (named ?? 'database') : 'configuration'
    states[failed] = { status: 'failing', error: error instanceof Error ? error.message : String(error) }
  }
  const bad = Object.values(states).some(({ status }) => status !== 'ok')
  const lines = Object.entries(states).map(
    ([name, { status, error }]) => `${name}: ${status}${error === undefined ? '' : ` (${error})`}`,
  )
  print({ json: { status: bad ? 'failing' : 'ok', dependencies: states }, text: lines.join('\n') }, values.json)
  if (bad) process.exitCode = 1
}
