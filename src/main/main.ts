// The command line. The only reader of the environment and the arguments; everything below gets what it needs.

import { UsageError } from '#cli/arguments.ts'
import { COMMANDS } from '#cli/commands.ts'
import { OperatorError } from '#lib/operator-error.ts'

/**
 * Runs one command and sets the exit code: 0 done, 1 refused or failed, 2 wrong usage. Foreseeable failures are one
 * sentence, others show their trace.
 */
export async function main(args: readonly string[], env: Record<string, string | undefined>): Promise<void> {
  if (['help', '--help', '-h'].includes(args[0] ?? '')) return void process.stdout.write(usage().trimStart())
  const command = COMMANDS.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '))
  try {
    if (command === undefined) throw new UsageError(`There is no such command: ${args.join(' ') || '(none)'}`)
    await command.run(args.slice(command.name.split(' ').length), env)
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1
    process.stderr.write(`${describe(error)}\n`)
    if (error instanceof UsageError) process.stderr.write(usage())
  }
}

function usage(): string {
  return `\nUsage: depot COMMAND\n${COMMANDS.map(({ name, usage: options, about }) => `  ${`${name} ${options}`.trim()}\n      ${about}`).join('\n')}\n`
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isForeseen = error instanceof UsageError || error instanceof OperatorError || error.name === 'ApiError'
  if (isForeseen) return error.message
  const cause = error.cause instanceof Error ? `\n  caused by: ${error.cause.message}` : ''
  return `${error.stack ?? error.message}${cause}`
}
