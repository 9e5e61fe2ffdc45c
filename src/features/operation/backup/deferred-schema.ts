// Removes foreign keys and indexes before rows are loaded, and creates them again afterwards: checking and sorting all rows
// together takes a fraction of the time. Everything is part of the transaction of the restore.
import { damaged } from './archive/archive-format.ts'
import { type Client, quote, type Table } from './rows.ts'

type Part = { drop: string; create: string; name: string }

/** Removes them, and returns a function that creates them again. */
export async function deferSchema(client: Client, tables: readonly Table[]): Promise<() => Promise<void>> {
  const names = tables.map(({ name }) => name)
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `select relname as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and connamespace = 'public'::regnamespace and relname = any($1::text[]) order by pg_constraint.oid`,
    [names],
  )
  // Indexes of constraints stay. A foreign key has no index: it names that of the other table.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select own.relname as name, pg_get_indexdef(own.oid) as definition
    from pg_index join pg_class own on own.oid = indexrelid join pg_class parent on parent.oid = indrelid
    where parent.relnamespace = 'public'::regnamespace and parent.relname = any($1::text[]) and not indisprimary
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    order by own.oid`,
    [names],
  )
  const parts: Part[] = [
    ...indexes.map(({ name, definition }) => ({ name, drop: `drop index ${quote(name)}`, create: definition })),
    ...keys.map(({ table, name, definition }) => ({
      name,
      drop: `alter table ${quote(table)} drop constraint ${quote(name)}`,
      create: `alter table ${quote(table)} add constraint ${quote(name)} ${definition}`,
    })),
  ]
  const statements = parts.toReversed().map(({ drop }) => drop)
  if (statements.length > 0) await client.query(statements.join(';\n'))
  return () => create(client, parts)
}

async function create(client: Client, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return
  await client.query(parts.map((part) => part.create).join(';\n')).catch((cause: Error) => {
    const code = 'code' in cause ? String(cause.code) : ''
    throw /^23/.test(code) ? damaged('its rows do not agree with each other', cause) : cause
  })
}
