// The help, which is made from the table of commands.

import type { Command } from '#cli/kit/command.ts'
import { EXIT_CODES } from '#cli/kit/exit-codes.ts'
import { COMMANDS } from './commands.ts'
import { FORMER } from './former-commands.ts'

/** Returns the command that the arguments name, and the remaining arguments. */
export function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  const matches = [...COMMANDS, ...FORMER].filter(({ name }) => name.split(' ').every((word, i) => args[i] === word))
  // Names of two words take precedence.
  const command = matches.find(({ name }) => name.includes(' ')) ?? matches[0]
  return command && { command, rest: args.slice(command.name.split(' ').length) }
}

/** Returns the commands whose first word is `word`. */
export const commandsOf = (word: string): Command[] => COMMANDS.filter(({ name }) => name.split(' ')[0] === word)

/** Returns the list of all commands, or of those of a group such as `user`. */
export function usageOfAll(group?: string): string {
  const commands = group === undefined ? COMMANDS : commandsOf(group)
  const lines = commands.map(({ name, usage = '', about }) => `  ${`${name} ${usage}`.trim()}\n      ${about}`)
  return `Usage: depot ${group === undefined ? '' : `${group} `}COMMAND\n${lines.join('\n')}\n\n\`depot help COMMAND\` explains a command; \`depot --version\` prints the version.
Each command reads settings from the file that \`--env-file FILE\` names, otherwise from .env in the working folder,
otherwise from /etc/depot.env. Variables of the environment override the file.

Exit codes:
${EXIT_CODES.map(([code, meaning]) => `  ${code}  ${meaning}`).join('\n')}\n`
}

/** Returns the usage of a command with its options. */
export function usageOf({ name, usage = '', about, options = [] }: Command): string {
  const width = Math.max(0, ...options.map(([option]) => option.length))
  const lines = options.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}\n`)
  return `Usage: depot ${`${name} ${usage}`.trim()}\n${about}.\n${lines.length === 0 ? '' : `\n${lines.join('')}`}`
}
