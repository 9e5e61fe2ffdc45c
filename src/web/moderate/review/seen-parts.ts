// The parts of a project that a moderator sees on the review page. The form of the decision contains a short hash of each,
// so that the page can name what has changed if the decision is out of date.
import { createHash } from 'node:crypto'
import { fieldName } from '#web/kit/forms/changes.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import type { Changes, Review } from './load-review.ts'

const HASH_LENGTH = 8

/** Names and hashes of parts by key. */
type Parts = ReadonlyMap<string, { name: string; hash: string }>

const textOf = ({ parts }: Changes['texts'][number]): string =>
  parts.flatMap(({ change, text }) => (change === 'removed' ? [] : text)).join('')

function partsOf(
  page: PageContext,
  { changes, thread, details }: Pick<Review, 'changes' | 'thread' | 'details'>,
): Parts {
  const { gallery, versions } = changes
  const now = <Item>({ added, changed }: { added: Item[]; changed: { after: Item }[] }): Item[] => [
    ...added,
    ...changed.map(({ after }) => after),
  ]
  const named = (field: string, value: unknown) => [field, fieldName(page, field), value] as const
  const parts = [
    ...changes.texts.map((text) => named(text.field, textOf(text))),
    ...changes.lists.map(({ field, same, added }) => named(field, [...same, ...added].sort())),
    named(
      'links',
      changes.links.filter(({ after }) => after !== null).map(({ platform, after }) => [platform, after]),
    ),
    named('icon', changes.icon.after),
    named('gallery', now(gallery)),
    ...now(versions).map((version) => {
      const name = page.language.t('moderate.outdated.version', { number: version.number })
      return [`version.${version.id}`, name, [version, details.get(version.id)]] as const
    }),
    ['message', page.language.t('moderate.thread'), thread.messages.at(-1)?.id] as const,
  ]
  const hashOf = (value: unknown) =>
    createHash('sha256')
      .update(JSON.stringify(value ?? null))
      .digest('base64url')
      .slice(0, HASH_LENGTH)
  return new Map(parts.map(([key, name, value]) => [key, { name, hash: hashOf(value) }]))
}

/** Returns the value of the hidden field. */
export function writeParts(page: PageContext, review: Review): string {
  return JSON.stringify([...partsOf(page, review)].map(([key, { name, hash }]) => [key, name, hash]))
}

/** Returns the names of the parts that differ from those of a hidden field; undefined if the field cannot be read. */
export function changedParts(page: PageContext, review: Review, text: string): string[] | undefined {
  const before = readParts(text)
  if (before === undefined) return undefined
  const now = partsOf(page, review)
  const changed = [...now].flatMap(([key, { name, hash }]) => (before.get(key)?.hash === hash ? [] : name))
  const removed = [...before].flatMap(([key, { name }]) => (now.has(key) ? [] : name))
  return [...changed, ...removed]
}

function readParts(text: string): Parts | undefined {
  try {
    const rows: unknown = JSON.parse(text)
    if (!Array.isArray(rows)) return undefined
    return new Map(rows.map(([key, name, hash]) => [String(key), { name: String(name), hash: String(hash) }]))
  } catch {
    return undefined
  }
}
