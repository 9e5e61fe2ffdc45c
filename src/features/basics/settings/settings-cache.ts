// The cached settings that operators change while the service runs.

import { sql } from 'kysely'
import { copyKey, imageUrl } from '#features/basics/images/hosted-image.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import { PAGE_KINDS } from './pages/requests.ts'
import { HOME_SECTIONS, type Severity } from './requests.ts'
import type { Settings, SettingsRow } from './views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    settings: true
  }
}

export type SettingsReader = { db: Db; cache: EntityCache; config: Config }

/** Message for callers in read-only mode, unless an operator has set another one. */
export const READ_ONLY_MESSAGE = 'This service is currently read-only. Please try again later.'

/** Sign-ups per address range and hour, unless an operator has set another number. */
const SIGN_UPS_PER_RANGE = 20

/** The only ID of this kind of cache entry. */
export const SETTINGS_ID = 'instance'

const SETTINGS = defineCache({
  name: 'settings',
  contains: 'Settings of the instance',
  idOf: () => SETTINGS_ID,
  sizeOf: (row: SettingsRow) => 3000 + 2 * ((row.about?.length ?? 0) + (row.rules?.length ?? 0)),
  revisionOf: (row: SettingsRow) => row.revision,
})

/** Returns the settings from the cache. A change takes effect in a process when it receives the invalidation. */
export async function getSettings(reader: SettingsReader): Promise<Settings> {
  return toSettings(await readRow(reader), reader.config)
}

async function readRow({ cache, db }: Pick<SettingsReader, 'cache' | 'db'>): Promise<SettingsRow> {
  const settings = cache.kind(SETTINGS)
  const row = settings.peek(SETTINGS_ID) ?? (await settings.get(SETTINGS_ID, async () => [await getSettingsRow(db)]))
  return row ?? EMPTY_ROW
}

/**
 * Returns the settings for a page and whether this copy of the instance is quiet, or the defaults if the database is
 * unavailable, as error pages need them.
 */
export async function getShownSettings(reader: SettingsReader): Promise<Settings & { isQuiet: boolean }> {
  const row = await readRow(reader).catch(() => EMPTY_ROW)
  return { ...toSettings(row, reader.config), isQuiet: row.quiet_since !== null }
}

/** Returns the functions that read whether moderators and admins need two-factor sign-in. `peek` does not wait. */
export function createStaffRule(reader: Pick<SettingsReader, 'cache' | 'db'>) {
  const isRequired = (row: SettingsRow): boolean => row.require_staff_two_factor ?? false
  return {
    peek: (): boolean | undefined => {
      const row = reader.cache.kind(SETTINGS).peek(SETTINGS_ID)
      return row === undefined ? undefined : isRequired(row)
    },
    read: async (): Promise<boolean> => isRequired(await readRow(reader)),
  }
}

/** Returns the announcement, or null before its start and from its end on. */
export function announcementAt(
  settings: Pick<Settings, 'announcement' | 'announcement_start' | 'announcement_end'>,
  nowMs: number,
): string | null {
  const { announcement, announcement_start: start, announcement_end: end } = settings
  const hasBegun = start === null || Date.parse(start) <= nowMs
  return hasBegun && (end === null || nowMs < Date.parse(end)) ? announcement : null
}

/** The row before any setting is changed. */
const EMPTY_ROW: SettingsRow = {
  singleton: true,
  name: null,
  accent_hue: null,
  home_heading: null,
  home_text: null,
  home_sections: null,
  about: null,
  rules: null,
  pages: [],
  footer_links: null,
  announcement: null,
  announcement_severity: null,
  announcement_link: null,
  announcement_start: null,
  announcement_end: null,
  currency: null,
  mark_url: null,
  raw_mark_url: null,
  mark_widths: [],
  registration: null,
  sign_ups_per_range: null,
  first_projects_per_day: null,
  approve_accounts: null,
  first_steps_dismissed: null,
  require_staff_two_factor: null,
  read_only: null,
  read_only_message: null,
  changed: new Date(0),
  revision: 0,
  quiet_since: null,
}

/** The pages whose newest version has a text. */
const SHOWN_PAGES = sql<Settings['pages']>`(
  select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'version', number, 'asked_version',
    (select max(number) from page_version asking where asking.kind = page_version.kind and asks_again))), '[]')
  from page_version
  where text <> '' and number = (select max(number) from page_version newest where newest.kind = page_version.kind))`

export async function getSettingsRow(db: Db): Promise<SettingsRow> {
  const copy = await db
    .selectFrom('instance_copy')
    .leftJoin('instance_settings', (join) => join.onTrue())
    .selectAll('instance_settings')
    .select('quiet_since')
    .select(SHOWN_PAGES.as('pages'))
    .executeTakeFirst()
  const { singleton, quiet_since = null } = copy ?? {}
  return singleton === true ? (copy as SettingsRow) : { ...EMPTY_ROW, quiet_since }
}

/** Returns the settings in effect: from the database, otherwise from the environment, otherwise the defaults. */
export function toSettings(row: SettingsRow, config: Config): Settings {
  const { site, accounts, readOnly } = config
  const { accent_hue, about, rules, announcement, currency, raw_mark_url } = row
  const [url, raw_url] = [imageUrl(config, row.mark_url), imageUrl(config, raw_mark_url)]
  const sizes = row.mark_widths.map((width) => ({ width, url: imageUrl(config, copyKey(raw_mark_url ?? '', width)) }))
  return {
    name: row.name ?? site.name,
    accent_hue,
    home_heading: row.home_heading,
    home_text: row.home_text,
    home_sections: HOME_SECTIONS.filter((name) => row.home_sections?.includes(name) ?? true),
    about,
    rules,
    pages: PAGE_KINDS.flatMap((kind) => row.pages.filter((page) => page.kind === kind)),
    footer_links: (row.footer_links ?? []) as Settings['footer_links'],
    announcement,
    announcement_severity: (row.announcement_severity as Severity | null) ?? 'info',
    announcement_link: row.announcement_link,
    announcement_start: row.announcement_start?.toISOString() ?? null,
    announcement_end: row.announcement_end?.toISOString() ?? null,
    currency,
    mark: url === null || raw_url === null ? null : { url, raw_url, sizes },
    registration: (row.registration as Settings['registration'] | null) ?? accounts.registration,
    sign_ups_per_range: row.sign_ups_per_range ?? SIGN_UPS_PER_RANGE,
    first_projects_per_day: row.first_projects_per_day,
    approve_accounts: row.approve_accounts ?? false,
    first_steps_dismissed: row.first_steps_dismissed ?? false,
    require_staff_two_factor: row.require_staff_two_factor ?? false,
    // No route can disable the read-only mode of the environment.
    read_only: readOnly || (row.read_only ?? false),
    read_only_message: row.read_only_message ?? READ_ONLY_MESSAGE,
  }
}
