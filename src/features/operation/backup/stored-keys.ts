// Lists the files to which rows refer, in the order of their keys.
import { IMAGE_KEYS } from '#features/basics/images/hosted-image.ts'
import { type Client, quote } from './rows.ts'

/** Columns with keys of images. Rows of an older schema contain URLs. */
export const IMAGE_COLUMNS = [
  ['account', 'avatar_url'],
  ['account', 'raw_avatar_url'],
  ['cleaned_account', 'avatar_url'],
  ['cleaned_account', 'raw_avatar_url'],
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

/** Converts the URL of an image of this instance, at any base URL, to its key, as migrations/0009_store_image_keys.sql does. */
const keyIn = (column: string): string =>
  `regexp_replace(${column}, '^https?://.*/data/(?=[^/]+/(?:images/)?[0-9a-f]{40}(?:_[0-9]+)?[.][a-z]+$)', '${IMAGE_KEYS}')`
const hasKey = (column: string): string => `starts_with(${keyIn(column)}, '${IMAGE_KEYS}')`

export type StoredKey = {
  key: string
  /** Whether the file might not exist yet, because it is an image whose upload is in progress. */
  isUploading: boolean
  /** null for images. */
  sha512: string | null
  sizeBytes: number | null
}

/**
 * Returns a query of `key, is_uploading, sha512, size_bytes` with unique keys. A restore runs it with the schema of the backup,
 * which can be older than some tables.
 */
export async function storedKeysSql(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null',
    [[...new Set(IMAGE_COLUMNS.map(([table]) => table))]],
  )
  const known = new Set(rows.map(({ name }) => name))
  const images = IMAGE_COLUMNS.filter(([table]) => known.has(table)).map(
    ([table, column]) => `select ${keyIn(column)}, false, null, null from ${quote(table)} where ${hasKey(column)}`,
  )
  const copies = SCALED_IMAGES.map(
    ([table, raw, widths]) =>
      `select regexp_replace(${keyIn(raw)}, '[.][a-z]+$', '') || '_' || made_for || '.webp', false, null, null
      from ${quote(table)}, unnest(${widths}) made_for where ${hasKey(raw)}`,
  )
  return `select key, bool_and(is_uploading) as is_uploading, min(sha512) as sha512, min(size_bytes) as size_bytes from (
      select storage_key as key, false as is_uploading, sha512, size_bytes from file
      union all select storage_key, num_nonnulls(project_id, version_id, report_id, thread_message_id) = 0, null, size_bytes
        from image
      union all ${images.join(' union all ')} union all ${copies.join(' union all ')}) stored
    group by key`
}

const PAGE = 2_000
const KEYS_PER_QUERY = 1_000

/** Yields every key in byte order, from the snapshot of the current transaction. */
export async function* storedKeys(client: Client): AsyncGenerator<StoredKey> {
  await client.query(`declare stored_keys cursor for ${await storedKeysSql(client)} order by key collate "C"`)
  for (;;) {
    const { rows } = await client.query<{
      key: string
      is_uploading: boolean
      sha512: string | null
      size_bytes: number | null
    }>(`fetch ${PAGE} from stored_keys`)
    for (const { key, is_uploading, sha512, size_bytes } of rows)
      yield { key, isUploading: is_uploading, sha512, sizeBytes: size_bytes }
    if (rows.length < PAGE) break
  }
  await client.query('close stored_keys')
}

export async function countStoredKeys(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (${await storedKeysSql(client)}) stored`,
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

/** Yields each file, and whether a row, a claim or a scheduled removal refers to it. */
export async function* withReferences<File extends { key: string }>(
  client: Client,
  files: AsyncIterable<File> | Iterable<File>,
): AsyncGenerator<[file: File, isReferenced: boolean]> {
  const stored = await storedKeysSql(client)
  for await (const part of inBatches(files, KEYS_PER_QUERY)) {
    const { rows } = await client.query<{ key: string }>(
      `select key from (${stored}) stored where key = any($1::text[])
      union select storage_key from upload_claim where storage_key = any($1::text[])
      union select storage_key from external_image where storage_key = any($1::text[])
      union select storage_key from upload_part where storage_key = any($1::text[])
      union select removed.key from graphile_worker._private_jobs job
        join graphile_worker._private_tasks task on task.id = job.task_id and task.identifier = 'files.remove',
        json_array_elements_text(job.payload -> 'keys') as removed (key)
        where removed.key = any($1::text[])`,
      [part.map(({ key }) => key)],
    )
    const referenced = new Set(rows.map(({ key }) => key))
    for (const file of part) yield [file, referenced.has(file.key)]
  }
}
