// Scans the files of a version and acts on the verdict.

import { listMemberIds } from '#features/basics/access/memberships.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { hideVersion } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { releaseHeldVersion } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { oneLine, type Scanner, VERDICTS, type Verdict } from '#ports/scanner/scanner.ts'
import { claimScan, type FileToScan, type Finding, listFilesToScan, lockScan, settleScan } from './queries.ts'

export type ScanDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'log' | 'now' | 'config'>

type ScanResult = { state: Verdict; reason: string | null; findings: Finding[] }

const REASON_LENGTH_MAX = 500
/** Pause before a failed scan is retried. It doubles with each attempt, up to the maximum. */
const FIRST_PAUSE_MS = 30_000
const PAUSE_MAX_MS = 15 * MINUTE_MS

/**
 * Scans the files of a version and stores the verdict. If the scanner fails, the version remains hidden and the scan is
 * retried later. Idempotent: does nothing if no scan is due.
 * @param scanner undefined if the operator removed the scanner: every file then passes.
 */
export async function scanVersion(
  deps: ScanDeps,
  scanner: Scanner | undefined,
  { versionId, signal }: { versionId: string; signal: AbortSignal },
): Promise<void> {
  const { db, now, config } = deps
  const timeoutMs = config.scanner.kind === 'none' ? 0 : config.scanner.timeoutMs
  const claim = await claimScan(db, versionId, { now: new Date(now()), timeoutMs })
  if (claim === undefined) return
  const round = { versionId, round: claim.round }
  try {
    const files = await listFilesToScan(db, versionId)
    const result: ScanResult =
      scanner === undefined
        ? { state: 'pass', reason: 'No scanner is configured', findings: [] }
        : await scanFiles(deps, scanner, { ...round, files, signal })
    await applyResult(deps, round, result)
  } catch (error) {
    if (signal.aborted) {
      await settleScan(db, round, { next_attempt: new Date(now()) })
      return
    }
    const attempts = claim.attempts + 1
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(claim.attempts, 20), PAUSE_MAX_MS)
    const message = error instanceof Error ? error.message : String(error)
    await settleScan(db, round, {
      attempts,
      next_attempt: new Date(now() + pauseMs),
      last_error: oneLine(message, REASON_LENGTH_MAX),
    })
    deps.log.warn(
      { err: error, version_id: versionId, scan: { attempts, pause_ms: pauseMs } },
      'The scanner returned no verdict; the version remains hidden',
    )
  }
}

async function scanFiles(
  deps: ScanDeps,
  scanner: Scanner,
  { versionId, files, signal }: { versionId: string; files: readonly FileToScan[]; signal: AbortSignal },
): Promise<ScanResult> {
  const findings: Finding[] = []
  for (const file of files) {
    const { verdict, reason } = await scanFile(deps, scanner, { versionId, file, signal })
    findings.push({ file_id: file.id, filename: file.filename, verdict, reason })
  }
  const worst = findings.map(({ verdict }) => VERDICTS.indexOf(verdict)).reduce((a, b) => Math.max(a, b), 0)
  const state = VERDICTS[worst] ?? 'pass'
  const reasons = findings.flatMap(({ verdict, filename, reason }) =>
    verdict === state && reason !== null ? `${filename}: ${reason}` : [],
  )
  return { state, reason: oneLine(reasons.join('; '), REASON_LENGTH_MAX) || null, findings }
}

/** Copies the file to the local disk for the scanner, because the store can be remote. */
async function scanFile(
  { files: store }: ScanDeps,
  scanner: Scanner,
  { versionId, file, signal }: { versionId: string; file: FileToScan; signal: AbortSignal },
) {
  const opened = await store.open(file.storage_key)
  if (opened === undefined) throw new Error(`The file ${file.id} is missing from the store`)
  const staged = await store.stage(opened.stream, { maxBytes: opened.sizeBytes, signal })
  try {
    if (staged.sha512 !== file.sha512)
      throw new Error(`The stored content of file ${file.id} differs from the uploaded content`)
    const { id: fileId, filename, project_id: projectId } = file
    return await scanner.scan({ ...staged, fileId, filename, versionId, projectId }, signal)
  } finally {
    await store.discard(staged)
  }
}

async function applyResult(
  deps: ScanDeps,
  { versionId, round }: { versionId: string; round: number },
  { state, reason, findings }: ScanResult,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, versionId)
    if (locked === undefined) return
    const { project, version } = locked
    const finished = new Date(deps.now())
    const verdict = { state, reason, findings: JSON.stringify(findings), finished, last_error: null }
    if (!(await settleScan(tx, { versionId, round }, verdict))) return
    if (state !== 'quarantine') {
      const shownBefore = (await lockScan(tx, versionId))?.shown_before === true
      await releaseHeldVersion(tx, changed, locked, { isNews: !shownBefore, now: deps.now() })
      return
    }
    await hideVersion(tx, version)
    await insertNotifications(tx, changed, await listMemberIds(tx, project), {
      type: 'version_quarantined',
      project_id: project.id,
      version_id: versionId,
    })
    await recordVersionEvent(tx, 'scan.quarantined', { projectId: project.id, versionId }, { reason })
    changed.add('version', versionId)
    changed.add('project', project.id)
  })
}
