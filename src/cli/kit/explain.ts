// Explains the errors of commands: the problem, and what the operator can do.
import { UsageError } from '#cli/kit/arguments.ts'
import { ApiError, reasonOf } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'

type Fault = {
  /** Error codes of system calls and of PostgreSQL. */
  codes: RegExp
  /** Parts of messages, for libraries and programs that report no code. */
  texts: RegExp
  remedy: string
}

/** The first fault that matches any error of a chain is its explanation. */
const FAULTS: readonly Fault[] = [
  {
    codes: /^(ENOSPC|EDQUOT|EFBIG|53100)$/,
    texts: /No space left on device|Disk quota exceeded|disk is full|bytes are free/,
    remedy: 'Free space on that disk, or use a larger one, and run the command again.',
  },
  {
    codes: /^EROFS$/,
    texts: /Read-only file system|readonly database/,
    remedy: 'Mount the file system for writing, or choose a folder on another one.',
  },
  {
    codes: /^25006$/,
    texts: /$^/,
    remedy: 'Set DATABASE_URL to the primary server, because replicas accept no changes.',
  },
  {
    codes: /^(EACCES|EPERM)$/,
    texts: /Permission denied|unable to open database file/,
    remedy: 'Run the command as the owner of that folder, or give this user permission to read and write it.',
  },
  {
    codes: /^(28000|28P01|3D000)$/,
    texts: /$^/,
    remedy: 'Correct the user, the password and the name of the database in DATABASE_URL.',
  },
  {
    codes: /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|08...|57P0.|53300)$/,
    texts: /Connection terminated|connection timeout|timeout exceeded when trying to connect|Query read timeout/,
    remedy:
      'Check that the server runs and has space on its disk, correct its URL in the settings, and run the command again.',
  },
  {
    codes: /^(EMFILE|ENFILE|ENOMEM|EIO|53200)$/,
    texts: /Out of Memory/,
    remedy: 'Check the memory, the open files and the disk of this machine, and run the command again.',
  },
  {
    codes: /^XX00[12]$/,
    texts: /Corrupt database file|not a valid DuckDB database file/,
    remedy: 'Run `depot doctor`, which names the damaged part and what to do.',
  },
  { codes: /^(ENOENT|ENOTDIR|EISDIR|EEXIST)$/, texts: /$^/, remedy: 'Correct the path, and run the command again.' },
]

/** A sentence that tells the operator what to do. */
const OWN_REMEDY = /[.;] (Check|Choose|Correct|Create|Free|Make|Mount|Restart|Restore|Run|Set|Start|Stop|Use) /i
const UNKNOWN = 'Check the name or the ID, for example in the output of `depot user list`.'
const UNEXPECTED = 'This is an error in Depot. Report it with the lines above, and try the command again.'

/** Returns one line with the problem and the remedy. Errors of Depot itself have their stack before that line. */
export function explain(error: unknown): string {
  if (error instanceof UsageError) return error.message
  const chain = causesOf(error)
  const fault = FAULTS.find((known) => chain.some((link) => isOf(known, link)))
  if (error instanceof OperatorError && OWN_REMEDY.test(error.message)) return error.message
  if (error instanceof OperatorError) return withRemedy(error.message, fault)
  if (error instanceof ApiError && fault === undefined)
    return error.status === 404 ? `${error.message}. ${UNKNOWN}` : reasonOf(error)
  if (fault === undefined) return `${stackOf(chain)}\n${UNEXPECTED}`
  const problem = chain.reduce((text, { message }) => {
    const line = message.trim().split('\n')[0] ?? ''
    return text.includes(line) ? text : `${text}: ${line}`
  }, chain.shift()?.message ?? '')
  return withRemedy(problem, fault)
}

function withRemedy(problem: string, fault: Fault | undefined): string {
  return fault === undefined ? problem : `${problem.trim().replace(/\.$/, '')}. ${fault.remedy}`
}

function isOf({ codes, texts }: Fault, error: Error): boolean {
  const found = 'code' in error ? String(error.code) : ''
  return [found, ...error.message.split(/\W+/)].some((word) => codes.test(word)) || texts.test(error.message)
}

/** Returns the error and its causes. */
function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [new Error(String(error))]
  const inner = error instanceof AggregateError ? error.errors : []
  return [error, ...[error.cause, ...inner].filter((cause) => cause instanceof Error).flatMap(causesOf)]
}

function stackOf(chain: readonly Error[]): string {
  return chain
    .map((error, i) => (i === 0 ? (error.stack ?? error.message) : `  caused by: ${error.message}`))
    .join('\n')
}
