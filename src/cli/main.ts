// The command line. Only this layer reads the environment and the arguments.
import { UsageError } from '#cli/kit/arguments.ts'
import { explain } from '#cli/kit/explain.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { SettingsFile } from '#platform/config/settings-file.ts'
import { commitId, VERSION } from '#platform/config/version.ts'
import { commandsOf, findCommand, usageOf, usageOfAll } from './usage.ts'

const HELP = ['--help', '-h']

/** The result of bin/prepare.mjs: the settings file, and why no command can run. */
type Prepared = { settings?: SettingsFile; problem?: string | undefined }

/**
 * Runs one command and sets the exit code: 0 for success, 1 for failure, 2 for wrong usage. A failure ends with one line
 * that names the problem and the remedy; after a usage error, the usage follows.
 */
export async function main(
  args: readonly string[],
  env: Record<string, string | undefined>,
  { settings, problem }: Prepared = {},
): Promise<void> {
  // Other users cannot read what this process creates.
  process.umask(0o077)
  if (args[0] === '--version' || args[0] === '-v') return void process.stdout.write(versionLine())
  const found = findCommand(args)
  try {
    if (args[0] === 'help' || HELP.includes(args[0] ?? '')) return void process.stdout.write(help(args.slice(1)))
    if (found === undefined && isGroup(args)) return void process.stdout.write(usageFor(args))
    if (found === undefined) throw new UsageError(noSuchCommand(args))
    const { command, rest } = found
    const end = rest.indexOf('--')
    const wantsHelp = rest.slice(0, end === -1 ? rest.length : end).some((arg) => HELP.includes(arg))
    if (wantsHelp) return void process.stdout.write(usageOf(command))
    if (problem !== undefined) throw new OperatorError(problem)
    if (settings !== undefined && command.reportsSettings !== true) await check(settings)
    await (await command.load())(rest, env, settings)
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1
    process.stderr.write(`${explain(error)}\n`)
    if (error instanceof UsageError) process.stderr.write(`\n${found ? usageOf(found.command) : usageFor(args)}`)
  }
}

/** @throws UsageError if the command does not exist. */
function help(words: readonly string[]): string {
  if (words.length === 0) return usageOfAll()
  const found = findCommand(words)
  if (found !== undefined) return usageOf(found.command)
  if (commandsOf(words[0] ?? '').length === 0) throw new UsageError(noSuchCommand(words))
  return usageFor(words)
}

/** Returns the list of the commands in the group that the first word names; of all commands if it names none. */
function usageFor([group = '']: readonly string[]): string {
  return usageOfAll(commandsOf(group).length === 0 ? undefined : group)
}

/** Whether the arguments are only a group such as `user`, or a request for its help. */
function isGroup([word = '', next = '--help', ...rest]: readonly string[]): boolean {
  return HELP.includes(next) && rest.length === 0 && commandsOf(word).length > 0
}

function noSuchCommand(args: readonly string[]): string {
  if (args.length === 0) return 'No command specified'
  return `Unknown command: ${args.join(' ').slice(0, 200)}`
}

/** Checks a settings file. The check loads the schema, which help does not need. @throws OperatorError */
async function check(settings: SettingsFile): Promise<void> {
  const { checkSettingsFile } = await import('#platform/config/settings-file.ts')
  checkSettingsFile(settings)
}

function versionLine(): string {
  const commit = commitId()
  return commit === null ? `${VERSION}\n` : `${VERSION} (${commit.slice(0, 12)})\n`
}
