// Which files the rows name, in the order of their keys.
import type { Client } from './rows.ts'
import { quote } from './rows.ts'

/** Columns with addresses of pictures. Of their addresses, those below the instance's own lead to a file. */
export const PICTURE_COLUMNS = [
  ['account', 'avatar_url'],
  ['account', 'raw_avatar_url'],
  ['collection', 'icon_url'],
  ['collection', 'raw_icon_url'],
  ['gallery_item', 'url'],
  ['gallery_item', 'raw_url'],
  ['instance_settings', 'mark_url'],
  ['instance_settings', 'raw_mark_url'],
  ['oauth_client', 'icon_url'],
  ['oauth_client', 'raw_icon_url'],
  ['organization', 'icon_url'],
  ['organization', 'raw_icon_url'],
  ['project', 'icon_url'],
  ['project', 'raw_icon_url'],
] as const

/** Pictures with scaled copies that stand beside them: table, address, widths. */
const COPIED = [
  ['gallery_item', 'raw_url', 'copy_widths'],
  ['instance_settings', 'raw_mark_url', 'mark_widths'],
] as const

/** Where addresses of pictures begin, and the keys of their files. */
export const pictureBase = (filesBaseUrl: string): string => `${filesBaseUrl}/data/`
const PICTURE_KEYS = 'pictures/'

export type StoredKey = {
  key: string
  /** Its bytes may be on their way still: a picture whose upload is not finished. */
  isUnderWay: boolean
  /** Of files of versions. */
  sha512: string | null
  sizeBytes: number | null
}

/** A query of `key, is_under_way, sha512, size_bytes`, each key once; `$1` is the base of pictures. */
export function storedKeysSql(): string {
  const pictures = PICTURE_COLUMNS.map(
    ([table, column]) =>
      `select '${PICTURE_KEYS}' || substr(${column}, length($1::text) + 1), false, null, null
      from ${quote(table)} where starts_with(${column}, $1)`,
  )
  const copies = COPIED.map(
    ([table, raw, widths]) =>
      `select '${PICTURE_KEYS}' || substr(regexp_replace(${raw}, '[.][a-z]+$', ''), length($1::text) + 1)
        || '_' || made_for || '.webp', false, null, null
      from ${quote(table)}, unnest(${widths}) made_for where starts_with(${raw}, $1)`,
  )
  return `select key, bool_and(is_under_way) as is_under_way, min(sha512) as sha512, min(size_bytes) as size_bytes from (
      select storage_key as key, false as is_under_way, sha512, size_bytes from file
      union all select storage_key, num_nonnulls(project_id, version_id, report_id, thread_message_id) = 0, null, size_bytes
        from image
      union all ${pictures.join(' union all ')} union all ${copies.join(' union all ')}) stored
    group by key`
}

const PAGE = 2_000

/** Every key that the rows name, in byte order; inside a transaction, as of its snapshot. */
export async function* storedKeys(client: Client, filesBaseUrl: string): AsyncGenerator<StoredKey> {
  await client.query({
    text: `declare stored_keys cursor for ${storedKeysSql()} order by key collate "C"`.replaceAll(
      /\$1(::text)?/g,
      literal(pictureBase(filesBaseUrl)),
    ),
  })
  for (;;) {
    const { rows } = await client.query<{
      key: string
      is_under_way: boolean
      sha512: string | null
      size_bytes: number | null
    }>(`fetch ${PAGE} from stored_keys`)
    for (const { key, is_under_way, sha512, size_bytes } of rows) {
      yield { key, isUnderWay: is_under_way, sha512, sizeBytes: size_bytes }
    }
    if (rows.length < PAGE) break
  }
  await client.query('close stored_keys')
}

/** A cursor takes no parameters. Standard strings have no escapes but the doubled quote. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

export async function countStoredKeys(client: Client, filesBaseUrl: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (${storedKeysSql()}) stored`,
    [pictureBase(filesBaseUrl)],
  )
  return rows[0]?.count ?? 0
}
