// The settings that operators change while the service runs, as every process sees them.
import type { Selectable } from 'kysely'
import { copyUrl } from '#features/basics/images/hosted-image.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'

export type SettingsRow = Selectable<InstanceSettings>

/** As they are in force: what the database says, else the environment, else the default. */
export type Settings = {
  /** What people call the instance. */
  name: string
  /** Degrees of a colour circle, 0 to 359; null leaves the colours as they come. */
  accent_hue: number | null
  /** Markdown: what the instance is for, and its rules. */
  about: string | null
  rules: string | null
  /** A sentence that every page shows. */
  announcement: string | null
  /** The picture that stands for the instance; null for the drawn one. */
  mark: Mark | null
  registration: 'open' | 'invitation' | 'closed'
  read_only: boolean
  /** What callers are told who want to change something meanwhile. */
  read_only_message: string
}

export type Mark = {
  /** The smallest copy. */
  url: string
  /** As it was uploaded; an SVG cleaned. */
  raw_url: string
  /** Square copies in WebP, the smallest first; `width` in pixels is what they were made for. */
  sizes: { width: number; url: string }[]
}

export type SettingsReader = { db: Db; cache: EntityCache; config: Config }

const READ_ONLY_MESSAGE = 'This service is read-only at present. Please try again later.'

/** The only ID of this kind. */
export const SETTINGS_ID = 'instance'

const SETTINGS = {
  name: 'settings' as const,
  idOf: () => SETTINGS_ID,
  sizeOf: (row: SettingsRow) => 500 + 2 * ((row.about?.length ?? 0) + (row.rules?.length ?? 0)),
  revisionOf: (row: SettingsRow) => row.revision,
}

/** Costs no query while nothing changes. A change is in force everywhere once its invalidation has arrived. */
export async function getSettings(reader: SettingsReader): Promise<Settings> {
  const settings = reader.cache.kind(SETTINGS)
  const row = settings.peek(SETTINGS_ID) ?? (await settings.get(SETTINGS_ID, () => listSettingsRows(reader.db)))
  return toSettings(row, reader.config)
}

/** For pages: those that report an error are drawn also while the database cannot be asked, as if nothing were set. */
export async function getShownSettings(reader: SettingsReader): Promise<Settings> {
  try {
    return await getSettings(reader)
  } catch {
    return toSettings(undefined, reader.config)
  }
}

/** Stands for the row that is not there while nothing was ever set, so that the cache has something to keep. */
const NOTHING_SET: SettingsRow = {
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

/** One row, always. */
export async function listSettingsRows(db: Db): Promise<SettingsRow[]> {
  const rows = await db.selectFrom('instance_settings').selectAll().execute()
  return rows.length === 0 ? [NOTHING_SET] : rows
}

function toMark({ mark_url: url, raw_mark_url, mark_widths }: SettingsRow): Mark | null {
  if (url === null || raw_mark_url === null) return null
  return {
    url,
    raw_url: raw_mark_url,
    sizes: mark_widths.map((width) => ({ width, url: copyUrl(raw_mark_url, width) })),
  }
}

/** `row` absent: nothing is set. */
export function toSettings(row: SettingsRow | undefined, { site, accounts, readOnly }: Config): Settings {
  return {
    name: row?.name ?? site.name,
    accent_hue: row?.accent_hue ?? null,
    about: row?.about ?? null,
    rules: row?.rules ?? null,
    announcement: row?.announcement ?? null,
    mark: row === undefined ? null : toMark(row),
    registration: (row?.registration as Settings['registration'] | null | undefined) ?? accounts.registration,
    // What the environment holds shut no route opens.
    read_only: readOnly || (row?.read_only ?? false),
    read_only_message: row?.read_only_message ?? READ_ONLY_MESSAGE,
  }
}
