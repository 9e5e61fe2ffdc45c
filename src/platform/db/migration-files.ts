// The files of `migrations/`: what each one does, and how much space it needs.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'

const MIGRATIONS = join(import.meta.dirname, '../../../migrations')
/** Space for the log and new tables of any migration. */
const RESERVE_BYTES = 32 * 1024 * 1024
/** The new rows or the new index, and the same in the write-ahead log. */
const COPIES = 2
/** Statements that write rows of an existing table again, or an index over them. The last group is the table. */
const REWRITES = [
  /(?:^|;)\s*update\s+(?:only\s+)?([a-z_]+)\b/gi,
  /\bcreate\s+(?:unique\s+)?index\s[^;]*?\son\s+([a-z_]+)/gi,
  /\balter\s+table\s+([a-z_]+)[^;]*?\b(?:set\s+data\s+)?type\b/gi,
  /\balter\s+table\s+([a-z_]+)[^;]*?\bprimary\s+key\b/gi,
  /(?:^|;)\s*delete\s+from\s+([a-z_]+)/gi,
]

export type Migration = {
  name: string
  sql: string
  checksum: string
  /** The first sentence of its comment. */
  about: string
}

/** Returns all migrations of this version of Depot, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(MIGRATIONS, name), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { name, sql, checksum, about: firstSentence(sql) ?? wordsOf(name) }
    }),
  )
}

/** Estimates the space that pending migrations need: the tables that they write again, by their present size. */
export async function estimateBytes(client: pg.Pool | pg.PoolClient, pending: readonly Migration[]): Promise<number> {
  if (pending.length === 0) return 0
  const tables = pending.flatMap(({ sql }) => rewrittenTables(sql))
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) as bytes from unnest($1::text[]) as name
     where to_regclass(name) is not null`,
    [tables],
  )
  return RESERVE_BYTES + COPIES * Number(rows[0]?.bytes ?? 0)
}

/** Returns the tables whose rows or indexes the statements write again, each once. */
export function rewrittenTables(sql: string): string[] {
  // Bodies of functions run later, and comments never.
  const text = sql.replace(/\$([a-z_]*)\$.*?\$\1\$/gis, '').replace(/--.*$/gm, '')
  return [...new Set(REWRITES.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? '')))]
}

function firstSentence(sql: string): string | undefined {
  const comment = /^(?:--.*\n)+/.exec(sql)?.[0]
  if (comment === undefined) return undefined
  const text = comment.replace(/^-- ?/gm, '').split('\n\n')[0]?.replace(/\s+/g, ' ').trim() ?? ''
  return /^.*?(?=\.(?: |$))|.+/.exec(text)?.[0]
}

function wordsOf(name: string): string {
  const words = name.replace(/^\d+_|\.sql$/g, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
