// Problems of the instance, as codes with values. The page makes sentences of them.

import type { Static } from 'typebox'
import Type from 'typebox'
import type { Readiness } from '#features/basics/meta/readiness.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { TaskCounts } from './background-jobs/views.ts'
import { BACKUP_DAYS_MAX } from './backups/backup-age.ts'
import type { FiguresView } from './figures/views.ts'
import { MAIL_TASKS } from './mail/queries.ts'
import type { InstanceState } from './queries.ts'

export const PROBLEM_CODES = [
  'dependency',
  'jobs_failed',
  'jobs_waiting',
  'mail_rejected',
  'mail_in_folder',
  'errors',
  'slow',
  'disk_full',
  'disk_filling',
  'backup_missing',
  'backup_old',
  'backup_incomplete',
  'backup_late',
  'orphaned_files',
  'review_waiting',
  'scans_waiting',
  'scanner_failing',
  'certificate_ending',
  'release_available',
  'base_url',
  'read_only',
  'manifest_failing',
  'game_versions_old',
] as const
export type ProblemCode = (typeof PROBLEM_CODES)[number]

export const ProblemView = NamedObject('InstanceProblem', {
  code: Type.Enum([...PROBLEM_CODES], {
    description:
      '`dependency`: a part does not work (`name`, `status`). `jobs_failed`: jobs failed on their last attempt (`count`, ' +
      '`tasks`). `jobs_waiting`: no worker runs due jobs (`seconds`). `mail_rejected`: emails cannot be sent (`count`, ' +
      '`response`). `mail_in_folder`: no mail server is set. `errors`: many 5xx in the last 15 minutes (`failed`, ' +
      '`requests`). `slow`: slow responses in the last 15 minutes (`p95_ms`). `disk_full`: little free space ' +
      '(`free_bytes`, `total_bytes`). `disk_filling`: the disk is full soon (`days`). `backup_missing`: no backup is ' +
      'known. `backup_old`: age of the last backup (`days`). `backup_incomplete`: files were missing (`files`). ' +
      '`backup_late`: scheduled backups fail; age of the last good one (`hours`). ' +
      '`orphaned_files`: files to which nothing refers (`files`, `bytes`). `review_waiting`: projects wait for a ' +
      'review (`projects`, `days`). `scans_waiting`: files wait for the scanner (`versions`, `hours`). `scanner_failing`: the scanner ' +
      'has failed at least twice (`versions`, `response`). `certificate_ending`: the certificate of BASE_URL ends (`days`; ' +
      '0 if it has ended). `release_available`: a newer release of Depot (`version`, `url`). `base_url`: ' +
      'BASE_URL is a guess (`url`). `read_only`: the instance is read-only. `manifest_failing`: GAME_VERSIONS_URL cannot be ' +
      'read (`days`, `reason`). `game_versions_old`: age of the newest game version, without a manifest (`days`, `newest`)',
  }),
  severity: Type.Enum(['error', 'warning']),
  values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
})
export type Problem = Static<typeof ProblemView>

export type Situation = {
  now: number
  dependencies: Static<typeof Readiness>['dependencies']
  tasks: readonly TaskCounts[]
  state: InstanceState
  /** Totals of the last 15 minutes. */
  recent: FiguresView['totals']
  disk: { freeBytes: number; totalBytes: number }
  daysLeft: number | null
  orphans: { files: number; bytes: number }
  backup: { at: string; missing: number } | undefined
  /** Age of the last good backup, if a scheduled one is late. */
  lateBackupMs: number | undefined
  mailKind: 'smtp' | 'outbox'
  /** The public URL if it is a guess. */
  guessedUrl: string | undefined
  isReadOnly: boolean
  /** When the certificate of the public URL ends. */
  certificateUntil: Date | undefined
  newRelease: { version: string; url: string } | undefined
  gameVersions: {
    hasManifest: boolean
    /** Since when the manifest cannot be read. */
    failingSince: Date | null
    reason: string | null
    newest: { value: string; created: string } | undefined
  }
}

const JOBS_WAIT_SECONDS_MAX = 300
const FAILED_MIN = 10
const FAILED_SHARE_MAX = 0.01
const REQUESTS_MIN = 100
const P95_MS_MAX = 1_000
const FREE_SHARE_MIN = 0.1
const FREE_SHARE_ERROR = 0.03
const DAYS_LEFT_MIN = 30
const REVIEW_DAYS_MAX = 7
const SCAN_MS_MAX = 3_600_000
const CERTIFICATE_DAYS_MIN = 21
const CERTIFICATE_DAYS_ERROR = 7
const MANIFEST_DAYS_MAX = 2
/** The game has a release each quarter, and snapshots in between. */
const GAME_VERSION_DAYS_MAX = 180

const error = (code: ProblemCode, values: Problem['values'] = {}): Problem => ({ code, severity: 'error', values })
const warning = (code: ProblemCode, values: Problem['values'] = {}): Problem => ({ code, severity: 'warning', values })

/** Returns the problems, errors first. */
export function findProblems(situation: Situation): Problem[] {
  const found = [
    ...dependencyProblems(situation),
    ...diskProblems(situation),
    ...jobProblems(situation),
    ...requestProblems(situation),
    ...backupProblems(situation),
    ...waitingProblems(situation),
    ...certificateProblems(situation),
    ...settingProblems(situation),
    ...gameVersionProblems(situation),
  ]
  return [
    ...found.filter(({ severity }) => severity === 'error'),
    ...found.filter(({ severity }) => severity === 'warning'),
  ]
}

