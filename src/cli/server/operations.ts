// `depot migrate` and `depot check`.

import { readArguments } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { checkDependencies } from '#features/basics/meta/readiness.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'

export async function migrateCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withUnmigratedDeps(env, async (deps) => {
    const applied = await withProgress({ label: 'Applying migrations' }, (onProgress) =>
      migrateInstance(deps, COMMAND, { onProgress }),
    )
    const text = applied.length === 0 ? 'The schema is already up to date' : `Applied ${applied.join(', ')}`
    print({ json: { applied }, text }, values.json)
  })
}

/** Prints the state of each dependency. Exits with 1 if a check fails or Depot cannot open. */
export async function checkCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const states: Record<string, { status: string; error?: string }> = {}
  try {
    loadConfig(env)
    states['configuration'] = { status: 'ok' }
    await withUnmigratedDeps(env, async (deps) => {
      Object.assign(states, (await checkDependencies(deps)).dependencies)
    })
  } catch (error) {
    const dependency = error instanceof OperatorError ? error.dependency : undefined
    const failed = 'configuration' in states ? (dependency ?? 'database') : 'configuration'
    states[failed] = { status: 'failing', error: error instanceof Error ? error.message : String(error) }
  }
  const bad = Object.values(states).some(({ status }) => status !== 'ok')
  const lines = Object.entries(states).map(
    ([name, { status, error }]) => `${name}: ${status}${error === undefined ? '' : ` (${error})`}`,
  )
  print({ json: { status: bad ? 'failing' : 'ok', dependencies: states }, text: lines.join('\n') }, values.json)
  if (bad) process.exitCode = 1
}
