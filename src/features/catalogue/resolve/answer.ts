// The answer to a request: its canonical form, its ID and its JSON. Equal answers have equal bytes.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compare } from '#lib/compare.ts'
import { BASE62 } from '#lib/ids.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { Config } from '#platform/config/config.ts'
import { filePath } from '../versions/views.ts'
import type { ChosenFileRow } from './queries.ts'
import { LOCK_LENGTH, type ResolveBody } from './requests.ts'
import type { Choice, Solution } from './solve/world.ts'
import type { AnswerView, ChosenView, ItemView } from './views.ts'

/** Name and target of a pack. */
export type PackTarget = Pick<ResolveBody, 'name' | 'version' | 'loader_version'> & {
  loaders: readonly string[]
  game_versions: readonly string[]
}

export type AnswerParts = Pick<Solution, 'exact' | 'unmetPins' | 'suggested' | 'external' | 'provided'> & {
  items: readonly ItemView[]
  chosen: readonly Choice[]
  files: ReadonlyMap<string, ChosenFileRow>
  pack: PackTarget
}

export type Answer = {
  /** ID of the lock. */
  lock: string
  /** JSON in which the URLs of files begin with `/data/`, so that it stays true if the address of the service changes. */
  content: string
  target: PackTarget
  /** The chosen files: version IDs and SHA-1 hashes. */
  files: { versionId: string; sha1: string }[]
  complete: boolean
}

/** Chosen versions between two turns of other work. */
const PIECE = 500

const URL_KEY = '"url":"'

/** Returns the JSON for clients. No text in the JSON can contain the key, because quotes in texts are escaped. */
export function toJson({ content }: Pick<Answer, 'content'>, { files }: Pick<Config, 'files'>): Buffer {
  const base = JSON.stringify(files.baseUrl).slice(1, -1)
  return Buffer.from(content.replaceAll(`${URL_KEY}/data/`, `${URL_KEY}${base}/data/`))
}

export async function toAnswer(parts: AnswerParts): Promise<Answer> {
  const { items, files, pack, exact } = parts
  const chosen = await convertInPieces(parts.chosen, (choice) => toChosenJson(choice, files.get(choice.candidate.id)))
  const complete = items.every(({ state }) => state === 'chosen' || state === 'kept')
  const rest: Omit<AnswerView, 'chosen' | 'lock'> = {
    complete,
    exact,
    ...(pack.loader_version == null ? { incomplete: true } : { loader_version: pack.loader_version }),
    items: [...items],
    unmet_pins: parts.unmetPins.map(({ versionId, projectId, pin, chosen: other }) => ({
      version_id: versionId,
      project_id: projectId,
      pin,
      chosen: other,
    })),
    suggested: parts.suggested.map(({ projectId, suggestedBy }) => ({
      project_id: projectId,
      suggested_by: suggestedBy,
    })),
    external: parts.external.map(({ fileName, requiredBy }) => ({ file_name: fileName, required_by: requiredBy })),
    provided: parts.provided.map(({ projectId, requiredBy, by }) => ({
      project_id: projectId,
      required_by: requiredBy,
      by,
    })),
    loaders: [...pack.loaders],
    game_versions: [...pack.game_versions],
    ...(pack.name == null ? {} : { name: pack.name }),
    ...(pack.version == null ? {} : { version: pack.version }),
  }
  await nextTurn()
  const others = JSON.stringify(sortKeys(rest)).slice(1)
  await nextTurn()
  const hash = createHash('sha256')
  hash.update('{"chosen":[')
  for (let from = 0; from < chosen.length; from += PIECE) {
    const piece = chosen.slice(from, from + PIECE).map(({ canonical }) => canonical)
    hash.update(`${from === 0 ? '' : ','}${piece.join()}`)
    await nextTurn()
  }
  hash.update(`],${others}`)
  const lock = toBase62(hash.digest().subarray(0, 16))
  await nextTurn()
  return {
    lock,
    content: `{"chosen":[${chosen.map(({ json }) => json).join()}],"lock":"${lock}",${others}`,
    target: { ...pack },
    files: chosen.flatMap(({ file }) => file ?? []),
    complete,
  }
}

/** Returns the view without and with the URL of the file. Its parts are serialised once: there are thousands of views. */
function toChosenJson({ candidate, insteadOf, requiredBy }: Choice, row: ChosenFileRow | undefined) {
  const { id, projectId, outsideFilter } = candidate
  const { environment, filename = null, sha1 = '' } = row ?? {}
  const rest: Omit<ChosenView, 'environment' | 'file'> = {
    instead_of: insteadOf,
    outside_filter: outsideFilter,
    project_id: projectId,
    required_by: requiredBy,
    version_id: id,
  }
  // The keys are sorted, as canonical JSON requires.
  const start = `{"environment":${typeof environment === 'string' ? JSON.stringify([environment]) : '[]'},"file":`
  const end = `,${JSON.stringify(rest).slice(1)}`
  if (row === undefined || filename === null) {
    const json = `${start}null${end}`
    return { canonical: json, json, file: undefined }
  }
  const file: Omit<NonNullable<ChosenView['file']>, 'url'> = {
    filename,
    hashes: { sha1, sha512: row.sha512 },
    size: row.size_bytes,
  }
  const fileJson = JSON.stringify(file).slice(0, -1)
  return {
    canonical: `${start}${fileJson}}${end}`,
    json: `${start}${fileJson},"url":${JSON.stringify(filePath(projectId, id, filename))}}${end}`,
    file: { versionId: id, sha1 },
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, sortKeys(item)])
  return Object.fromEntries(entries.sort(([a], [b]) => compare(a, b)))
}

function toBase62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < LOCK_LENGTH; i += 1) {
    text = (BASE62[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}
