// `depot restore --only events` and `depot restore --only files`.
import { existsSync } from 'node:fs'
import { createSteps } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { RestoreOptions } from '#features/operation/backup/restore-backup.ts'
import { restoreEvents, restoreFiles } from '#features/operation/backup/restore-part.ts'
import { isServed } from '#features/operation/backup/rows.ts'
import { setAsideIfDamaged } from '#main/set-aside-analytics.ts'
import { loadConfig } from '#platform/config/load-config.ts'

const LABELS = { rows: 'Rows', files: 'Files', events: 'Events' } as const

type Chosen = Pick<RestoreOptions, 'source' | 'earlier' | 'packs'>
type WithBackup = <T>(words: readonly string[], env: Env, act: (backup: Chosen) => Promise<T>) => Promise<T>
type Request = { words: readonly string[]; identities: readonly string[]; json: boolean | undefined }

/** Renames a damaged file first. */
export async function restoreOnlyEvents(
  withBackup: WithBackup,
  env: Env,
  { words, identities, json }: Request,
): Promise<void> {
  const steps = createSteps(LABELS)
  const config = loadConfig(env)
  const report = await withBackup(words, env, async (chosen) => {
    const isRunning = await withDeps(env, ({ pool }) => isServed(pool))
    const moved = isRunning ? [] : await setAsideIfDamaged(config)
    const restored = await withDeps(env, async (deps) => {
      const events = await restoreEvents(deps, { ...chosen, identities, onProgress: steps.onProgress })
      await recordAudit(deps.db, { action: 'backup.restored', actor: COMMAND, details: { only: 'events', ...events } })
      return events
    })
    return { ...restored, moved }
  }).finally(steps.end)
  const { created, events, moved } = report
  const renamed = moved.length === 0 ? '' : `Renamed the damaged file to ${moved.join(' and ')}.\n`
  const text = `${renamed}Restored ${events} events of the backup of ${created}. Later events are lost; download counters keep their values.`
  print({ json: report, text }, json)
}

/** A word after the backup that is a file here is an earlier backup; every other one is the name of a file to restore. */
export async function restoreOnlyFiles(
  withBackup: WithBackup,
  env: Env,
  { words, identities, json }: Request,
): Promise<void> {
  const [name = '-', ...others] = words
  const isEarlier = (word: string): boolean => existsSync(word)
  const keys = others.filter((word) => !isEarlier(word)).map((word) => word.replace(/^files\//, ''))
  const steps = createSteps(LABELS)
  const report = await withBackup([name, ...others.filter(isEarlier)], env, (chosen) =>
    withDeps(env, async (deps) => {
      const restored = await restoreFiles(deps, { ...chosen, identities, keys, onProgress: steps.onProgress })
      const { created, files, missing } = restored
      const details = { only: 'files', created, files, missing: missing.length }
      await recordAudit(deps.db, { action: 'backup.restored', actor: COMMAND, details })
      return restored
    }),
  ).finally(steps.end)
  const { created, files, missing } = report
  const lines = [
    `Restored ${files} files of the backup of ${created}`,
    ...missing.map((key) => `Missing in the backup: ${key}. Use another backup.`),
  ]
  print({ json: report, text: lines.join('\n') }, json)
  if (missing.length > 0) process.exitCode = 1
}
