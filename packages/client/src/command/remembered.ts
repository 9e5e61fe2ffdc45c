// Uploads of earlier runs on this machine, so that a run after an interruption does not send everything again.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ResumeStore } from '../upload.ts'

/** The instance deletes unfinished uploads after this time. */
const KEPT_MS = 24 * 60 * 60 * 1000

type Entries = Record<string, { id: string; time: number }>

export type Remembered = {
  /** Finds the upload of a file by its content, because a build can write another file of the same size. */
  storeFor(sha256: string): ResumeStore
  /** Forgets the uploads of this run, after a version has used them. */
  forget(): void
}

/** A machine without a writable folder for caches remembers nothing. */
export function openRemembered(env: NodeJS.ProcessEnv): Remembered {
  const path = join(
    env['XDG_CACHE_HOME'] || env['LOCALAPPDATA'] || join(homedir(), '.cache'),
    'depot-publish/uploads.json',
  )
  const used = new Set<string>()
  const change = (apply: (entries: Entries) => void): void => {
    const entries = Object.fromEntries(Object.entries(read(path)).filter(([, { time }]) => time > Date.now() - KEPT_MS))
    apply(entries)
    try {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, JSON.stringify(entries), { mode: 0o600 })
    } catch {}
  }
  return {
    storeFor(sha256) {
      const nameOf = (key: string) => `${key} ${sha256}`
      return {
        getItem: (key) => {
          used.add(nameOf(key))
          return read(path)[nameOf(key)]?.id ?? null
        },
        setItem: (key, id) =>
          change((entries) => {
            entries[nameOf(key)] = { id, time: Date.now() }
          }),
        // A finished upload is remembered until a version uses it: the instance can still reject the description.
        removeItem: () => undefined,
      }
    },
    forget: () =>
      change((entries) => {
        for (const name of used) delete entries[name]
      }),
  }
}

function read(path: string): Entries {
  try {
    const entries: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof entries === 'object' && entries !== null ? (entries as Entries) : {}
  } catch {
    return {}
  }
}

/** Returns the SHA-256 of a file in hexadecimal. */
export async function hashOf(file: File): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of file.stream()) hash.update(chunk)
  return hash.digest('hex')
}
