// The form of a command in the table `src/cli/commands.ts`, and options of several commands.
import type { Env } from '#cli/kit/with-deps.ts'
import type { SettingsFile } from '#platform/config/settings-file.ts'

/** @param settings the settings file that was read into `env` */
export type Run = (args: readonly string[], env: Env, settings?: SettingsFile) => Promise<void>

export type Command = {
  /** One or two words. */
  name: string
  /** The options and arguments. Default: none. */
  usage?: string
  /** One line, as the list of commands shows it. */
  about: string
  /** The options and arguments that `depot help COMMAND` explains. */
  options?: readonly (readonly [option: string, meaning: string])[]
  /** Whether the command itself reports faults of the settings file. */
  reportsSettings?: true
  load(): Promise<Run>
}

/** Each command that deletes has this option. */
export const DRY_RUN_OPTION = ['--dry-run', 'Show what would be deleted, and delete nothing'] as const
