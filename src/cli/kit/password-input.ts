// Reads a password from the terminal, without showing it, or from standard input; or generates a temporary password.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { UsageError } from './arguments.ts'

/** Maximum number of characters to read; longer than any valid password. */
const LENGTH_MAX = 10_000

/** Lower case letters and digits without those that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
/** Together about 99 bits. */
const [GROUPS, GROUP_LENGTH] = [4, 5]

type PasswordValues = { password?: string; 'random-password'?: boolean }

/**
 * Returns a random temporary password with --random-password; otherwise the value of --password, a password typed twice, or
 * the first line of standard input.
 * @throws UsageError
 */
export async function readPassword(values: PasswordValues): Promise<{ password: string; isTemporary: boolean }> {
  const { password, 'random-password': isTemporary = false } = values
  if (!isTemporary) return { password: await readGiven(password), isTemporary }
  if (password !== undefined) throw new UsageError('--random-password cannot be combined with --password')
  return { password: randomPassword(), isTemporary }
}

/** Returns the text about a temporary password, which the operator gives to the user. */
export const temporaryPasswordText = (password: string): string =>
  `Temporary password: ${password}\nIt is not shown again. At the first sign-in, the user must choose another password.`

function randomPassword(): string {
  const group = () => Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

async function readGiven(option: string | undefined): Promise<string> {
  if (option !== undefined) {
    if (option === '') throw new UsageError('--password must not be empty')
    return option
  }
  if (!process.stdin.isTTY) return firstLine()
  const [first = '', again] = await ask(['Password: ', 'Repeat the password: '])
  if (first !== again) throw new UsageError('The passwords do not match')
  return first
}

async function firstLine(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) {
    text += chunk
    if (text.includes('\n') || text.length > LENGTH_MAX) break
  }
  const line = withoutMark(text.split('\n')[0] ?? '').replace(/\r$/, '')
  if (line === '')
    throw new UsageError(
      'No password: type it at a terminal, write it as the first line of standard input, or use --password or --random-password',
    )
  return line
}

/** Reads lines from the terminal, which echoes nothing until the last line. */
async function ask(questions: readonly string[]): Promise<string[]> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  const ended = once(lines, 'close').then(() => Promise.reject(new UsageError('No password specified')))
  ended.catch(() => undefined)
  lines.once('SIGINT', () => lines.close())
  const answers: string[] = []
  try {
    for (const question of questions) {
      const answered = once(lines, 'line')
      process.stderr.write(question)
      const [line] = (await Promise.race([answered, ended])) as [string]
      process.stderr.write('\n')
      answers.push(line)
    }
    return answers
  } finally {
    lines.close()
  }
}
