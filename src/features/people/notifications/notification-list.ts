// The JSON of a user's whole list. The database composes the notifications of followed projects, which are the only ones that
// an account has by the thousand, in the form that the view of one of them has.
import { type RawBuilder, sql } from 'kysely'
import { joinJson } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { Db } from '#platform/db/db.ts'
import { SITE_TYPES } from './notification-types.ts'
import { LISTED_MAX, type NotificationRow } from './queries.ts'

const PIECE_ROWS = 250
/** Placeholders in the JSON of the view, and what the database puts there. IDs need no escaping. */
const SLOTS: Readonly<Record<string, RawBuilder<unknown>>> = {
  '{{id}}': sql`id`,
  '"{{read}}"': sql`read::text`,
  '{{created}}': sql`to_char(created at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  '{{project}}': sql`(body ->> 'project_id')`,
  '{{version}}': sql`(body ->> 'version_id')`,
}

type ToView = (row: NotificationRow) => unknown

/** Returns the newest 10,000 notifications of an account as a JSON array. Other work of the process runs in between. */
export async function writeNotificationList(db: Db, accountId: string, toView: ToView): Promise<Buffer> {
  const { rows } = await sql<{ json: string }>`
    with listed as (
      select id, read, created, body, row_number() over (order by created desc, id) - 1 as place from notification
      where account_id = ${accountId} and body ->> 'type' = any(${[...SITE_TYPES]}::text[])
      order by created desc, id limit ${LISTED_MAX})
    select string_agg(case when body ->> 'type' = 'project_update' then ${composeUpdate(accountId, toView)}
      else chr(10) || json_build_object('id', id, 'read', read, 'created', created, 'body', body)::text || chr(10) end,
      ',' order by place) as json
    from listed group by place / ${sql.lit(PIECE_ROWS)} order by place / ${sql.lit(PIECE_ROWS)}`.execute(db)
  // The database escapes line breaks of texts, so they are only around rows that it did not compose.
  const pieces = await convertInPieces(rows, ({ json }) =>
    Buffer.from(
      json
        .split('\n')
        .map((part, index) => (index % 2 === 0 ? part : JSON.stringify(toView(readRow(part, accountId)))))
        .join(''),
    ),
  )
  return joinJson(pieces.map((bytes) => ({ bytes })))
}

function readRow(json: string, account_id: string): NotificationRow {
  const row = JSON.parse(json) as Omit<NotificationRow, 'created' | 'account_id'> & { created: string }
  return { ...row, account_id, created: new Date(row.created) }
}

/** Returns the view of an update as SQL that composes its JSON. */
function composeUpdate(accountId: string, toView: ToView): RawBuilder<string> {
  const row = {
    id: '{{id}}',
    account_id: accountId,
    read: '{{read}}' as unknown as boolean,
    created: { toISOString: () => '{{created}}' } as Date,
    body: { type: 'project_update', project_id: '{{project}}', version_id: '{{version}}' },
  }
  const parts = JSON.stringify(toView(row)).split(/("\{\{read\}\}"|\{\{\w+\}\})/)
  return sql`${sql.join(
    parts.map((part) => SLOTS[part] ?? sql`${part}::text`),
    sql` || `,
  )}`
}
