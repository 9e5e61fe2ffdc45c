// Computes what the engine stores of a document. The caller does this before it sends the document to the search thread,
// so that two threads share the work of a build.
import { hash } from 'node:crypto'
import { type DatedVersion, datedInListOrder, lastPublished, projectValues, type SearchDocument } from '../document.ts'
import type { NamedDocument } from '../fold.ts'
import { HIT_VALUES, hitValues } from '../hit.ts'
import type { SearchChange } from '../search-index.ts'

/** Fields of versions, in the order of the values of a version in `Content`. */
export const VERSION_FIELDS = [
  'categories',
  'loaders',
  'project_types',
  'game_versions',
  'environment',
  'client_side',
  'server_side',
] as const

/** A flat object of strings and numbers, because sending it to another thread takes the least time. */
export type PreparedUpsert = {
  readonly kind: 'upsert'
  readonly sequence: number
  readonly id: string
  readonly downloads: number
  readonly follows: number
  /** 48-bit hash of everything except the counts, which change independently. */
  readonly fingerprint: number
  /** The JSON values of the hit. */
  readonly record: string
  /** `Content` as JSON. The engine parses it only if the fingerprint has changed. */
  readonly content: string
}
export type PreparedChange = PreparedUpsert | Extract<SearchChange, { kind: 'delete' }>

/** The versions are in the order of the project's list. */
export type Content = {
  /** In milliseconds; null for an invalid date. */
  readonly dates: {
    readonly created: number
    readonly modified: number
    readonly fresh: number
    readonly published: readonly number[]
  }
  readonly versionIds: readonly (string | null)[]
  readonly text: NamedDocument
  /** Values of the project by field. */
  readonly values: Readonly<Record<string, readonly string[]>>
  /** Values of each version by `VERSION_FIELDS`. A project without versions has one with the categories of the project. */
  readonly versions: readonly (readonly (readonly string[])[])[]
  readonly components: SearchDocument['components']
}

const COUNTS = ['downloads', 'follows'].map((name) => HIT_VALUES.indexOf(name))

export function prepareChange(change: SearchChange): PreparedChange {
  if (change.kind === 'delete') return change
  const { document, sequence } = change
  const { id, downloads, follows } = document
  const dated = datedInListOrder(document.versions)
  const versions = dated.map(({ version }) => version)
  const content = JSON.stringify(contentOf(document, dated))
  const values = hitValues(document, versions)
  const record = [...values, ''].join('\0')
  for (const index of COUNTS) values[index] = ''
  const fingerprint = hash('sha1', values.join('\0') + content, 'buffer').readUIntBE(0, 6)
  return { kind: 'upsert', sequence, id, downloads, follows, fingerprint, record, content }
}

function contentOf(document: SearchDocument, dated: readonly DatedVersion[]): Content {
  const { name, other_names, slug, author, summary, categories, components } = document
  const created = Date.parse(document.date_created)
  return {
    dates: {
      created,
      modified: Date.parse(document.date_modified),
      fresh: lastPublished(dated) ?? created,
      published: dated.map(({ at }) => at),
    },
    versionIds: dated.map(({ version }) => version.id),
    text: { name, other_names, slug, author, summary },
    values: projectValues(document),
    versions:
      dated.length === 0
        ? [[categories]]
        : dated.map(({ version: { categories: own, loaders, project_types, fields } }) => [
            [...categories, ...own],
            loaders,
            project_types,
            ...VERSION_FIELDS.slice(3).map((field) => fields[field] ?? []),
          ]),
    components,
  }
}