function dependencyProblems({ dependencies }: Situation): Problem[] {
  return Object.entries(dependencies).flatMap(([name, { status }]) => {
    if (status === 'ok') return []
    return [status === 'slow' ? warning('dependency', { name, status }) : error('dependency', { name, status })]
  })
}

function diskProblems({ disk: { freeBytes, totalBytes }, daysLeft, orphans }: Situation): Problem[] {
  const share = freeBytes / totalBytes
  const space = { free_bytes: freeBytes, total_bytes: totalBytes }
  const problems: Problem[] = []
  if (share < FREE_SHARE_ERROR) problems.push(error('disk_full', space))
  else if (share < FREE_SHARE_MIN) problems.push(warning('disk_full', space))
  else if (daysLeft !== null && daysLeft < DAYS_LEFT_MIN) problems.push(warning('disk_filling', { days: daysLeft }))
  if (orphans.files > 0) problems.push(warning('orphaned_files', orphans))
  return problems
}

function jobProblems({ tasks, state }: Situation): Problem[] {
  const isMail = ({ task }: TaskCounts) => MAIL_TASKS.some((name) => name === task)
  const mails = tasks.filter(isMail).reduce((sum, { failed, retrying }) => sum + failed + retrying, 0)
  const failed = tasks.filter((counts) => counts.failed > 0)
  const count = failed.reduce((sum, counts) => sum + counts.failed, 0)
  const names = failed.map(({ task }) => task).join(', ')
  const seconds = Math.round(state.oldestReadySeconds)
  return [
    ...(count > 0 ? [error('jobs_failed', { count, tasks: names })] : []),
    ...(seconds > JOBS_WAIT_SECONDS_MAX ? [error('jobs_waiting', { seconds })] : []),
    ...(mails > 0 ? [error('mail_rejected', { count: mails, response: state.mailResponse })] : []),
  ]
}

function requestProblems({ recent: { failed, requests, p95_ms } }: Situation): Problem[] {
  const problems: Problem[] = []
  if (failed >= FAILED_MIN && failed / requests > FAILED_SHARE_MAX) problems.push(error('errors', { failed, requests }))
  if (requests >= REQUESTS_MIN && p95_ms !== null && p95_ms > P95_MS_MAX) problems.push(warning('slow', { p95_ms }))
  return problems
}

function backupProblems({ backup, lateBackupMs, state, now }: Situation): Problem[] {
  if (lateBackupMs !== undefined) return [error('backup_late', { hours: Math.floor(lateBackupMs / HOUR_MS) })]
  if (backup === undefined) return state.hasProjects ? [warning('backup_missing')] : []
  const days = Math.floor((now - new Date(backup.at).getTime()) / DAY_MS)
  return [
    ...(days > BACKUP_DAYS_MAX ? [warning('backup_old', { days })] : []),
    ...(backup.missing > 0 ? [error('backup_incomplete', { files: backup.missing })] : []),
  ]
}

function waitingProblems({ state, now }: Situation): Problem[] {
  const ageMs = (since: Date | null) => (since === null ? 0 : now - since.getTime())
  const days = Math.floor(ageMs(state.reviewSince) / DAY_MS)
  const scanMs = ageMs(state.scansSince)
  return [
    ...(state.scansFailing > 0
      ? [error('scanner_failing', { versions: state.scansFailing, response: state.scanError })]
      : []),
    ...(days > REVIEW_DAYS_MAX ? [warning('review_waiting', { projects: state.inReview, days })] : []),
    ...(scanMs > SCAN_MS_MAX
      ? [error('scans_waiting', { versions: state.scansWaiting, hours: Math.floor(scanMs / SCAN_MS_MAX) })]
      : []),
  ]
}

/** Certificates of usual services are renewed 30 days before their end. */
function certificateProblems({ certificateUntil, now }: Situation): Problem[] {
  if (certificateUntil === undefined) return []
  const days = Math.max(0, Math.floor((certificateUntil.getTime() - now) / DAY_MS))
  if (days >= CERTIFICATE_DAYS_MIN) return []
  return [(days < CERTIFICATE_DAYS_ERROR ? error : warning)('certificate_ending', { days })]
}

function settingProblems({ mailKind, guessedUrl, isReadOnly, newRelease }: Situation): Problem[] {
  return [
    ...(newRelease === undefined ? [] : [warning('release_available', newRelease)]),
    ...(isReadOnly ? [warning('read_only')] : []),
    ...(guessedUrl === undefined ? [] : [warning('base_url', { url: guessedUrl })]),
    ...(mailKind === 'outbox' ? [warning('mail_in_folder')] : []),
  ]
}

/** Returns why the list of game versions is not current. */
export function gameVersionProblems({ gameVersions, now }: Pick<Situation, 'gameVersions' | 'now'>): Problem[] {
  const { hasManifest, failingSince, reason, newest } = gameVersions
  const days = (since: number) => Math.floor((now - since) / DAY_MS)
  if (hasManifest) {
    const age = failingSince === null ? 0 : days(failingSince.getTime())
    return age >= MANIFEST_DAYS_MAX ? [warning('manifest_failing', { days: age, reason })] : []
  }
  const age = newest === undefined ? 0 : days(Date.parse(newest.created))
  return age > GAME_VERSION_DAYS_MAX ? [warning('game_versions_old', { days: age, newest: newest?.value ?? null })] : []
}
