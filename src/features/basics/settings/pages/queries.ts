// SQL for the versions of the pages of the operator.
import { sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { PageKind } from './requests.ts'

const VERSIONS_MAX = 200

export type PageVersion = { kind: PageKind; version: number; published: Date; text: string; asks_again: boolean }

export type ListedVersion = Omit<PageVersion, 'text'> & {
  published_by: string | null
  is_empty: boolean
  agreed: number
}

/** The newest version of a page. */
export type NewestVersion = Omit<ListedVersion, 'published_by' | 'agreed'>

/** Number of accounts that agreed to a version. Only the Terms have some. */
const AGREED = sql<number>`(
  select count(*) from terms_consent where page_version.kind = 'terms' and version = page_version.number)::int`

const versionsOf = (db: Db, kind: PageKind) =>
  db
    .selectFrom('page_version')
    .select(['kind', 'number as version', 'published', 'text', 'asks_again'])
    .where('kind', '=', kind)
    .orderBy('number', 'desc')

/** Returns the newest version, whose text is empty if the page was removed. */
export async function findPage(db: Db, kind: PageKind): Promise<PageVersion | undefined> {
  return versionsOf(db, kind).limit(1).executeTakeFirst()
}

/** @throws ApiError 404 if the page has no text. */
export async function getPage(db: Db, kind: PageKind): Promise<PageVersion> {
  const page = await findPage(db, kind)
  if (page === undefined || page.text === '') throw notFound('page')
  return page
}

/** @throws ApiError 404 if the page has no such version. */
export async function getPageVersion(db: Db, kind: PageKind, version: number): Promise<PageVersion> {
  const page = await versionsOf(db, kind).where('number', '=', version).executeTakeFirst()
  if (page === undefined) throw notFound('page')
  return page
}

/** Returns the newest versions without their texts, newest first. */
export async function listPageVersions(db: Db, kind: PageKind): Promise<ListedVersion[]> {
  return db
    .selectFrom('page_version')
    .leftJoin('account', 'account.id', 'published_by')
    .select(['kind', 'number as version', 'published', 'asks_again', 'account.username as published_by'])
    .select(sql<boolean>`text = ''`.as('is_empty'))
    .select(AGREED.as('agreed'))
    .where('kind', '=', kind)
    .orderBy('number', 'desc')
    .limit(VERSIONS_MAX)
    .execute()
}

/** Returns the newest version of each page without its text. */
export async function listNewestVersions(db: Db): Promise<NewestVersion[]> {
  return db
    .selectFrom('page_version')
    .distinctOn('kind')
    .select(['kind', 'number as version', 'published', 'asks_again', sql<boolean>`text = ''`.as('is_empty')])
    .orderBy('kind')
    .orderBy('number', 'desc')
    .execute()
}

/**
 * Adds a version and returns its number, or undefined if the newest version has the same text and asks users if this one
 * does. The transaction must have written the row of the settings, which orders concurrent versions.
 */
export async function insertPageVersion(
  tx: Tx,
  {
    kind,
    text,
    asksAgain,
    actor,
    now,
  }: { kind: PageKind; text: string; asksAgain: boolean; actor: Actor; now: number },
): Promise<number | undefined> {
  const newest = await findPage(tx, kind)
  if ((newest?.text ?? '') === text && (!asksAgain || newest?.asks_again === true)) return undefined
  const number = (newest?.version ?? 0) + 1
  const published_by = actor.kind === 'account' ? actor.id : null
  await tx
    .insertInto('page_version')
    .values({ kind, number, text, asks_again: asksAgain, published: new Date(now), published_by })
    .execute()
  return number
}
