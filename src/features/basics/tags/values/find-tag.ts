import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { type TaxonomyData, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { readEditedLists } from '../edit/queries.ts'
import { idOf, type TagRow } from '../edit/tag-row.ts'

/** Returns a tag of a list. @throws ApiError `not_found` */
export async function findTag(
  { db, taxonomyData }: { db: Db; taxonomyData: TaxonomyData },
  { list, id }: { list: TagListName; id: string },
): Promise<TagRow> {
  const rows: readonly TagRow[] = (await readEditedLists(db))[list]?.rows ?? tagListsOf(taxonomyData)[list]
  const row = rows.find((each) => idOf(each) === id)
  if (row === undefined) throw notFound('tag')
  return row
}
