// Lists the files to which rows refer, in the order of their keys.
import { type Client, quote } from './rows.ts'

/** Columns with URLs of images. Only URLs below the base URL of the instance refer to a file. */
export const IMAGE_COLUMNS = [
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

/** Images with scaled copies: table, URL column, column of widths. */
const SCALED_IMAGES = [
  ['gallery_item', 'raw_url', 'copy_widths'],
  ['instance_settings', 'raw_mark_url', 'mark_widths'],
] as const

/** Returns the prefix of image URLs. */
export const imageBase = (filesBaseUrl: string): string => `${filesBaseUrl}/data/`
/** Prefix of the keys of images. */
const IMAGE_KEYS = 'pictures/'

export type StoredKey = {
  key: string
  /** Whether the file might not exist yet, because it is an image whose upload is in progress. */
  isUploading: boolean
  /** null for images. */
  sha512: string | null
  sizeBytes: number | null
}

/** Returns a query of `key, is_uploading, sha512, size_bytes` with unique keys. `$1` is the prefix of image URLs. */
export function storedKeysSql(): string {
  const images = IMAGE_COLUMNS.map(
    ([table, column]) =>
      `select '${IMAGE_KEYS}' || substr(${column}, length($1::text) + 1), false, null, null
      from ${quote(table)} where starts_with(${column}, $1)`,
  )
  const copies = SCALED_IMAGES.map(
    ([table, raw, widths]) =>
      `select '${IMAGE_KEYS}' || substr(regexp_replace(${raw}, '[.][a-z]+$', ''), length($1::text) + 1)
        || '_' || made_for || '.webp', false, null, null
      from ${quote(table)}, unnest(${widths}) made_for where starts_with(${raw}, $1)`,
  )
  return `select key, bool_and(is_uploading) as is_uploading, min(sha512) as sha512, min(size_bytes) as size_bytes from (
      select storage_key as key, false as is_uploading, sha512, size_bytes from file
      union all select storage_key, num_nonnulls(project_id, version_id, report_id, thread_message_id) = 0, null, size_bytes
        from image
      union all ${images.join(' union all ')} union all ${copies.join(' union all ')}) stored
    group by key`
}

const PAGE = 2_000

/** Yields every key in byte order, from the snapshot of the current transaction. */
export async function* storedKeys(client: Client, filesBaseUrl: string): AsyncGenerator<StoredKey> {
  await client.query({
    text: `declare stored_keys cursor for ${storedKeysSql()} order by key collate "C"`.replaceAll(
      /\$1(::text)?/g,
      literal(imageBase(filesBaseUrl)),
    ),
  })
  for (;;) {
    const { rows } = await client.query<{
      key: string
      is_uploading: boolean
      sha512: string | null
      size_bytes: number | null
    }>(`fetch ${PAGE} from stored_keys`)
    for (const { key, is_uploading, sha512, size_bytes } of rows) {
      yield { key, isUploading: is_uploading, sha512, sizeBytes: size_bytes }
    }
    if (rows.length < PAGE) break
  }
  await client.query('close stored_keys')
}

/** Quotes a string, because a cursor cannot have parameters. The only escape in standard strings is a doubled quote. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

export async function countStoredKeys(client: Client, filesBaseUrl: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (${storedKeysSql()}) stored`,
    [imageBase(filesBaseUrl)],
  )
  return rows[0]?.count ?? 0
}

/** Yields lists of `size` items. The last list can be shorter. */
export async function* inBatches<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  size: number,
): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
