import { sql } from 'kysely'
import {
  deleteExternalImages,
  imageIdOf,
  insertBlocks,
  listFetchedUrls,
} from '#features/basics/external-images/queries.ts'
import { urlsIn } from '#lib/text/urls-in-text.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import { sourceFilesOf } from '#taxonomy/source-hosts.ts'
import { getTakedown } from './queries.ts'

/** Maximum number of texts of a project that are read: its description and the newest changelogs. */
const TEXTS_MAX = 200
/** Maximum number of images that a takedown blocks. */
const IMAGES_MAX = 500

/**
 * Blocks the images of other hosts that the texts of the projects of a takedown contain. Images that the description of another
 * public project contains too, such as badges, stay.
 */
export async function blockImages(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'sourceHosts'>,
  takedownId: string,
): Promise<void> {
  const { before, undone } = await getTakedown(deps.db, takedownId)
  if (undone !== null) return
  const projectIds = before.projects.map(({ id }) => id)
  const texts = await listTexts(deps.db, projectIds)
  const urls = new Set(
    texts.flatMap(({ text, source }) =>
      urlsIn(text, source === null ? undefined : sourceFilesOf(source, deps.sourceHosts)).map(({ url }) => url),
    ),
  )
  const fetched = await listFetchedUrls(deps.db, [...urls].slice(0, 10 * IMAGES_MAX).map(imageIdOf))
  const blocked = await listOwnUrls(deps.db, { urls: fetched.slice(0, IMAGES_MAX), projectIds })
  await transaction(deps, async (tx) => {
    // Undoing the takedown waits for this row, or has deleted the blocks.
    const takedown = await tx
      .selectFrom('takedown')
      .select('undone')
      .where('id', '=', takedownId)
      .forShare()
      .executeTakeFirst()
    if (takedown?.undone !== null) return
    const created = new Date(deps.now())
    const rows = blocked.map((url) => ({ id: imageIdOf(url), url, created, takedown_id: takedownId }))
    await deleteExternalImages(tx, await insertBlocks(tx, rows))
  })
}

/** `source`: the source link of the project. */
type Text = { text: string; source: string | null }

async function listTexts(db: Db, projectIds: readonly string[]): Promise<Text[]> {
  const { rows } =
    await sql<Text>`select description as text, link_urls->>'source' as source from project where id = any(${projectIds}::text[])
    union all (select changelog, link_urls->>'source' from version join project on project.id = project_id
      where project_id = any(${projectIds}::text[]) and changelog is not null
      order by date_published desc limit ${TEXTS_MAX})`.execute(db)
  return rows
}

/** Returns the URLs that no description of another public project contains. Reads all descriptions, which takes seconds. */
async function listOwnUrls(
  db: Db,
  { urls, projectIds }: { urls: readonly string[]; projectIds: readonly string[] },
): Promise<string[]> {
  if (urls.length === 0) return []
  const { rows } = await sql<{ url: string }>`select url from unnest(${urls}::text[]) as image (url) where not exists (
    select from project where status = any(${[...PUBLIC_STATUSES]}::text[]) and id <> all(${projectIds}::text[])
      and strpos(description, url) > 0)`.execute(db)
  return rows.map(({ url }) => url)
}
