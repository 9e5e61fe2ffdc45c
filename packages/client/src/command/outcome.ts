// What the command prints at its end, and its exit codes.
import { toBaseUrl } from '../base-url.ts'
import { DepotError } from '../errors.ts'
import type { Schemas } from '../operations.ts'
import { messageOf } from '../retry.ts'
import { type Settings, UsageError } from './settings.ts'

export const EXIT = { success: 0, rejected: 1, usage: 2, service: 3, notPublic: 4, stopped: 130 } as const

/** The user has stopped the command. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** What the command needs to know about the project. */
export type Project = Pick<Schemas['Project'], 'id' | 'name' | 'slug' | 'project_types'> & { status: string }

export type Surroundings = {
  env: NodeJS.ProcessEnv
  cwd: string
  /** Prints the result, to standard output. */
  result: (text: string) => void
  /** Prints what happens, to standard error. */
  note: (text: string) => void
  /** Ends the run. Its requests can continue, so the caller ends the process. */
  signal?: AbortSignal
}

/** The project, or one that a dependency names, does not exist for the token. */
export class AbsentError extends Error {
  override readonly name = 'AbsentError'
}

/** Returns the address of the version, or with `--json` an object that describes it. */
export function outcome(
  settings: Settings,
  project: Project,
  version: Schemas['Version'],
  warnings: readonly string[],
): string {
  const url = addressOf(settings, project, version)
  if (!settings.json) return url
  const { id, version_number, status, files } = version
  return JSON.stringify({
    id,
    version_number,
    status,
    url,
    files: files.map(({ filename, url }) => ({ filename, url })),
    warnings,
  })
}

function addressOf({ url }: Settings, project: Project, version: Schemas['Version']): string {
  const { id, version_number, project_types } = version
  const name = /^\.*$|[/\\]/.test(version_number) ? id : encodeURIComponent(version_number)
  return `${toBaseUrl(url)}/${project.project_types[0] ?? project_types[0] ?? 'project'}/${project.slug}/version/${name}`
}

/** Prints an error. @returns the exit code. */
export function report(
  error: Error,
  { json, url }: { json: boolean; url: string | undefined },
  { env, result, note }: Surroundings,
): number {
  const code = codeOf(error)
  const message = describeError(error, url, env)
  const problems = error instanceof DepotError ? error.errors : []
  if (json) {
    const { status, error: kind, details, retryAfter, requestId } = error instanceof DepotError ? error : {}
    result(
      JSON.stringify({
        exit_code: code,
        message,
        status,
        error: kind,
        errors: problems,
        details,
        retry_after: retryAfter,
        request_id: requestId,
      }),
    )
    return code
  }
  const [first] = problems
  // The message of the instance repeats its first problem.
  const isList = first?.field !== undefined && message.includes(first.message)
  note(`Error: ${isList ? 'The instance rejected the version:' : message}`)
  for (const { field, message } of problems) note(`  ${field === undefined ? '' : `${optionOf(field)}: `}${message}`)
  if (error instanceof DepotError && error.requestId !== undefined) note(`  Request ${error.requestId}`)
  return code
}

/** Options by the first part of the field that they set. */
const OPTIONS: Readonly<Record<string, string>> = {
  version_number: '--version-number',
  version_title: '--name',
  version_body: '--changelog',
  release_channel: '--channel',
  loaders: '--loaders',
  game_versions: '--game-versions',
  dependencies: '--dependency',
  file_types: '--file-type',
  status: '--status',
}

function optionOf(field: string): string {
  const option = OPTIONS[field.split('.')[0] ?? '']
  return option === undefined ? field : `${field} (${option})`
}

function describeError(error: Error, url: string | undefined, env: NodeJS.ProcessEnv): string {
  if (error instanceof DepotError) {
    if (error.status === 401 && env['DEPOT_TOKEN'] !== undefined && env['DEPOT_TOKEN'] !== '') {
      return `${url} does not accept the token in DEPOT_TOKEN: ${error.message}`
    }
    return error.error === 'unknown'
      ? `${url} answered ${error.message}; the response is not from Depot`
      : error.message
  }
  return isOfConnection(error) ? `${url} cannot be reached: ${messageOf(error)}` : messageOf(error)
}

/** `fetch` throws a TypeError with the reason, or the error of its time limit. */
const isOfConnection = (error: Error): boolean =>
  error.name === 'TimeoutError' || (error instanceof TypeError && error.cause instanceof Error)

/** Whether the instance requires a value that neither an option nor the archive states. */
const lacksOption = ({ errors }: DepotError): boolean => errors.some(({ message }) => /^is required\b/.test(message))

function codeOf(error: Error): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof Stopped) return EXIT.stopped
  if (error instanceof AbsentError) return EXIT.rejected
  if (error instanceof DepotError && lacksOption(error)) return EXIT.usage
  // 424: the instance cannot reach the service that issued the identity of the job.
  if (error instanceof DepotError)
    return [424, 429].includes(error.status) || error.status >= 500 ? EXIT.service : EXIT.rejected
  return EXIT.service
}
