// Loads the rows of a backup, and compares their number with the backup.
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import pgCopy from 'pg-copy-streams'
import { OperatorError } from '#lib/operator-error.ts'
import { damaged, type Head, unreadable } from './archive/archive-format.ts'
import type { Member } from './archive/member-reader.ts'
import { type Client, columnList, quote } from './rows.ts'

const LINE_BREAK = 10

type Loading = { name: string; copy: pgCopy.CopyStreamQuery; lines: number }

/** Loads all parts of a table with one COPY. */
export function createRowLoader(client: Client, tables: Head['tables']) {
  const loaded = new Map<string, number>()
  let current: Loading | undefined

  async function end(): Promise<number> {
    if (current === undefined) return 0
    const { copy, name, lines } = current
    current = undefined
    await new Promise<void>((resolve, reject) => {
      copy.once('error', reject)
      copy.once('finish', resolve)
      copy.end()
    }).catch((cause) => {
      throw copyError(name, cause)
    })
    // PostgreSQL ignores everything after a line that contains only `\.`.
    requireRows(name, copy.rowCount, lines)
    loaded.set(name, copy.rowCount)
    return copy.rowCount
  }

  function begin(name: string): Loading {
    const table = tables.find((listed) => listed.name === name)
    if (table === undefined) throw damaged(`its head does not list the table ${name}`)
    if (loaded.has(name)) throw damaged(`the parts of the table ${name} are not consecutive`)
    const copy = client.query(pgCopy.from(`copy ${quote(name)} (${columnList(table)}) from stdin`))
    copy.on('error', () => undefined)
    return { name, copy, lines: 0 }
  }

  return {
    /** Returns the number of rows of the last table. @throws ArchiveError if the table has fewer rows than its parts. */
    end,
    /** @throws ArchiveError if a table does not have the number of rows in the head of the backup. */
    requireAll(): void {
      for (const { name, rows } of tables) if (rows !== undefined) requireRows(name, loaded.get(name) ?? 0, rows)
    },
    /** Loads a part. Returns the number of rows of the previous table if the part begins a new one. */
    async load(name: string, member: Member): Promise<number> {
      const count = current?.name === name ? 0 : await end()
      const loading = current ?? begin(name)
      current = loading
      async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
        for await (const chunk of chunks) {
          loading.lines += countLines(chunk)
          yield chunk
        }
      }
      await pipeline(member.stream(), createGunzip(), counted, loading.copy, { end: false }).catch((cause) => {
        throw copyError(name, cause)
      })
      return count
    },
  }
}

function requireRows(table: string, found: number, expected: number): void {
  if (found === expected) return
  throw damaged(`it contains ${expected} rows of ${table}, of which ${found} can be read`)
}

/** Returns the number of rows in the text format of COPY, which escapes the line breaks of values. */
function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(LINE_BREAK); at !== -1; at = chunk.indexOf(LINE_BREAK, at + 1)) count += 1
  return count
}

/** Translates errors of PostgreSQL and of decompression. */
function copyError(table: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^Z_/.test(code)) return damaged(`rows of ${table} cannot be read`, cause)
  if (/^(22|23)/.test(code)) return damaged(`rows of ${table} are invalid`, cause)
  if (/^53/.test(code)) return new OperatorError(`The database has no space left for the rows of ${table}`, { cause })
  return /^[0-9A-Z]{5}$/.test(code) ? cause : unreadable(cause)
}
