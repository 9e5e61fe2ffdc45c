// `depot manual`: the manual page, made from the table of commands.
import { readArguments } from '#cli/kit/arguments.ts'
import type { Command, Run } from '#cli/kit/command.ts'
import { EXIT_CODES } from '#cli/kit/exit-codes.ts'
import { VERSION } from '#platform/config/version.ts'

/** Returns the command for the table of commands. */
export const manualCommand =
  (commands: readonly Command[]): Run =>
  async (args) => {
    readArguments(args, {})
    process.stdout.write(manual(commands))
  }

/** Escapes what troff interprets: backslashes, hyphens, and a control character at the start of a line. */
const text = (plain: string): string =>
  plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^([.'])/gm, '\\&$1')

function entry({ name, usage = '', about, options = [] }: Command): string {
  const lines = options.map(([option, meaning]) => `.RS\n.TP\n.B ${text(option)}\n${text(meaning)}\n.RE`)
  return [`.TP\n.B depot ${text(name)} \\fR${text(usage)}`, `${text(about)}.`, ...lines].join('\n')
}

function manual(commands: readonly Command[]): string {
  return `.TH DEPOT 1 "" "Depot ${text(VERSION)}" "Depot"
.SH NAME
depot \\- a content hosting service
.SH SYNOPSIS
.B depot
.I COMMAND
[options]
.SH DESCRIPTION
Depot hosts a catalogue of projects that users publish, with an HTTP API and a web site.
.B depot serve
starts it; the other commands run with or without a server.
.SH COMMANDS
${commands.map(entry).join('\n')}
.SH EXIT STATUS
${EXIT_CODES.map(([code, meaning]) => `.TP\n.B ${code}\n${text(meaning)}`).join('\n')}
.SH FILES
.TP
.I .env, /etc/depot.env
Settings, unless
.B \\-\\-env\\-file FILE
names another file. Variables of the environment override the file.
.SH SEE ALSO
.B depot help COMMAND
`
}
