// What one recorded event looks like, kind by kind, and how each of its columns is stored. Neither an address,
// nor a hash of one, nor an account is part of an event: what tells visitors apart (visitor.ts) serves the counting
// rules before an event is made, nothing reads it afterwards, and it would be a third of the disk.

/** Who did it and where, as far as it is kept. */
type Origin = {
  /** Server time in milliseconds since 1970, an integer. */
  recorded_at: number
  /** ISO 3166 alpha-2 in capitals, `XX` when unknown. */
  country: string
  /** Label of a known client program, empty when unknown; never the raw header. */
  user_agent: string
}

export type ViewEvent = Origin & { project_id: string; domain: string; site_path: string; monetized: boolean }

export type DownloadEvent = Origin & {
  project_id: string
  version_id: string
  domain: string
  site_path: string
  /** Whether a signed-in account downloaded. */
  monetized: boolean
  /** `standalone`, `dependency`, `modpack`, `update`, or empty. */
  reason: string
  loader: string
  game_version: string
}

export type PlaytimeEvent = {
  recorded_at: number
  project_id: string
  version_id: string
  loader: string
  game_version: string
  /** 0 to 65535. */
  seconds: number
}

export type AffiliateClickEvent = Origin & { affiliate_code_id: string; domain: string }

export type Events = {
  view: ViewEvent
  download: DownloadEvent
  playtime: PlaytimeEvent
  affiliate_click: AffiliateClickEvent
}

export type EventKind = keyof Events

/**
 * How a column is kept. `term`: text of many distinct values, stored once and referred to by a number; `text`: text of
 * few distinct values.
 */
export type ColumnType = 'time' | 'term' | 'text' | 'flag' | 'number'

const ORIGIN = { recorded_at: 'time', country: 'text', user_agent: 'text' } as const

/** Every column of every kind, in the order they are stored. */
export const COLUMNS = {
  view: { ...ORIGIN, project_id: 'term', domain: 'text', site_path: 'term', monetized: 'flag' },
  download: {
    ...ORIGIN,
    project_id: 'term',
    version_id: 'term',
    domain: 'text',
    site_path: 'term',
    monetized: 'flag',
    reason: 'text',
    loader: 'text',
    game_version: 'text',
  },
  playtime: {
    recorded_at: 'time',
    project_id: 'term',
    version_id: 'term',
    loader: 'text',
    game_version: 'text',
    seconds: 'number',
  },
  affiliate_click: { ...ORIGIN, affiliate_code_id: 'term', domain: 'text' },
} as const satisfies { [K in EventKind]: { [C in keyof Events[K]]: ColumnType } }

export const EVENT_KINDS = Object.keys(COLUMNS) as EventKind[]

export type ColumnValue = string | number | boolean
export type EventRow = Readonly<Record<string, ColumnValue>>

/** Name and type of each column of a kind, in stored order. */
export function columnsOf(kind: EventKind): [name: string, type: ColumnType][] {
  return Object.entries(COLUMNS[kind])
}

/** Longest text of a column in UTF-16 code units; a domain name has at most 253, facts for paths 512. */
const TEXT_MAX: Readonly<Record<string, number>> = { domain: 253, site_path: 512 }
const OTHER_TEXT_MAX = 64

/**
 * The event with every text cut to its longest length and made well-formed Unicode, so that a flood of long paths
 * cannot fill memory and every adapter stores the same characters. An unusable country becomes `XX`.
 */
export function boundEvent<K extends EventKind>(event: Events[K]): Events[K] {
  const row: Record<string, ColumnValue> = { ...event }
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'string') row[column] = boundText(value, TEXT_MAX[column] ?? OTHER_TEXT_MAX)
  }
  const { country } = row
  if (country !== undefined && !/^[A-Z]{2}$/.test(String(country))) return { ...row, country: 'XX' } as Events[K]
  return row as Events[K]
}

function boundText(text: string, max: number): string {
  const short = text.length > max ? text.slice(0, max) : text
  return short.toWellFormed().replaceAll('\0', '')
}
