// The settings of a run: options of the command line, then the configuration file, then the environment.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { withoutMark } from './text-file.ts'

/** The command was used wrongly: nothing was sent. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export type Dependency = { project: string; version?: string; type?: string }

export type Settings = {
  url: string
  project: string
  files: string[]
  primary?: string
  version_number?: string
  name?: string
  changelog?: string
  changelog_tag?: string
  channel?: string
  loaders?: string[]
  game_versions?: string[]
  dependencies?: Dependency[]
  file_types?: Record<string, string>
  status?: string
  featured?: boolean
  /** Values of other fields of the version, such as `environment`. */
  fields?: Record<string, unknown>
  dryRun: boolean
  skipExisting: boolean
  wait: boolean
  timeoutSeconds: number
  json: boolean
}

const SEE_HELP = 'depot-publish --help lists the options.'
export const CONFIG_FILE = 'depot-publish.json'
const TIMEOUT_SECONDS = 600

const OPTIONS = {
  url: { type: 'string' },
  project: { type: 'string' },
  files: { type: 'string', multiple: true },
  primary: { type: 'string' },
  'version-number': { type: 'string' },
  name: { type: 'string' },
  changelog: { type: 'string' },
  'changelog-tag': { type: 'string' },
  channel: { type: 'string' },
  loaders: { type: 'string' },
  'game-versions': { type: 'string' },
  dependency: { type: 'string', multiple: true },
  'file-type': { type: 'string', multiple: true },
  status: { type: 'string' },
  featured: { type: 'boolean' },
  config: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'skip-existing': { type: 'boolean' },
  wait: { type: 'boolean' },
  'no-wait': { type: 'boolean' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Types of the keys of the configuration file. */
const KEYS: Readonly<Record<string, 'text' | 'list' | 'texts' | 'yes/no' | 'object' | 'dependencies'>> = {
  $schema: 'text',
  url: 'text',
  project: 'text',
  files: 'list',
  primary: 'text',
  version_number: 'text',
  name: 'text',
  changelog: 'text',
  changelog_tag: 'text',
  channel: 'text',
  loaders: 'list',
  game_versions: 'list',
  dependencies: 'dependencies',
  file_types: 'texts',
  status: 'text',
  featured: 'yes/no',
  fields: 'object',
}

/** Reads the settings. Returns `help` or `version` if the user requests them. @throws UsageError */
export function readSettings(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Settings | 'help' | 'version' {
  const { values, positionals } = parse(args)
  if (values.help === true) return 'help'
  if (values.version === true) return 'version'
  const config = readConfig(values.config, cwd)
  const url = values.url ?? config.url ?? env['DEPOT_URL']
  const project = values.project ?? config.project
  if (url === undefined)
    throw new UsageError('Name the instance with --url, or with the environment variable DEPOT_URL')
  if (!/^https?:\/\//.test(url)) throw new UsageError(`--url must begin with https:// or http://, got ${url}`)
  if (!URL.canParse(url)) throw new UsageError(`--url must be the URL of an instance, got ${url}`)
  if (project === undefined) throw new UsageError(`Name the project with --project. ${SEE_HELP}`)
  const files = [...(values.files ?? []), ...positionals]
  const timeoutSeconds = values.timeout === undefined ? TIMEOUT_SECONDS : Number(values.timeout)
  if (!Number.isFinite(timeoutSeconds) || timeoutSeconds < 0)
    throw new UsageError('--timeout must be a number of seconds')
  const options = {
    primary: values.primary,
    version_number: values['version-number'],
    name: values.name,
    changelog: values.changelog,
    changelog_tag: values['changelog-tag'],
    channel: values.channel,
    loaders: list(values.loaders),
    game_versions: list(values['game-versions']),
    dependencies: values.dependency?.map(parseDependency),
    file_types: fileTypes(values['file-type']),
    status: values.status,
    featured: values.featured,
  }
  return {
    ...config,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    url,
    project,
    files: files.length > 0 ? files : (config.files ?? []),
    dryRun: values['dry-run'] ?? false,
    skipExisting: values['skip-existing'] ?? false,
    wait: values['no-wait'] !== true,
    timeoutSeconds,
    json: values.json ?? false,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const { message, code } = error as Error & { code?: string }
    const option = /'(--?[^' ]+)/.exec(message)?.[1]
    const text = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option !== undefined ? unknown(option) : `${message}.`
    throw new UsageError(`${text} ${SEE_HELP}`)
  }
}

function unknown(option: string): string {
  const similar = Object.keys(OPTIONS).find((name) => distance(`--${name}`, option) <= 2)
  return `Unknown option ${option}.${similar === undefined ? '' : ` Did you mean --${similar}?`}`
}

/** Returns the number of letters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

function readConfig(name: string | undefined, cwd: string): Partial<Settings> {
  const path = resolve(cwd, name ?? CONFIG_FILE)
  let text: string
  try {
    text = withoutMark(readFileSync(path, 'utf8'))
  } catch {
    if (name === undefined) return {}
    throw new UsageError(`The configuration file ${name} cannot be read`)
  }
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${name ?? CONFIG_FILE} is not valid JSON: ${error instanceof Error ? error.message : error}`)
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new UsageError(`${name ?? CONFIG_FILE} must contain an object`)
  }
  for (const [key, value] of Object.entries(config)) {
    const problem = problemOf(key, value)
    if (problem !== undefined) throw new UsageError(`${name ?? CONFIG_FILE}: ${problem}`)
  }
  return config
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function problemOf(key: string, value: unknown): string | undefined {
  const type = KEYS[key]
  if (type === undefined) return `${key} is unknown; the keys are ${Object.keys(KEYS).slice(1).join(', ')}`
  if (type === 'text' && !isText(value)) return `${key} must be a text`
  if (type === 'yes/no' && typeof value !== 'boolean') return `${key} must be true or false`
  if (type === 'list' && !(Array.isArray(value) && value.every(isText))) return `${key} must be a list of texts`
  if (type === 'object' && !isObject(value)) return `${key} must be an object`
  if (type === 'texts' && !(isObject(value) && Object.values(value).every(isText)))
    return `${key} must be an object of texts`
  const isDependency = (one: unknown) => isObject(one) && isText(one['project'])
  if (type === 'dependencies' && !(Array.isArray(value) && value.every(isDependency))) {
    return `${key} must be a list of objects with project, and optionally version and type`
  }
  return undefined
}

const list = (value: string | undefined): string[] | undefined =>
  value
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** `PROJECT[@VERSION][:TYPE]` */
function parseDependency(value: string): Dependency {
  const match = /^([^@:]+)(?:@([^:]+))?(?::(\w+))?$/.exec(value)
  if (match?.[1] === undefined)
    throw new UsageError(`--dependency must have the form PROJECT[@VERSION][:TYPE], got ${value}`)
  return {
    project: match[1],
    ...(match[2] === undefined ? {} : { version: match[2] }),
    ...(match[3] === undefined ? {} : { type: match[3] }),
  }
}

function fileTypes(values: readonly string[] | undefined): Record<string, string> | undefined {
  if (values === undefined) return undefined
  return Object.fromEntries(
    values.map((value) => {
      const at = value.lastIndexOf('=')
      if (at <= 0) throw new UsageError(`--file-type must have the form FILE=TYPE, got ${value}`)
      return [value.slice(0, at), value.slice(at + 1)]
    }),
  )
}
