// Events of one year, the same in every run, and the size of the store that has them.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BASE62 } from '#lib/ids.ts'
import { APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import type { DownloadEvent, ViewEvent } from '#ports/analytics-store/events.ts'

const START = Date.UTC(2024, 0, 1)
const END = Date.UTC(2025, 0, 1)
const VIEW_SHARE = 0.6

type Size = { events: number; projects: number }

/** Returns the events from number `from` on, as many as the store accepts in a batch. */
export function randomEvents(random: () => number, from: number, size: Size) {
  const views: ViewEvent[] = []
  const downloads: DownloadEvent[] = []
  for (let i = from; i < Math.min(size.events, from + APPEND_EVENTS_MAX); i += 1) {
    const recordedAt = START + Math.floor((i / size.events) * (END - START))
    if (random() < VIEW_SHARE) views.push(randomView(random, recordedAt, size))
    else downloads.push(randomDownload(random, recordedAt, size))
  }
  return { views, downloads }
}

function randomView(random: () => number, recorded_at: number, size: Size): ViewEvent {
  const project = pick(random, size.projects)
  return {
    ...randomOrigin(random, recorded_at),
    project_id: projectId(project),
    domain: random() < 0.5 ? 'catalogue.example' : `referrer-${pick(random, 400)}.example`,
    site_path: `/mod/some-project-${project}${random() < 0.2 ? '/versions' : ''}`,
    monetized: random() < 0.4,
  }
}

function randomDownload(random: () => number, recorded_at: number, size: Size): DownloadEvent {
  const project = pick(random, size.projects)
  return {
    ...randomOrigin(random, recorded_at),
    project_id: projectId(project),
    version_id: `V${projectId(project * 8 + pick(random, 8)).slice(1)}`,
    domain: random() < 0.7 ? '' : 'catalogue.example',
    site_path: random() < 0.7 ? '' : `/mod/some-project-${project}`,
    monetized: random() < 0.2,
    reason: ['standalone', 'dependency', 'modpack', 'update'][pick(random, 4)] ?? '',
    loader: ['fabric', 'forge', 'neoforge', 'quilt'][pick(random, 4)] ?? '',
    game_version: `1.${20 - pick(random, 12)}`,
  }
}

function randomOrigin(random: () => number, recorded_at: number) {
  const country = pick(random, 60)
  return {
    recorded_at,
    country: String.fromCharCode(65 + (country % 26), 65 + ((country * 7) % 26)),
    user_agent: ['website', 'launcher-a', 'launcher-b', 'launcher-c', ''][pick(random, 5)] ?? '',
  }
}

/** An index below `count`, small ones far more often, as popularity is. */
function pick(random: () => number, count: number): number {
  return Math.floor(count * random() ** 3)
}

/** Eight base62 characters that spread over the whole space, as real IDs do; different for each index. */
function projectId(index: number): string {
  let rest = (BigInt(index + 1) * 131_071_000_037n) % 62n ** 8n
  let id = ''
  for (let i = 0; i < 8; i += 1) {
    id += BASE62[Number(rest % 62n)]
    rest /= 62n
  }
  return id
}

/** The same numbers on every run (mulberry32). */
export function randomSource(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the bytes of all files in a folder. */
export async function sizeOf(dir: string): Promise<number> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const stats = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))))
  return stats.reduce((sum, file) => sum + file.size, 0)
}
