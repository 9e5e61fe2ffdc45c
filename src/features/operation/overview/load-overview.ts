// The overview of the instance: problems, dependencies, figures, jobs.
import semver from 'semver'
import type { sharedChecks } from '#features/basics/meta/readiness.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { readModerationCounts } from '#features/community/moderation/queries.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { commitId, VERSION } from '#platform/config/version.ts'
import { noDurations, percentile } from '#platform/telemetry/figures.ts'
import type { Deps } from '#ports/deps.ts'
import { loadTaskCounts } from './background-jobs/queries.ts'
import { backupAgeMs, isBackupLate, readBackupState } from './backups/backup-age.ts'
import { loadBackups } from './backups/load-backups.ts'
import { loadChecks } from './checks/queries.ts'
import { FIGURES, noFigures } from './figures/figures.ts'
import { loadFigures } from './figures/load-figures.ts'
import type { Period } from './figures/periods.ts'
import { listFigures } from './figures/queries.ts'
import type { FiguresView } from './figures/views.ts'
import { loadFirstSteps } from './first-steps.ts'
import { readGameVersions } from './game-versions.ts'
import { findProblems } from './problems.ts'
import { listRecurringJobs, loadTotals, readState } from './queries.ts'
import { diskSpace } from './storage/disk.ts'
import { growthOf } from './storage/growth.ts'
import { listMeasures } from './storage/queries.ts'
import type { OverviewView } from './views.ts'

export type OverviewDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'taxonomy'> & {
  /** Checks the dependencies as `/ready` does. */
  checks: ReturnType<typeof sharedChecks>
}

/** Period of the figures from which problems are found. */
const RECENT_MS = 15 * MINUTE_MS

export async function loadOverview(deps: OverviewDeps, period: Period): Promise<OverviewView> {
  const { db, config, now, checks } = deps
  const { status, dependencies } = await checks()
  const tasks = await loadTaskCounts(db)
  const state = await readState(db)
  const measures = await listMeasures(db)
  const [backup] = await loadBackups(db, 1)
  const backups = await readBackupState(db)
  const ageMs = backupAgeMs(backups, now())
  const disk = await diskSpace(config.dataDir)
  const { daysLeft } = growthOf(measures, config, disk.freeBytes)
  const newest = measures.at(-1)
  const { orphan_files: files = 0, orphan_bytes: bytes = 0 } = newest ?? {}
  const { release, certificate } = await loadChecks(db, now())
  const newRelease =
    release !== undefined && semver.gt(release.version, VERSION)
      ? { version: release.version, url: release.url }
      : undefined
  const gameVersions = await readGameVersions(deps)
  const problems = findProblems({
    ...{ now: now(), dependencies, tasks, state, disk, daysLeft, backup, orphans: { files, bytes } },
    recent: await loadRecent(db, now()),
    mailKind: config.mail.kind,
    guessedUrl: config.http.isBaseUrlGuessed ? config.http.baseUrl : undefined,
    lateBackupMs: isBackupLate(ageMs, config) ? ageMs : undefined,
    isReadOnly: (await getSettings(deps)).read_only,
    certificateUntil: certificate && new Date(certificate.until),
    newRelease,
    gameVersions,
  })
  return {
    ...{ version: VERSION, commit: commitId(), status, problems, tasks },
    first_steps: await loadFirstSteps(deps, { gameVersions, hasBackup: backups.lastGood !== null }),
    uptime_seconds: Math.floor(process.uptime()),
    http_processes: 1,
    // Only the log has the reasons of failures.
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([name, { status, state }]) => [
        name,
        { status, ...(state === undefined ? {} : { state }) },
      ]),
    ),
    figures: await loadFigures(db, period, now()),
    recurring: (await listRecurringJobs(db)).map(({ last, next, ...job }) => ({
      ...job,
      last: last.toISOString(),
      next: next.toISOString(),
    })),
    totals: {
      ...(await loadTotals(db)),
      file_bytes: newest === undefined ? null : newest.version_bytes + newest.image_bytes,
    },
    moderation: await loadModerationWork(db),
    certificate_until: certificate?.until ?? null,
    new_release: newRelease ?? null,
    in_review: { projects: state.inReview, since: state.reviewSince?.toISOString() ?? null },
    disk: { free_bytes: disk.freeBytes, total_bytes: disk.totalBytes, days_left: daysLeft },
    backup: backup ?? null,
    last_good_backup: backups.lastGood?.toISOString() ?? null,
  }
}

async function loadRecent(db: Deps['db'], now: number): Promise<FiguresView['totals']> {
  const range = { since: new Date(now - RECENT_MS), until: new Date(now + MINUTE_MS) }
  // One step that contains the whole range.
  const points = await listFigures(db, { span: 'minute', ...range, stepSeconds: 1e10 })
  const point = points[0] ?? { ...noFigures(), durations: noDurations(), in_review: null }
  const counts = Object.fromEntries(FIGURES.map((figure) => [figure, point[figure]]))
  return {
    ...noFigures(),
    ...counts,
    in_review: point.in_review,
    median_ms: percentile(point.durations, 0.5),
    p95_ms: percentile(point.durations, 0.95),
  }
}

/** Returns how much work waits for moderators. */
async function loadModerationWork(db: Deps['db']): Promise<OverviewView['moderation']> {
  const { mine: _, ...counts } = await readModerationCounts(db, '')
  return counts
}
