// Downloads that the operator's CDN answered from its cache, as its log or its edge program reports them.

import { isIP } from 'node:net'
import { validationError } from '#lib/errors.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'
import { listServedVersions } from './queries.ts'
import { type DownloadDeps, recordDownload } from './record-download.ts'
import type { ReportedDownload } from './requests.ts'
import type { CountedDownloads } from './views.ts'

/** How far the clock of the CDN may be ahead of ours. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS
/** How late a log may come. */
const OLDEST_MS = 7 * DAY_MS

/** A report with its place in the body, for errors. */
type Located = { report: ReportedDownload; field: string }

type NamedFile = { projectId: string; versionId: string; filename: string; hints: Record<string, string> }

/**
 * Counts what was downloaded elsewhere by the rules of the file route, caps included. Visibility is not asked: a CDN
 * has only what everybody could have at that time.
 * @throws ApiError `validation_error` for an address or a time that is none; then nothing is counted.
 */
export async function countReportedDownloads(
  deps: DownloadDeps,
  located: readonly Located[],
): Promise<CountedDownloads> {
  const now = deps.now()
  const reports = located.map(({ report, field }) => ({
    recordedAt: checkTime(report.at, { field: `${field}at`, now }),
    caller: { address: checkAddress(report.ip, `${field}ip`), headers: lowerCased(report.headers) },
    signedIn: report.signed_in ?? false,
    file: parseFileAddress(report.url, deps.config.files.baseUrl),
  }))
  const served = await listServedVersions(
    deps.db,
    reports.flatMap(({ file }) => file ?? []),
  )
  const counts = { counted: 0, capped: 0, unknown: 0 }
  for (const { file, ...download } of reports) {
    if (file === undefined || !served.has(`${file.projectId}/${file.versionId}/${file.filename}`)) counts.unknown += 1
    else if (await recordDownload(deps, { ...file, ...download })) counts.counted += 1
    else counts.capped += 1
  }
  return counts
}

/** One report, as existing edge programs send them. @throws ApiError `validation_error` for what is no file of ours too. */
export async function countReportedDownload(deps: DownloadDeps, report: ReportedDownload): Promise<void> {
  const { unknown } = await countReportedDownloads(deps, [{ report, field: '' }])
  if (unknown > 0) throw validationError('url', 'is not the address of a file')
}

/** What the address of a file names; undefined when it is none. Logs have paths, programs whole addresses. */
function parseFileAddress(address: string, baseUrl: string): NamedFile | undefined {
  const url = URL.parse(address, baseUrl)
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

function checkAddress(ip: string, field: string): string {
  if (isIP(ip) === 0) throw validationError(field, 'must be an IP address')
  return ip
}

function checkTime(at: string | undefined, { field, now }: { field: string; now: number }): number | undefined {
  if (at === undefined) return undefined
  const ms = parseRfc3339(at)
  if (ms === undefined) throw validationError(field, 'must be an RFC 3339 timestamp')
  if (ms > now + CLOCK_SKEW_MS) throw validationError(field, 'lies in the future')
  if (ms < now - OLDEST_MS) throw validationError(field, 'is more than seven days ago')
  return Math.min(ms, Math.floor(now))
}

const lowerCased = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
