// Events for tests: every column has a value, and a test names the ones it is about.
import { randomUUID } from 'node:crypto'
import type { DownloadEvent, Events, ViewEvent } from '#ports/analytics-store/events.ts'

/** Noon of a leap day. */
export const NOON = Date.UTC(2024, 1, 29, 12)

const ORIGIN = { recorded_at: NOON, country: 'XX', user_agent: '' }

export function aView(given: Partial<ViewEvent> = {}): ViewEvent {
  return { ...ORIGIN, project_id: 'Lantern1', domain: '', site_path: '/', monetized: false, ...given }
}

export function aDownload(given: Partial<DownloadEvent> = {}): DownloadEvent {
  return {
    ...ORIGIN,
    project_id: 'Lantern1',
    version_id: 'Version1',
    domain: '',
    site_path: '',
    monetized: false,
    reason: '',
    loader: '',
    game_version: '',
    ...given,
  }
}

export function somePlaytime(given: Partial<Events['playtime']> = {}): Events['playtime'] {
  return {
    recorded_at: NOON,
    project_id: 'Lantern1',
    version_id: 'Version1',
    loader: '',
    game_version: '',
    seconds: 60,
    ...given,
  }
}

export function aClick(given: Partial<Events['affiliate_click']> = {}): Events['affiliate_click'] {
  return { ...ORIGIN, affiliate_code_id: 'Code0001', domain: '', ...given }
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

/** Returns these events as a separate batch. */
export function batchOf<E>(events: readonly E[]): { id: string; madeAt: number; events: readonly E[] } {
  return { id: randomUUID(), madeAt: Date.now(), events }
}
