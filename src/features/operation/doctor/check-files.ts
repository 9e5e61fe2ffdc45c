// Checks rows against files and download counters against events.

import { withReferences } from '#features/operation/backup/stored-keys.ts'
import {
  type Finding as Inconsistency,
  type VerifyReport,
  verifyInstance,
} from '#features/operation/backup/verify-instance.ts'
import { reconcileDownloads } from '#features/reading/downloads/reconcile-downloads.ts'
import { withConnection } from '#platform/db/db.ts'
import { type DoctorDeps, error, type Finding, restoreCommand, warning } from './finding.ts'

/** Number of findings of one kind that are listed. */
const LISTED_MAX = 20

export type FilesReport = { findings: Finding[]; files: number; skipped: string[] }

/** @param isFull whether to compare the hash of every file, not only its size */
export async function checkFiles(
  deps: DoctorDeps,
  {
    isFull,
    canReadEvents,
    onProgress,
  }: { isFull: boolean; canReadEvents: boolean; onProgress?: (done: number) => void },
): Promise<FilesReport> {
  const report = await verifyInstance(deps, { quick: !isFull, canReadEvents, ...(onProgress && { onProgress }) })
  return {
    findings: [
      ...describe(report, 'missing-file', ({ key }) =>
        error(
          'file_missing',
          `The file ${key} is missing in the store; restore it with \`${restoreCommand(deps.config, `files ${key}`)}\`.`,
        ),
      ),
      ...describe(report, 'changed-file', ({ key, detail }) =>
        error(
          'file_changed',
          `The file ${key} differs from its row (${detail}); restore it with \`${restoreCommand(deps.config, `files ${key}`)}\`.`,
        ),
      ),
      ...describe(report, 'unused-file', ({ key, sizeBytes }) =>
        warning(
          'file_unused',
          `The file ${key} (${sizeBytes} bytes) belongs to nothing; delete it with \`depot doctor --fix\`.`,
          () => removeUnused(deps, key),
        ),
      ),
      ...counters(deps, report),
    ],
    files: report.files,
    skipped: report.skipped,
  }
}

type Of<What> = Extract<Inconsistency, { what: What }>

function describe<What extends Inconsistency['what']>(
  { listed }: VerifyReport,
  what: What,
  toFinding: (one: Of<What>) => Finding,
): Finding[] {
  const found = listed.filter((one): one is Of<What> => one.what === what)
  const shown = found.slice(0, LISTED_MAX).map(toFinding)
  const rest = found.slice(LISTED_MAX).map(toFinding)
  const [first] = rest
  if (first === undefined) return shown
  // The remaining ones are one finding, which is corrected together.
  const fixes = rest.flatMap(({ fix }) => fix ?? [])
  const message = `${rest.length} more files have the same fault; \`depot doctor --json --full\` and a backup help as above.`
  const together = async (): Promise<void> => {
    for (const fix of fixes) await fix()
  }
  return [...shown, { ...first, message, ...(fixes.length > 0 && { fix: together }) }]
}

function counters(deps: DoctorDeps, { listed }: VerifyReport): Finding[] {
  const wrong = listed.filter((one) => one.what === 'wrong-counter')
  if (wrong.length === 0) return []
  const message = `${wrong.length} download counters differ from the events; correct them with \`depot doctor --fix\`.`
  return [error('downloads_wrong', message, () => reconcileDownloads({ ...deps, store: deps.analytics }))]
}

/** Removes a file unless something refers to it by now. */
async function removeUnused({ pool, files }: Pick<DoctorDeps, 'pool' | 'files'>, key: string): Promise<void> {
  await withConnection(pool, 'depot-doctor', async (client) => {
    for await (const [, isReferenced] of withReferences(client, [{ key }])) if (!isReferenced) await files.remove(key)
  })
}
