// `depot settings get` and `depot settings set`.

import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Value } from 'typebox/value'
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { HUE_MAX, SET_NAMES, type SetName, SettingsPatch } from '#features/basics/settings/requests.ts'
import { MARK_BYTES_MAX, replaceMark, setMark } from '#features/basics/settings/set-mark.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import type { Settings } from '#features/basics/settings/views.ts'
import { queryError } from '#lib/schema/schema-errors.ts'
import type { Deps } from '#ports/deps.ts'

export async function settingsGet(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 0, max: 1 })
  const names = words[0] === undefined ? SET_NAMES : [readName(words[0])]
  await withDeps(env, async (deps) => {
    const settings = await getSettings(deps)
    const shown = Object.fromEntries(names.map((name) => [name, settings[name]]))
    const lines = names.map((name) => `${words[0] === undefined ? `${name}: ` : ''}${textOf(settings, name)}`)
    print({ json: shown, text: lines.join('\n') }, values.json)
  })
}

export async function settingsSet(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { default: 'boolean', json: 'boolean' }, { min: 1, max: 2 })
  const name = readName(words[0] ?? '')
  const isDefault = values.default === true
  if (isDefault === (words[1] !== undefined)) throw new UsageError('Specify either a value or --default')
  if (name === 'mark') return withDeps(env, (deps) => markSet(deps, words[1], values.json))
  const value = isDefault ? null : readValue(name, words[1] ?? '')
  const patch = { [name]: value }
  if (!Value.Check(SettingsPatch, patch)) throw new UsageError(queryError(SettingsPatch, patch).message)
  await withDeps(env, async (deps) => {
    await updateSettings(deps, COMMAND, patch)
    const settings = await getSettings(deps)
    printSet(settings, name, values.json)
  })
}

/** Sets the logo to an image file, or to the default logo if `path` is undefined. */
async function markSet(deps: Deps, path: string | undefined, asJson: boolean | undefined): Promise<void> {
  if (path === undefined) await replaceMark(deps, COMMAND, null)
  else await setMark(deps, COMMAND, { bytes: await readImage(path), ext: extname(path).slice(1).toLowerCase() })
  printSet(await getSettings(deps), 'mark', asJson)
}

async function readImage(path: string): Promise<Buffer> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw new UsageError(`Cannot read the file ${path}: ${error.message}`)
  })
  if (found?.isFile() !== true) throw new UsageError(`The file ${path} does not exist`)
  if (found.size > MARK_BYTES_MAX) throw new UsageError(`${path} is larger than ${MARK_BYTES_MAX} bytes`)
  return readFile(path).catch((error: Error) => {
    throw new UsageError(`Cannot read the file ${path}: ${error.message}`)
  })
}

function printSet(settings: Settings, name: SetName, asJson: boolean | undefined): void {
  const text = textOf(settings, name)
  print({ json: { [name]: settings[name] }, text: `${name} is now ${text === '' ? 'not set' : text}` }, asJson)
}

function textOf(settings: Settings, name: SetName): string {
  if (name === 'read_only' || name === 'require_staff_two_factor') return settings[name] ? 'on' : 'off'
  if (name === 'footer_links') return settings.footer_links.length === 0 ? '' : JSON.stringify(settings.footer_links)
  return name === 'mark' ? (settings.mark?.raw_url ?? '') : String(settings[name] ?? '')
}

function readName(word: string): SetName {
  const name = SET_NAMES.find((known) => known === word)
  if (name === undefined) throw new UsageError(`Unknown setting: ${word}. Settings: ${SET_NAMES.join(', ')}`)
  return name
}

function readValue(name: SetName, text: string): unknown {
  if (name === 'footer_links') return readLinks(text)
  if (name === 'home_sections') return text.split(',').filter((part) => part !== '')
  if (name === 'accent_hue') return readHue(text)
  if (name === 'read_only' || name === 'require_staff_two_factor') return readSwitch(name, text)
  return text
}

function readLinks(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('footer_links must be JSON such as [{"label":"Forum","url":"https://forum.example"}]')
  }
}

function readHue(text: string): number {
  const hue = /^\d{1,3}$/.test(text) ? Number(text) : HUE_MAX + 1
  if (hue > HUE_MAX) throw new UsageError(`accent_hue must be an integer from 0 to ${HUE_MAX}`)
  return hue
}

function readSwitch(name: SetName, text: string): boolean {
  if (text === 'on' || text === 'true') return true
  if (text === 'off' || text === 'false') return false
  throw new UsageError(`${name} must be on or off`)
}
