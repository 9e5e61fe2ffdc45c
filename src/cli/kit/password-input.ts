// A password from the person at the terminal, who does not see it, or from standard input.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from './arguments.ts'

/** Longer than any password that is accepted. */
const LENGTH_MAX = 10_000

/** The value of --password, or what is typed twice, or the first line of standard input. @throws UsageError */
export async function readPassword(given: string | undefined): Promise<string> {
  if (given !== undefined) {
    if (given === '') throw new UsageError('--password must not be empty')
    return given
  }
  if (!process.stdin.isTTY) return firstLine()
  const [first = '', again] = await ask(['Password: ', 'The same again: '])
  if (first !== again) throw new UsageError('The two passwords differ')
  return first
}

async function firstLine(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) {
    text += chunk
    if (text.includes('\n') || text.length > LENGTH_MAX) break
  }
  const line = (text.split('\n')[0] ?? '').replace(/\r$/, '')
  if (line === '')
    throw new UsageError(
      'The password must be typed at a terminal, be the first line of standard input, or be --password',
    )
  return line
}

/** Lines typed at the terminal. It echoes nothing from before the first question until after the last answer. */
async function ask(questions: readonly string[]): Promise<string[]> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  const ended = once(lines, 'close').then(() => Promise.reject(new UsageError('No password was given')))
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
