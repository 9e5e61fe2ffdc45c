// The two newest recorded releases: for each one, a packed data folder, and what its API answered.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { readMigrations } from '#platform/db/migration-files.ts'

const FOLDER = join(import.meta.dirname, 'recorded')
/** The releases whose upgrade the tests prove. Older ones contain the same migrations, which never change. */
export const RECORDINGS_MAX = 2

export type Answer = { status: number; type: string; body: string }

export type Recording = {
  /** Version and commit of the program that wrote the folder. */
  version: string
  commit: string
  /** Time of the recording, in milliseconds. */
  time: number
  /** Tokens of the callers; null for a visitor. */
  callers: Record<string, string | null>
  /** By the name of the caller and the address. */
  answers: Record<string, Record<string, Answer>>
  /** Number of events by kind. */
  events: Record<string, number>
  /** Keys of the stored files. */
  files: string[]
}

/** The API descriptions, in `docs/generated` and, compressed, in each recording. */
export const DESCRIPTIONS = ['openapi.json', 'openapi-v2.json']

/** Returns the names of the recordings, oldest first. */
export const listRecordings = (): string[] =>
  existsSync(FOLDER)
    ? readdirSync(FOLDER)
        .filter((name) => existsSync(join(pathOf(name), 'answers.json.br')))
        .sort(byVersion)
    : []

/** Returns the checksums of the migrations of a recording by name; without a name, of the newest. */
export function releasedMigrations(name = listRecordings().at(-1) ?? ''): Map<string, string> {
  const lines = readFileSync(join(pathOf(name), 'migrations.sha256'), 'utf8')
    .trimEnd()
    .split('\n')
  return new Map(lines.map((line) => line.split('  ').reverse() as [string, string]))
}

/** Returns the migrations that an upgrade of a recording applies. */
export async function addedMigrations(name: string): Promise<string[]> {
  const released = releasedMigrations(name)
  return (await readMigrations()).map((migration) => migration.name).filter((one) => !released.has(one))
}

const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

export const pathOf = (name: string): string => join(FOLDER, name)

export function readRecording(name: string): Recording {
  return JSON.parse(brotliDecompressSync(readFileSync(join(pathOf(name), 'answers.json.br'))).toString('utf8'))
}

/** Returns the schema of the newest recording, in the form of docs/generated/schema.sql. */
export const releasedSchema = (): string =>
  readFileSync(join(pathOf(listRecordings().at(-1) ?? ''), 'schema.sql'), 'utf8')

/** Unpacks the data folder of a recording. PostgreSQL's own user can pass it if the tests run as root. */
export function unpack(name: string): { dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), 'depot-upgrade-'))
  chmodSync(dataDir, 0o711)
  const tar = brotliDecompressSync(readFileSync(join(pathOf(name), 'data.tar.br')))
  execFileSync('tar', ['-x', '--same-permissions', '-C', dataDir], { input: tar })
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) }
}
