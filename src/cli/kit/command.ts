// The description of a command in the table of commands.
import type { SettingsFile } from '#platform/config/settings-file.ts'
import type { Env } from './with-deps.ts'

/** @param settings the settings file that was read into `env` */
export type Run = (args: readonly string[], env: Env, settings?: SettingsFile) => Promise<void>

export type Command = {
  /** One or two words. */
  name: string
  usage: string
  /** One line, as the list of commands shows it. */
  about: string
  /** The options and arguments that `depot help COMMAND` explains. */
  options?: readonly (readonly [option: string, meaning: string])[]
  load(): Promise<Run>
}
