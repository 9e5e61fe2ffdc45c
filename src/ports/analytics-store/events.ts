// The kinds of events and the types of their columns. Events contain no IP address, no hash of one and no account.
// Counting rules distinguish visitors before an event is created (visitor.ts); nothing needs this data later, and it would
// take a third of the disk.

/**
 * Storage of a column. `term`: text with many distinct values, which are stored once and referred to by a number; `text`:
 * text with few distinct values.
 */
type ColumnTypes = { time: number; term: string; text: string; flag: boolean; number: number }
export type ColumnType = keyof ColumnTypes

const ORIGIN = {
  /** Server time in whole milliseconds since 1970. */
  recorded_at: 'time',
  /** ISO 3166-1 alpha-2 code in capitals; `XX` if unknown. */
  country: 'text',
  /** Label of a known client program; empty if unknown. Never the raw header. */
  user_agent: 'text',
} as const

/** Columns of every kind, in stored order. */
export const COLUMNS = {
  view: { ...ORIGIN, project_id: 'term', domain: 'text', site_path: 'term', monetized: 'flag' },
  download: {
    ...ORIGIN,
    project_id: 'term',
    version_id: 'term',
    domain: 'text',
    site_path: 'term',
    /** Whether a signed-in account downloaded. */
    monetized: 'flag',
    /** `standalone`, `dependency`, `modpack`, `update`, or empty. */
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
    /** 0 to 65535. */
    seconds: 'number',
  },
  affiliate_click: { ...ORIGIN, affiliate_code_id: 'term', domain: 'text' },
} as const satisfies Record<string, Record<string, ColumnType>>

export type EventKind = keyof typeof COLUMNS

type EventOf<Columns extends Record<string, ColumnType>> = { -readonly [C in keyof Columns]: ColumnTypes[Columns[C]] }
export type Events = { [K in EventKind]: EventOf<(typeof COLUMNS)[K]> }
export type ViewEvent = Events['view']
export type DownloadEvent = Events['download']

export const EVENT_KINDS = Object.keys(COLUMNS) as EventKind[]

/** Name of the table of each kind. */
export const TABLES = {
  view: 'views',
  download: 'downloads',
  playtime: 'playtime',
  affiliate_click: 'affiliate_clicks',
} as const satisfies Record<EventKind, string>

export type ColumnValue = string | number | boolean
export type EventRow = Readonly<Record<string, ColumnValue>>

/** Returns the name and type of each column of a kind, in stored order. */
export function columnsOf(kind: EventKind): [name: string, type: ColumnType][] {
  return Object.entries(COLUMNS[kind])
}

/** Maximum length of a column in UTF-16 code units. */
const TEXT_MAX: Readonly<Record<string, number>> = { domain: 253, site_path: 512 }
const OTHER_TEXT_MAX = 64

/**
 * Cuts every text to its maximum length, so that long paths cannot fill the memory, and converts it to well-formed Unicode,
 * so that every adapter stores the same characters. An invalid country becomes `XX`.
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
