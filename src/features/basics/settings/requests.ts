// Requests that change settings.

import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Maybe, NamedObject, Time } from '#lib/schema/schema-parts.ts'
import { checkStorable, httpsUrlProblem, isBlank, isStorable } from '#lib/text/text-rules.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'

/** Largest hue, in degrees. */
export const HUE_MAX = 359

/** Sections of the home page that an operator can leave out. */
export const HOME_SECTIONS = ['trending', 'downloads', 'newest', 'releases', 'collections'] as const

export const FOOTER_LINKS_MAX = 8

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Null resets a setting to its value from the environment. */
export const SettingsPatch = NamedObject('SettingsUpdate', {
  name: Maybe(Type.String({ minLength: 1, maxLength: 64, description: 'Name of the instance, in one line' })),
  accent_hue: Maybe(
    Type.Integer({ minimum: 0, maximum: HUE_MAX, description: 'Hue of links and buttons, in degrees' }),
  ),
  home_heading: Maybe(
    Type.String({ minLength: 1, maxLength: 100, description: 'Heading of the home page, in one line' }),
  ),
  home_text: Maybe(
    Type.String({ minLength: 1, maxLength: 300, description: 'Text below the heading of the home page, in one line' }),
  ),
  home_sections: Maybe(
    Type.Array(Type.Enum(HOME_SECTIONS), {
      maxItems: HOME_SECTIONS.length,
      description: 'Sections of the home page. Their order on the page is fixed',
    }),
  ),
  about: Maybe(Type.String({ maxLength: 20_000, description: 'Purpose of the instance, in Markdown' })),
  rules: Maybe(Type.String({ maxLength: 50_000, description: 'Rules for publishers, in Markdown' })),
  footer_links: Maybe(
    Type.Array(
      Type.Object({
        label: Type.String({ minLength: 1, maxLength: 40, description: 'Text of the link, in one line' }),
        url: Type.String({ minLength: 1, maxLength: 2048, description: 'An https URL, or a path that begins with /' }),
      }),
      { maxItems: FOOTER_LINKS_MAX, description: 'Links in the footer of every page' },
    ),
  ),
  announcement: Maybe(
    Type.String({ maxLength: 1000, description: 'Announcement at the top of every page, in Markdown' }),
  ),
  announcement_severity: Maybe(
    Type.Enum(SEVERITIES, { description: 'Visitors cannot hide a `critical` announcement. Default: `info`' }),
  ),
  announcement_link: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'Link at the end of the announcement: an https URL, or a path that begins with /',
    }),
  ),
  announcement_start: Maybe(Time('Time from which the announcement is shown; null for immediately')),
  announcement_end: Maybe(Time('Time until which the announcement is shown; null for as long as it is set')),
  currency: Maybe(
    Type.String({ minLength: 1, maxLength: 16, description: 'Currency of all amounts, such as EUR, in one line' }),
  ),
  registration: Maybe(
    Type.Enum(['open', 'invitation', 'closed'], {
      description: '`open`: anyone can sign up. `invitation`: users need an invitation. `closed`: no one can sign up',
    }),
  ),
  sign_ups_per_range: Maybe(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of sign-ups per address range (IPv4 /24, IPv6 /48) and hour. Default: 20',
    }),
  ),
  first_projects_per_day: Maybe(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of projects per day of an account without an approved project; null: no limit',
    }),
  ),
  approve_accounts: Maybe(
    Type.Boolean({
      description: 'Whether a moderator must approve a new account before it can create projects and other content',
    }),
  ),
  first_steps_dismissed: Maybe(
    Type.Boolean({ description: 'Whether the overview of operators no longer shows the progress of the first steps' }),
  ),
  require_staff_two_factor: Maybe(
    Type.Boolean({
      description:
        'Whether moderators and admins without two-factor sign-in have only the permissions of other users. An admin who turns it on needs two-factor sign-in',
    }),
  ),
  read_only: Maybe(Type.Boolean({ description: 'Whether requests that change data fail with 503' })),
  read_only_message: Maybe(
    Type.String({ maxLength: 500, description: 'Error message in read-only mode, in one line' }),
  ),
})
export type SettingsPatch = Static<typeof SettingsPatch>

export type SettingName = keyof typeof SettingsPatch.properties

export const SETTING_NAMES = Object.keys(SettingsPatch.properties) as SettingName[]

export const MarkQuery = Type.Object({ ext: Type.String({ maxLength: 16, description: 'png, webp or svg' }) })

