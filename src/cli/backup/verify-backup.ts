// `depot backup verify`: restores a backup into a scratch folder, compares what was restored, and deletes the folder.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments } from '#cli/kit/arguments.ts'
import { createSteps } from '#cli/kit/progress.ts'
import { type Env, print, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { countOf, digestOf } from '#features/operation/backup/events/event-digest.ts'
import { type RestoreReport, restoreBackup } from '#features/operation/backup/restore-backup.ts'
import { type VerifyReport, verifyInstance } from '#features/operation/backup/verify-instance.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { describeFinding } from './describe-finding.ts'
import { readIdentities, withBackup } from './restore.ts'

const LABELS = { rows: 'Rows', files: 'Files', events: 'Events', compare: 'Compared files' } as const

export async function verifyBackupCommand(args: readonly string[], env: Env): Promise<void> {
  const options = { identity: 'string', scratch: 'string', json: 'boolean' } as const
  const { values, words } = readArguments(args, options, { min: 1, max: 1000 })
  const identities = await readIdentities(values.identity)
  const parent = values.scratch ?? tmpdir()
  const folder = await mkdtemp(join(parent, 'depot-verify-')).catch((cause: Error) => {
    throw new OperatorError(`Cannot create a scratch folder in ${parent}: ${cause.message}`, { cause })
  })
  const { onProgress, end } = createSteps(LABELS)
  try {
    const { restored, compared } = await withBackup(words, env, (chosen) =>
      // With the embedded engines, whatever the settings of the instance are.
      withUnmigratedDeps({ DATA_DIR: folder }, async (deps) => {
        const report = await restoreBackup(deps, { ...chosen, identities, onProgress })
        const onFile = (done: number): void => onProgress('compare', done)
        const found = await verifyInstance(deps, { canReadEvents: true, onProgress: onFile })
        const events = countOf(await digestOf(deps.analytics, () => undefined))
        return { restored: report, compared: { ...found, lostEvents: report.events - events } }
      }),
    ).finally(end)
    const isGood = compared.findings === 0 && compared.lostEvents === 0 && restored.missing === 0
    const { id, created, rows, files, events, missing } = restored
    const { findings, listed, lostEvents } = compared
    const json = { id, created, good: isGood, rows, files, events, missing, lost_events: lostEvents, findings, listed }
    print({ json, text: describe(restored, compared, isGood) }, values.json)
    if (!isGood) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Compared = VerifyReport & { lostEvents: number }

function describe(
  { created, rows, files, events, missing }: RestoreReport,
  { listed, findings, lostEvents }: Compared,
  isGood: boolean,
): string {
  const counted = `${rows} rows, ${files} files, ${events} events`
  if (isGood) return `The backup of ${created} is good: ${counted}`
  return [
    `The backup of ${created} is not good: ${counted}`,
    ...(missing > 0 ? [`Files that were missing in the store when the backup was made: ${missing}`] : []),
    ...(lostEvents === 0 ? [] : [`Events that differ after the restore: ${lostEvents}`]),
    ...listed.map(describeFinding),
    ...(findings > listed.length ? [`and ${findings - listed.length} more`] : []),
    'Run `depot doctor --full` on the instance to find its cause, and make a new backup.',
  ].join('\n')
}
