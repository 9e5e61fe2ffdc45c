// `depot migrate`, and `depot check`, which `depot doctor` replaces.

import { readArguments } from '#cli/kit/arguments.ts'
import { explain } from '#cli/kit/explain.ts'
import { shownBytes } from '#cli/kit/progress.ts'
import { type Env, print, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { checkDependencies } from '#features/basics/meta/readiness.ts'
import { reasonOf } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { freeSpaceOf, migrateInstance } from '#main/migrate-instance.ts'
import { checkNamedFiles } from '#main/preflight.ts'
import { requireInstance } from '#main/require-instance.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { pendingMigrations } from '#platform/db/migrate.ts'
import { estimateBytes } from '#platform/db/migration-files.ts'
import type { Deps } from '#ports/deps.ts'

/** Applies the pending migrations, or lists them. Says on standard error what each one does. */
export async function migrateCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean', 'dry-run': 'boolean' })
  if (values['dry-run'] === true) return listPending(env, values.json)
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  await withUnmigratedDeps(env, async (deps) => {
    const applied = await migrateInstance(deps, COMMAND, {
      onProgress: (done, total, { name, about }) =>
        say(`Applying migration ${done + 1} of ${total}, ${name}: ${about}`),
      onWait: () => say('Waiting for another process that applies migrations'),
    })
    const text = applied.length === 0 ? 'The schema is already up to date' : `Applied ${applied.join(', ')}`
    print({ json: { applied }, text }, values.json)
  })
}

async function listPending(env: Env, asJson: boolean | undefined): Promise<void> {
  const config = loadConfig(env)
  await requireInstance(config)
  await withUnmigratedDeps(env, async ({ pool }) => {
    const pending = await pendingMigrations(pool)
    const [needed, free] = [await estimateBytes(pool, pending), await freeSpaceOf(config)?.()]
    const lines = pending.map(({ name, about }) => `${name}: ${about}`)
    const space = `Space needed: about ${shownBytes(needed)}${free === undefined ? '' : `; free: ${shownBytes(free)}`}`
    const json = {
      pending: pending.map(({ name, about }) => ({ name, about })),
      needed_bytes: needed,
      free_bytes: free ?? null,
    }
    const text = pending.length === 0 ? 'The schema is already up to date' : [...lines, space].join('\n')
    print({ json, text }, asJson)
  })
}

type State = { status: string; state?: string; error?: string }

/** Prints the state of each dependency. Exits with 1 if a check fails, there is no instance, or Depot cannot open. */
export async function checkCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const states: Record<string, State> = {}
  try {
    const config = loadConfig(env)
    checkNamedFiles(config)
    states['configuration'] = { status: 'ok' }
    await requireInstance(config)
    await withUnmigratedDeps(env, async (deps) => {
      states['schema'] = await checkSchema(deps)
      Object.assign(states, (await checkDependencies(deps)).dependencies)
    })
  } catch (error) {
    const dependency = error instanceof OperatorError ? error.dependency : undefined
    const failed = 'configuration' in states ? (dependency ?? 'database') : 'configuration'
    states[failed] = { status: 'failing', error: explain(error) }
  }
  for (const state of Object.values(states))
    if (state.error !== undefined) state.error = explain(new OperatorError(state.error))
  const bad = Object.values(states).some(({ status }) => status !== 'ok')
  const lines = Object.entries(states).map(
    ([name, { status, state, error = state }]) => `${name}: ${status}${error === undefined ? '' : ` (${error})`}`,
  )
  print({ json: { status: bad ? 'failing' : 'ok', dependencies: states }, text: lines.join('\n') }, values.json)
  if (bad) process.exitCode = 1
}

async function checkSchema({ pool }: Pick<Deps, 'pool'>): Promise<State> {
  try {
    const pending = await pendingMigrations(pool)
    return pending.length === 0
      ? { status: 'ok' }
      : { status: 'ok', state: `the next start applies ${pending.map(({ name }) => name).join(', ')}` }
  } catch (error) {
    return { status: 'failing', error: reasonOf(error) }
  }
}