/** All settings, including the logo, which has its own route because it is a file. */
export const SET_NAMES = [...SETTING_NAMES, 'mark'] as const
export type SetName = (typeof SET_NAMES)[number]

const columns: PatchColumns<SettingsPatch, Updateable<InstanceSettings>> = {
  name: (name) => ({ name: lineOf(name, 'name') }),
  accent_hue: (accent_hue) => ({ accent_hue }),
  home_heading: (heading) => ({ home_heading: lineOf(heading, 'home_heading') }),
  home_text: (text) => ({ home_text: lineOf(text, 'home_text') }),
  home_sections: (sections) => ({ home_sections: sections }),
  about: (about) => ({ about: textOf(about, 'about') }),
  rules: (rules) => ({ rules: textOf(rules, 'rules') }),
  footer_links: (links) => ({ footer_links: links === null ? null : JSON.stringify(linksOf(links)) }),
  announcement: (announcement) => ({ announcement: linesOf(announcement, 'announcement') }),
  announcement_severity: (announcement_severity) => ({ announcement_severity }),
  announcement_link: (link) => ({ announcement_link: link === null ? null : linkOf(link, 'announcement_link') }),
  announcement_start: (time) => ({ announcement_start: timeOf(time, 'announcement_start') }),
  announcement_end: (time) => ({ announcement_end: timeOf(time, 'announcement_end') }),
  currency: (currency) => ({ currency: lineOf(currency, 'currency') }),
  registration: (registration) => ({ registration }),
  sign_ups_per_range: (sign_ups_per_range) => ({ sign_ups_per_range }),
  first_projects_per_day: (first_projects_per_day) => ({ first_projects_per_day }),
  approve_accounts: (approve_accounts) => ({ approve_accounts }),
  first_steps_dismissed: (first_steps_dismissed) => ({ first_steps_dismissed }),
  require_staff_two_factor: (require_staff_two_factor) => ({ require_staff_two_factor }),
  read_only: (read_only) => ({ read_only }),
  read_only_message: (message) => ({ read_only_message: lineOf(message, 'read_only_message') }),
}

/** @throws ApiError `validation_error` naming the setting. */
export function toSettingsColumns(patch: SettingsPatch): Updateable<InstanceSettings> {
  return toColumns(patch, columns)
}

/** Line breaks and characters that change the text direction, which would affect the surrounding page. */
const NOT_IN_LINES = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Accepts line breaks, which Markdown needs for lists and paragraphs. */
function linesOf(text: string | null, field: SettingName): string | null {
  if (text?.split(/\r?\n/).some((line) => NOT_IN_LINES.test(line)))
    throw validationError(field, 'must not contain control characters')
  return notBlank(text, field)
}

function lineOf(text: string | null, field: SettingName): string | null {
  if (text !== null && NOT_IN_LINES.test(text))
    throw validationError(field, 'must be one line without control characters')
  return notBlank(text, field)
}

function notBlank(text: string | null, field: SettingName): string | null {
  const checked = textOf(text, field)
  if (checked !== null && isBlank(checked)) throw validationError(field, 'must not be blank; null resets it')
  return checked?.trim() ?? null
}

type FooterLinks = NonNullable<SettingsPatch['footer_links']>

function linksOf(links: FooterLinks): FooterLinks {
  return links.map(({ label, url }, index) => {
    const field = `footer_links.${index}`
    if (NOT_IN_LINES.test(label) || isBlank(label) || !isStorable(label))
      throw validationError(`${field}.label`, 'must be one line of text without control characters')
    return { label: label.trim(), url: linkOf(url, `${field}.url`) }
  })
}

function linkOf(url: string, field: string): string {
  // Browsers read `//host` and `/\host` as another host.
  const isPath = /^\/(?![/\\])/.test(url) && !/[\s\p{Cc}\\]/u.test(url) && isStorable(url)
  const problem = isPath ? undefined : httpsUrlProblem(url)
  if (problem !== undefined)
    throw validationError(field, `must be an https URL, or a path that begins with /, without spaces and backslashes`)
  return url
}

function timeOf(text: string | null, field: SettingName): Date | null {
  if (text === null) return null
  const ms = parseRfc3339(text)
  if (ms === undefined) throw validationError(field, 'must be a date with a time, such as 2026-01-31T18:30:00Z')
  return new Date(ms)
}

function textOf(text: string | null, field: SettingName): string | null {
  if (text !== null) checkStorable(text, field)
  return text
}
