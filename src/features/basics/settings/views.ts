// Response schemas of the settings.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'
import { PAGE_KINDS } from './pages/requests.ts'
import { HOME_SECTIONS, SET_NAMES, SETTING_NAMES, SEVERITIES, type SetName } from './requests.ts'

/** The row with the state of this copy of the instance. */
export type SettingsRow = Selectable<InstanceSettings> & { quiet_since: Date | null; pages: Settings['pages'] }

const fields = {
  name: Type.String(),
  accent_hue: Nullable(
    Type.Integer({ description: 'Hue of the accent colour, in degrees; null for the default colours' }),
  ),
  home_heading: Nullable(Type.String({ description: 'Heading of the home page; null for the default heading' })),
  home_text: Nullable(
    Type.String({ description: 'Text below the heading of the home page; null for the size of the catalogue' }),
  ),
  home_sections: Type.Array(Type.Enum(HOME_SECTIONS), { description: 'Sections of the home page' }),
  about: Nullable(Type.String({ description: 'Purpose of the instance, in Markdown' })),
  rules: Nullable(Type.String({ description: 'Rules for publishers, in Markdown' })),
  pages: Type.Array(
    Type.Object({
      kind: Type.Enum(PAGE_KINDS),
      version: Type.Integer({ description: 'Number of the newest version' }),
      asked_version: Nullable(
        Type.Integer({
          description:
            'Number of the newest version of the Terms that asked all users to agree; null if none did. A sign-up can agree to a version from this one to the newest',
        }),
      ),
    }),
    { description: 'Pages of the operator that have a text' },
  ),
  footer_links: Type.Array(Type.Object({ label: Type.String(), url: Type.String() }), {
    description: 'Links of the operator in the footer',
  }),
  announcement: Nullable(Type.String({ description: 'Announcement at the top of every page, in Markdown' })),
  announcement_severity: Type.Enum(SEVERITIES),
  announcement_link: Nullable(Type.String({ description: 'Link at the end of the announcement' })),
  announcement_start: Nullable(Timestamp),
  announcement_end: Nullable(Timestamp),
  currency: Nullable(Type.String({ description: 'Currency of all amounts; null if the operator has not named it' })),
  mark: Nullable(
    Type.Object(
      {
        url: Type.String({ description: 'URL of the smallest copy' }),
        raw_url: Type.String({ description: 'URL of the uploaded file; an SVG is sanitized' }),
        sizes: Type.Array(Type.Object({ width: Type.Integer(), url: Type.String() }), {
          description: 'WebP copies in each standard width that does not exceed the width of the original',
        }),
      },
      { description: 'Logo of the instance; null for the default logo' },
    ),
  ),
  registration: Type.Enum(['open', 'invitation', 'closed']),
  sign_ups_per_range: Type.Integer({ description: 'Maximum number of sign-ups per address range and hour' }),
  first_projects_per_day: Nullable(
    Type.Integer({
      description: 'Maximum number of projects per day of an account without an approved project; null: no limit',
    }),
  ),
  approve_accounts: Type.Boolean({
    description: 'Whether a moderator must approve a new account before it can publish',
  }),
  read_only: Type.Boolean(),
  read_only_message: Type.String(),
}

/** Public information about the instance. */
export const InstanceView = NamedObject('Instance', fields)

/** Settings that concern only operators. */
const operatorFields = {
  first_steps_dismissed: Type.Boolean({
    description: 'Whether the overview of operators no longer shows the progress of the first steps',
  }),
  require_staff_two_factor: Type.Boolean({
    description: 'Whether moderators and admins without two-factor sign-in have only the permissions of other users',
  }),
}
const AllFields = Type.Object({ ...fields, ...operatorFields })
/** The settings in effect. */
export type Settings = Static<typeof AllFields>

/** Returns the settings without those that concern only operators. */
export function toInstanceView(settings: Settings): Static<typeof InstanceView> {
  const { first_steps_dismissed: _steps, require_staff_two_factor: _rule, ...shown } = settings
  return shown
}

export const SettingsView = NamedObject('Settings', {
  ...AllFields.properties,
  set: Type.Array(Type.Enum(SET_NAMES), {
    description: 'Settings that an operator has set; the others have their values from the environment',
  }),
})

export function toSettingsView(settings: Settings, row: SettingsRow): Static<typeof SettingsView> {
  const set: SetName[] = SETTING_NAMES.filter((name) => row[name] !== null)
  return { ...settings, set: settings.mark === null ? set : [...set, 'mark'] }
}
