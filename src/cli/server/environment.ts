// `depot settings list`: the value and the source of every environment variable, without secrets.
import { readArguments } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print } from '#cli/kit/with-deps.ts'
import { VARIABLES } from '#platform/config/env.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import type { SettingsFile } from '#platform/config/settings-file.ts'

type Setting = {
  name: string
  value: string | number | boolean | null
  source: 'environment' | 'file' | 'default' | 'unset'
}

/** Works without a database, so that it helps if the start fails. @throws OperatorError if a value is invalid. */
export async function settingsList(args: readonly string[], env: Env, file?: SettingsFile): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean', set: 'boolean' })
  const config = loadConfig(env)
  const all = VARIABLES.map((variable): Setting => {
    const { name, secret, default: fallback } = variable
    const text = env[name]?.trim() ?? ''
    const source = file?.names?.includes(name) === true ? 'file' : 'environment'
    if (text !== '') return { name, value: secret === true ? '(secret)' : text, source }
    if (fallback !== undefined) return { name, value: fallback, source: 'default' }
    return { name, value: null, source: 'unset' }
  })
  const settings = values.set === true ? all.filter(({ source }) => source === 'environment' || source === 'file') : all
  const { http, dataDir } = config
  const effective = { base_url: http.baseUrl, data_folder: dataDir, settings_file: file?.path ?? null }
  const rows = settings.map(({ name, value, source }) => [
    name,
    value === null ? '-' : String(value),
    source === 'file' ? (file?.path ?? source) : source,
  ])
  const text = `${table(['NAME', 'VALUE', 'SOURCE'], rows)}\n\nPublic URL: ${http.baseUrl}\nData folder: ${dataDir}`
  print({ json: { settings, ...effective }, text }, values.json)
}
