// Stores email as files, for a service without a mail server.
import { randomBytes } from 'node:crypto'
import { access, constants, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { composeMessage, type Mail, mailError } from '../mail.ts'

/** Maximum number of stored messages; the oldest are deleted. */
const MESSAGES_MAX = 10_000

/** Number of messages between deletions of old messages. */
const DELETE_EVERY = 256

type Options = {
  /** Created if missing, readable only by its owner, because messages contain secrets. */
  folder: string
  from: string
  /** Milliseconds since 1970. */
  now: () => number
  messagesMax?: number
}

/**
 * Writes each message to `folder` as an `.eml` file (RFC 5322), atomically, and deletes all but the newest 10,000. Names
 * sort by time and, within one process, by the order of the messages.
 */
export function createOutbox({ folder, from, now, messagesMax = MESSAGES_MAX }: Options): Mail {
  let sent = 0

  async function write(content: Buffer, at: number): Promise<string> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (sent % DELETE_EVERY === 0) await deleteOldest(folder, messagesMax - 1)
    sent += 1
    const time = new Date(at).toISOString().replaceAll(':', '-').replace('.', '-')
    const name = `${time}-${String(sent).padStart(8, '0')}-${randomBytes(4).toString('hex')}`
    const path = join(folder, `.${name}.tmp`)
    try {
      await writeFile(path, content, { flag: 'wx', mode: 0o600 })
      await rename(path, join(folder, `${name}.eml`))
      return `${name}.eml`
    } catch (failure) {
      await rm(path, { force: true })
      throw failure
    }
  }

  return {
    async send(message) {
      const at = now()
      const content = await composeMessage(from, message, at)
      return write(content, at).catch((failure) => {
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

async function deleteOldest(folder: string, count: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort()
  for (const name of names.slice(0, Math.max(0, names.length - count))) await rm(join(folder, name), { force: true })
}
