// The cached settings that operators change while the service runs.
import type { Selectable } from 'kysely'
import { copyUrl } from '#features/basics/images/hosted-image.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'

export type SettingsRow = Selectable<InstanceSettings>

/** The settings in effect: from the database, otherwise from the environment, otherwise the defaults. */
export type Settings = {
  name: string
  /** Hue in degrees, 0 to 359; null for the default colours. */
  accent_hue: number | null
  /** Purpose of the instance, in Markdown. */
  about: string | null
  rules: string | null
  /** Announcement at the top of every page. */
  announcement: string | null
  /** Logo of the instance; null for the default logo. */
  mark: Mark | null
  registration: 'open' | 'invitation' | 'closed'
  read_only: boolean
  /** Error message of requests that change data in read-only mode. */
  read_only_message: string
}

export type Mark = {
  /** The smallest copy. */
  url: string
  /** The uploaded file; an SVG is sanitized. */
  raw_url: string
  /** Square WebP copies, smallest first; `width` is the requested width in pixels. */
  sizes: { width: number; url: string }[]
}

export type SettingsReader = { db: Db; cache: EntityCache; config: Config }

const READ_ONLY_MESSAGE = 'This service is currently read-only. Please try again later.'

/** The only ID of this kind of cache entry. */
export const SETTINGS_ID = 'instance'

const SETTINGS = {
  name: 'settings' as const,
  idOf: () => SETTINGS_ID,
  sizeOf: (row: SettingsRow) => 500 + 2 * ((row.about?.length ?? 0) + (row.rules?.length ?? 0)),
  revisionOf: (row: SettingsRow) => row.revision,
}

/** Returns the settings from the cache. A change takes effect in a process when it receives the invalidation. */
export async function getSettings(reader: SettingsReader): Promise<Settings> {
  const settings = reader.cache.kind(SETTINGS)
  const row = settings.peek(SETTINGS_ID) ?? (await settings.get(SETTINGS_ID, () => listSettingsRows(reader.db)))
  return toSettings(row, reader.config)
}

/** Returns the settings for a page, or the defaults if the database is unavailable, as error pages need them. */
export async function getShownSettings(reader: SettingsReader): Promise<Settings> {
  try {
    return await getSettings(reader)
  } catch {
    return toSettings(undefined, reader.config)
  }
}

/** Row for the cache if no setting was ever changed. */
const EMPTY_ROW: SettingsRow = {
  singleton: true,
  name: null,
  accent_hue: null,
  about: null,
  rules: null,
  announcement: null,
  mark_url: null,
  raw_mark_url: null,
  mark_widths: [],
  registration: null,
  read_only: null,
  read_only_message: null,
  changed: new Date(0),
  revision: 0,
}

/** Returns exactly one row. */
export async function listSettingsRows(db: Db): Promise<SettingsRow[]> {
  const rows = await db.selectFrom('instance_settings').selectAll().execute()
  return rows.length === 0 ? [EMPTY_ROW] : rows
}

function toMark({ mark_url: url, raw_mark_url, mark_widths }: SettingsRow): Mark | null {
  if (url === null || raw_mark_url === null) return null
  return {
    url,
    raw_url: raw_mark_url,
    sizes: mark_widths.map((width) => ({ width, url: copyUrl(raw_mark_url, width) })),
  }
}

/** Returns the settings in effect; without a row, those of the environment. */
export function toSettings(row: SettingsRow | undefined, { site, accounts, readOnly }: Config): Settings {
  return {
    name: row?.name ?? site.name,
    accent_hue: row?.accent_hue ?? null,
    about: row?.about ?? null,
    rules: row?.rules ?? null,
    announcement: row?.announcement ?? null,
    mark: row === undefined ? null : toMark(row),
    registration: (row?.registration as Settings['registration'] | null | undefined) ?? accounts.registration,
    // No route can disable the read-only mode of the environment.
    read_only: readOnly || (row?.read_only ?? false),
    read_only_message: row?.read_only_message ?? READ_ONLY_MESSAGE,
  }
}
