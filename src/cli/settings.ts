// `depot settings get` and `depot settings set`.

import { Value } from 'typebox/value'
import { COMMAND } from '#features/audit/actor.ts'
import { SETTING_NAMES, type SettingName, SettingsPatch } from '#features/settings/requests.ts'
import { getSettings } from '#features/settings/settings-cache.ts'
import { updateSettings } from '#features/settings/update-settings.ts'
import { readArguments, UsageError } from './arguments.ts'
import { type Env, print, withDeps } from './with-deps.ts'

export async function settingsGet(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 0, max: 1 })
  const names = words[0] === undefined ? SETTING_NAMES : [readName(words[0])]
  await withDeps(env, async (deps) => {
    const settings = await getSettings(deps)
    const shown = Object.fromEntries(names.map((name) => [name, settings[name]]))
    const lines = names.map((name) =>
      words[0] === undefined ? `${name}: ${settings[name] ?? ''}` : `${settings[name] ?? ''}`,
    )
    print({ json: shown, text: lines.join('\n') }, values.json)
  })
}

export async function settingsSet(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { default: 'boolean', json: 'boolean' }, { min: 1, max: 2 })
  const name = readName(words[0] ?? '')
  const isDefault = values.default === true
  if (isDefault === (words[1] !== undefined)) throw new UsageError('Give either a value or --default')
  const value = isDefault ? null : readValue(name, words[1] ?? '')
  const patch = { [name]: value }
  if (!Value.Check(SettingsPatch, patch)) {
    const [problem] = Value.Errors(SettingsPatch.properties[name], value)
    throw new UsageError(`${name} ${problem?.message ?? 'does not have the right form'}`)
  }
  await withDeps(env, async (deps) => {
    await updateSettings(deps, COMMAND, patch)
    const settings = await getSettings(deps)
    print({ json: { [name]: settings[name] }, text: `${name} is ${settings[name] ?? 'not set'} now` }, values.json)
  })
}

function readName(word: string): SettingName {
  const name = SETTING_NAMES.find((known) => known === word)
  if (name === undefined) throw new UsageError(`There is no setting ${word}; there are ${SETTING_NAMES.join(', ')}`)
  return name
}

function readValue(name: SettingName, text: string): string | number | boolean {
  if (name === 'accent_hue') return /^\d{1,3}$/.test(text) ? Number(text) : text
  if (name === 'read_only') return text === 'true' || (text === 'false' ? false : text)
  return text
}
