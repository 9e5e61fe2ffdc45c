// Changes the URLs of this instance's files in texts when their base URL has changed. Texts are stored as their authors
// wrote them, and therefore contain URLs.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Columns with Markdown, with the maximum length in the schema. A text that would become too long does not change. */
const TEXTS = [
  ['project', 'description'],
  ['version', 'changelog'],
  ['report', 'body'],
  ['thread_message', 'body'],
  ['instance_settings', 'about', 20_000],
  ['instance_settings', 'rules', 50_000],
  ['page_version', 'text', 65_536],
] as const

/** Replaces previous base URLs of files by the current one. Reads all texts, but only after a change. Idempotent. */
export async function updateFileUrls({ db, cache, config, log }: Pick<Deps, 'db' | 'cache' | 'config' | 'log'>) {
  const { baseUrl } = config.files
  const known = await db.selectFrom('text_base_url').select('url').execute()
  if (known.length === 1 && known[0]?.url === baseUrl) return
  const replaced = await transaction({ db, cache }, async (tx, changed) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    await tx
      .insertInto('text_base_url')
      .values({ url: baseUrl })
      .onConflict((oc) => oc.doNothing())
      .execute()
    const previous = await tx.deleteFrom('text_base_url').where('url', '<>', baseUrl).returning('url').execute()
    for (const { url } of previous) {
      for (const [table, name, maxLength = null] of TEXTS) {
        const column = sql.ref(name)
        const after = sql`replace(${column}::text, ${`${url}/data/`}, ${`${baseUrl}/data/`})`
        await sql`update ${sql.table(table)} set ${column} = ${table === 'thread_message' ? sql`${after}::jsonb` : after}
          where strpos(${column}::text, ${`${url}/data/`}) > 0 and coalesce(length(${after}) <= ${maxLength}::integer, true)`.execute(
          tx,
        )
      }
    }
    if (previous.length > 0) for (const kind of ['project', 'version', 'settings'] as const) changed.addAll(kind)
    return previous.map(({ url }) => url)
  })
  if (replaced.length > 0)
    log.info({ from: replaced, to: baseUrl }, 'Changed the URLs of files in texts to the new base URL')
}
