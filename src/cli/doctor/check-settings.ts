// Checks the settings and the settings file, without opening the instance.
import { chmodSync, statSync } from 'node:fs'
import { explain } from '#cli/kit/explain.ts'
import type { Env } from '#cli/kit/with-deps.ts'
import { error, type Finding, warning, when } from '#features/operation/doctor/finding.ts'
import { inOneLine } from '#lib/text/linear-text.ts'
import { checkNamedFiles } from '#main/preflight.ts'
import type { Config } from '#platform/config/config.ts'
import { VARIABLES } from '#platform/config/env.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { checkSettingsFile, removedSettings, type SettingsFile } from '#platform/config/settings-file.ts'

const LOCAL = /^http:\/\/(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/

/** Returns the configuration, or undefined if the settings are invalid, and the findings. */
export function checkSettings(
  env: Env,
  file: SettingsFile | undefined,
): { config: Config | undefined; findings: Finding[] } {
  const findings = removedSettings(env).map((text) => warning('settings_removed', text))
  if (file !== undefined) findings.push(...checkFile(file))
  try {
    const config = loadConfig(env)
    return { config, findings: [...findings, ...checkValues(config)] }
  } catch (cause) {
    return { config: undefined, findings: [...findings, error('settings_invalid', inOneLine(explain(cause)))] }
  }
}

function checkFile(file: SettingsFile): Finding[] {
  const { path } = file
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 }
  const hasSecret = VARIABLES.some(({ name, secret }) => secret === true && file.names?.includes(name) === true)
  const findings = when(
    hasSecret && (mode & 0o007) !== 0,
    error(
      'settings_file_readable',
      `Every user of this machine can read the settings file ${path} with its secrets; run \`chmod o= ${path}\` or \`depot doctor --fix\`.`,
      async () => chmodSync(path, mode & 0o770),
    ),
  )
  try {
    checkSettingsFile(file)
    return findings
  } catch (cause) {
    return [...findings, error('settings_file_invalid', inOneLine(explain(cause)))]
  }
}

function checkValues(config: Config): Finding[] {
  const { baseUrl, isBaseUrlGuessed } = config.http
  const findings = [
    ...when(
      isBaseUrlGuessed,
      error('base_url_missing', `Links begin with ${baseUrl}, which is a guess; set BASE_URL to the public URL.`),
    ),
    ...when(
      !isBaseUrlGuessed && baseUrl.startsWith('http:') && !LOCAL.test(baseUrl),
      error(
        'base_url_plain',
        `BASE_URL is ${baseUrl}, so passwords are sent without encryption; put a proxy with TLS in front of Depot, and set BASE_URL to its https URL.`,
      ),
    ),
    ...when(
      config.readOnly,
      warning('read_only', 'READ_ONLY is set, so all changes are rejected; remove it to accept changes.'),
    ),
  ]
  try {
    checkNamedFiles(config)
    return findings
  } catch (cause) {
    return [...findings, error('named_file_missing', `${explain(cause)}; correct the path in the settings.`)]
  }
}
