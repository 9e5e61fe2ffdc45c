// A fault that `depot doctor` found.
import type { Config } from '#platform/config/config.ts'
import type { Deps } from '#ports/deps.ts'

export type Finding = {
  /** Stable name for programs. */
  code: string
  /** An `error` makes the exit code 1. A `warning` is a risk, or a part that the operator chose not to set up. */
  severity: 'error' | 'warning'
  /** One sentence with the remedy. */
  message: string
  /** Corrects the fault while servers run. */
  fix?: () => Promise<unknown>
}

export type DoctorDeps = Pick<
  Deps,
  | 'pool'
  | 'db'
  | 'cache'
  | 'files'
  | 'search'
  | 'analytics'
  | 'counters'
  | 'mail'
  | 'config'
  | 'now'
  | 'log'
  | 'taxonomy'
>

export type Check = (deps: DoctorDeps) => Promise<Finding[]>

export const error = (code: string, message: string, fix?: Finding['fix']): Finding => ({
  code,
  severity: 'error',
  message,
  ...(fix && { fix }),
})

export const warning = (code: string, message: string, fix?: Finding['fix']): Finding => ({
  ...error(code, message, fix),
  severity: 'warning',
})

/** Returns the command that restores a part of the last backup, with the names that the settings know. */
export function restoreCommand({ backup }: Pick<Config, 'backup'>, part: string): string {
  const name = backup.target === undefined ? 'FILE' : 'latest'
  return `depot restore ${name} --only ${part}${backup.recipients.length === 0 ? '' : ' --identity KEYS'}`
}

/** Returns the finding if `isFound`. */
export const when = (isFound: boolean, finding: Finding): Finding[] => (isFound ? [finding] : [])
