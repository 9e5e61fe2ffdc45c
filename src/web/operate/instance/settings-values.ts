// Values of the settings on the pages for operators, with the source of each.

import { actorOf } from '#features/basics/audit/actor.ts'
import { SettingsPatch } from '#features/basics/settings/requests.ts'
import { getSettingsRow, toSettings } from '#features/basics/settings/settings-cache.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { type Settings, toSettingsView } from '#features/basics/settings/views.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { PageContext } from '#web/ui/page-context.ts'

export type InstanceSettings = { settings: Settings; set: readonly string[] }

export async function loadSettings({ deps }: OwnRequest): Promise<InstanceSettings> {
  const row = await getSettingsRow(deps.db)
  const { set, ...settings } = toSettingsView(toSettings(row, deps.config), row)
  return { settings, set }
}

/** Returns where the value of a setting comes from. */
export function sourceOf(page: PageContext, { set }: InstanceSettings, name: keyof Settings): string {
  const { t } = page.language
  return set.includes(name) ? t('ops.source.operator') : t('ops.source.environment')
}

export type TypedSettings = Readonly<Record<string, string | number | boolean | null | readonly (string | object)[]>>

/** Saves the settings that differ from the current ones. */
export async function saveSettings(
  { deps, viewer }: OwnRequest,
  data: InstanceSettings,
  typed: TypedSettings,
): Promise<void> {
  await updateSettings(deps, actorOf(viewer), changedSettings(data, typed))
}

/** Returns the settings that differ from the current ones. An empty text resets a setting. @throws ApiError naming the field */
export function changedSettings({ settings }: InstanceSettings, typed: TypedSettings): SettingsPatch {
  const current = settings as Readonly<Record<string, unknown>>
  const patch = Object.fromEntries(
    Object.entries(typed)
      .map(([name, value]) => [name, value === '' ? null : value] as const)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name])),
  )
  return checkValues(SettingsPatch, patch)
}
