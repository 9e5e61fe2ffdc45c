// Settings as routes answer with them.
import Type, { type Static } from 'typebox'
import { Nullable } from '#lib/schema-parts.ts'
import { SETTING_NAMES, type SettingName } from './requests.ts'
import type { Settings, SettingsRow } from './settings-cache.ts'

const fields = {
  name: Type.String(),
  accent_hue: Nullable(
    Type.Integer({ description: 'Degrees of the colour circle; null leaves the colours as they come' }),
  ),
  about: Nullable(Type.String({ description: 'Markdown' })),
  rules: Nullable(Type.String({ description: 'Markdown' })),
  announcement: Nullable(Type.String()),
  registration: Type.Enum(['open', 'invitation', 'closed']),
  read_only: Type.Boolean(),
  read_only_message: Type.String(),
}

/** What everybody may know of the instance. */
export const InstanceView = Type.Object(fields, { title: 'Instance' })

export const SettingsView = Type.Object(
  {
    ...fields,
    set: Type.Array(Type.Enum(SETTING_NAMES), {
      description: 'Settings that were set while the service runs; the others are as the environment says',
    }),
  },
  { title: 'Settings' },
)

export function toSettingsView(settings: Settings, row: SettingsRow | undefined): Static<typeof SettingsView> {
  return { ...settings, set: SETTING_NAMES.filter((name: SettingName) => row !== undefined && row[name] !== null) }
}
