// Settings as routes answer with them.
import Type, { type Static } from 'typebox'
import { Nullable } from '#lib/schema/schema-parts.ts'
import { SET_NAMES, SETTING_NAMES, type SetName, type SettingName } from './requests.ts'
import type { Settings, SettingsRow } from './settings-cache.ts'

const fields = {
  name: Type.String(),
  accent_hue: Nullable(
    Type.Integer({ description: 'Degrees of the colour circle; null leaves the colours as they come' }),
  ),
  about: Nullable(Type.String({ description: 'Markdown' })),
  rules: Nullable(Type.String({ description: 'Markdown' })),
  announcement: Nullable(Type.String()),
  mark: Nullable(
    Type.Object(
      {
        url: Type.String({ description: 'The smallest copy' }),
        raw_url: Type.String({ description: 'The picture as it was uploaded; an SVG cleaned' }),
        sizes: Type.Array(Type.Object({ width: Type.Integer(), url: Type.String() }), {
          description: 'Copies in WebP, as far as the picture is so many pixels wide',
        }),
      },
      { description: 'The picture that stands for the instance; null for the drawn one' },
    ),
  ),
  registration: Type.Enum(['open', 'invitation', 'closed']),
  read_only: Type.Boolean(),
  read_only_message: Type.String(),
}

/** What everybody may know of the instance. */
export const InstanceView = Type.Object(fields, { title: 'Instance' })

export const SettingsView = Type.Object(
  {
    ...fields,
    set: Type.Array(Type.Enum(SET_NAMES), {
      description: 'Settings that were set while the service runs; the others are as the environment says',
    }),
  },
  { title: 'Settings' },
)

export function toSettingsView(settings: Settings, row: SettingsRow | undefined): Static<typeof SettingsView> {
  const isSet = (name: SettingName) => row !== undefined && row[name] !== null
  const set: SetName[] = SETTING_NAMES.filter(isSet)
  return { ...settings, set: settings.mark === null ? set : [...set, 'mark'] }
}
