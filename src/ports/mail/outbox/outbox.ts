// Mail for a service without a mail server: each message is a file that a person or a program can read.
import { randomBytes } from 'node:crypto'
import { access, constants, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { composeMessage, type Mail, mailError } from '../mail.ts'

/** How many messages are kept; the oldest go first. */
const MESSAGES_MAX = 10_000

/** The folder is tidied at the first message and after each so many. */
const TIDY_EVERY = 256

type Options = {
  /** Made when absent, for its owner alone: the messages hold secrets. */
  folder: string
  from: string
  /** Milliseconds since the epoch. */
  now: () => number
  messagesMax?: number
}

/**
 * Writes each message to `folder` as an `.eml` file (RFC 5322) that appears whole or not at all, and keeps the newest
 * 10,000. Names sort by time; within one process also those of one millisecond.
 */
export function createOutbox({ folder, from, now, messagesMax = MESSAGES_MAX }: Options): Mail {
  let sent = 0

  async function write(content: Buffer, at: number): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (sent % TIDY_EVERY === 0) await keepNewest(folder, messagesMax - 1)
    sent += 1
    const time = new Date(at).toISOString().replaceAll(':', '-').replace('.', '-')
    const name = `${time}-${String(sent).padStart(8, '0')}-${randomBytes(4).toString('hex')}`
    const path = join(folder, `.${name}.tmp`)
    try {
      const file = await open(path, 'wx', 0o600)
      try {
        await file.writeFile(content)
      } finally {
        await file.close()
      }
      await rename(path, join(folder, `${name}.eml`))
    } catch (failure) {
      await rm(path, { force: true })
      throw failure
    }
  }

  return {
    async send(message) {
      const at = now()
      const content = await composeMessage(from, message, at)
      await write(content, at).catch((failure) => {
        throw mailError(failure)
      })
    },
    async check() {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await access(folder, constants.W_OK)
      } catch (failure) {
        throw mailError(failure)
      }
    },
    close: async () => {},
  }
}

async function keepNewest(folder: string, count: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort()
  for (const name of names.slice(0, Math.max(0, names.length - count))) await rm(join(folder, name), { force: true })
}
