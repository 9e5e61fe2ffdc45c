// Counts downloads that the operator's CDN served from its cache, and reports from its log or an edge worker.

import { isIP } from 'node:net'
import { validationError } from '#lib/errors.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'
import { listServedFiles } from './queries.ts'
import { type DownloadDeps, recordDownload } from './record-download.ts'
import type { CountedDownloads, ReportedDownload } from './requests.ts'

/** Maximum time by which the clock of the CDN can be ahead. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS
/** Maximum age of a report. */
const OLDEST_MS = 7 * DAY_MS

/** A report and its path in the body, for errors. */
type LocatedReport = { report: ReportedDownload; field: string }

type FileReference = { projectId: string; versionId: string; filename: string; hints: Record<string, string> }

/**
 * Counts reported downloads by the rules of the file route, including the caps. Does not check visibility, because a
 * CDN caches only files that were public at that time.
 * @throws ApiError `validation_error` for an invalid IP address or time; then nothing is counted.
 */
export async function countReportedDownloads(
  deps: DownloadDeps,
  located: readonly LocatedReport[],
): Promise<CountedDownloads> {
  const now = deps.now()
  const reports = located.map(({ report, field }) => {
    const recordedAt = checkTime(report.at, { field: `${field}at`, now })
    if (isIP(report.ip) === 0) throw validationError(`${field}ip`, 'must be an IP address')
    return {
      recordedAt,
      caller: { address: report.ip, headers: lowerCaseNames(report.headers) },
      signedIn: report.signed_in ?? false,
      file: parseFileUrl(report.url, deps.config.files.baseUrl),
    }
  })
  const files = reports.flatMap(({ file }) => file ?? [])
  const served = await listServedFiles(deps.db, files)
  const counts = { counted: 0, capped: 0, unknown: 0 }
  for (const { file, ...download } of reports) {
    if (file === undefined || !served.has(`${file.projectId}/${file.versionId}/${file.filename}`)) counts.unknown += 1
    else if (await recordDownload(deps, { ...file, ...download })) counts.counted += 1
    else counts.capped += 1
  }
  return counts
}

/** Parses the URL of a file, or its path as in logs. Returns undefined for other URLs. */
function parseFileUrl(urlOrPath: string, baseUrl: string): FileReference | undefined {
  const url = URL.parse(urlOrPath, baseUrl)
  const match = /\/data\/([^/]+)\/versions\/([^/]+)\/([^/]+)$/.exec(url?.pathname ?? '')
  const [projectId, versionId, filename] = (match?.slice(1) ?? []).map(decoded)
  if (url === null || projectId === undefined || versionId === undefined || filename === undefined) return undefined
  return { projectId, versionId, filename, hints: Object.fromEntries(url.searchParams) }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('\0', '')
  } catch {
    return undefined
  }
}

function checkTime(at: string | undefined, { field, now }: { field: string; now: number }): number | undefined {
  if (at === undefined) return undefined
  const ms = parseRfc3339(at)
  if (ms === undefined) throw validationError(field, 'must be an RFC 3339 timestamp')
  if (ms > now + CLOCK_SKEW_MS) throw validationError(field, 'must not be in the future')
  if (ms < now - OLDEST_MS) throw validationError(field, 'must not be more than 7 days ago')
  return Math.min(ms, Math.floor(now))
}

const lowerCaseNames = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
