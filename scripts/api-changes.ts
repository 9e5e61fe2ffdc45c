// Compares the API descriptions with those of the newest recorded release, and fails if a change can break a client although
// the major version is the same: node scripts/api-changes.ts [FOLDER]. FOLDER has the descriptions (default: docs/generated).
// Needs the program oasdiff in the path, or its file in OASDIFF.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { CONTENT_TYPES } from '#platform/images/image-kind.ts'
import { DESCRIPTIONS, listRecordings, pathOf } from '#test/upgrades/recording.ts'

const IMAGES = Object.values(CONTENT_TYPES)

/** New values of enums in responses are permitted: docs/operators/releases.md tells clients to expect them. */
const SEVERITIES = 'response-property-enum-value-added info\n'

/**
 * Rewrites the description of the last release in the notation of this one, where only the notation changed
 * (docs/decisions/api/0100-one-type-per-request-and-response.md). Delete it when the last release has this notation.
 */
function inThisNotation(document: string): string {
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (typeof value !== 'object' || value === null) return value
    const object = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewrite(inner)])) as Json
    return withoutOldBodies(withoutNullBranch(withFormat(object)))
  }
  return JSON.stringify(rewrite(JSON.parse(document)))
}

type Json = Record<string, unknown>

const isNull = (schema: Json): boolean => JSON.stringify(schema['enum']) === '[null]'

/** Integers that need more than 32 bits have the format `int64`. */
function withFormat(schema: Json): Json {
  const { type, minimum = 0, maximum = 2 ** 53, format } = schema
  const isLarge = Number(maximum) >= 2 ** 31 || Number(minimum) < -(2 ** 31)
  return type === 'integer' && format === undefined && isLarge ? { ...schema, format: 'int64' } : schema
}

function withoutNullBranch(schema: Json): Json {
  const { enum: _, ...withoutValues } = schema
  if (isNull(schema)) return { ...withoutValues, type: 'object', nullable: true }
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const isEmpty = (each: Json): boolean => JSON.stringify(each) === '{"type":"object","nullable":true}'
  const others = anyOf.filter((each: Json) => !isEmpty(each))
  if (others.length === anyOf.length) return schema
  const first = { ...others[0], nullable: true }
  return others.length === 1 ? { ...first, ...rest } : { ...rest, anyOf: [first, ...others.slice(1)] }
}

/** Replaces a reference that can be null by its component, because oasdiff ignores null next to `allOf`. */
function withoutReferences(document: string): string {
  const { components } = JSON.parse(document) as { components: { schemas: Record<string, Json> } }
  const inline = (_key: string, value: unknown): unknown => {
    const { nullable, allOf } = (value ?? {}) as { nullable?: boolean; allOf?: { $ref: string }[] }
    const component = components.schemas[allOf?.[0]?.$ref.split('/').at(-1) ?? '']
    return nullable === true && component !== undefined
      ? JSON.parse(JSON.stringify({ ...component, nullable }), inline)
      : value
  }
  return JSON.stringify(JSON.parse(document, inline))
}

/**
 * Changes that oasdiff reports although only the notation changed: discriminators, a choice that became one object, a
 * header that the server has always required, and a property that has always been null before the first backup. The last
 * release described another object as the response of `/v3/rate-limit`, and types of search fields that the server still
 * accepts.
 */
const ONLY_NOTATION =
  /: added .* response property `oneOf` list|`header` request parameter `tus-resumable`|response property `backup` became nullable|`(?:max_)?scopes` request property|request property `(?:max_)?scopes`|`time_range\/resolution` request property|^GET \/v3\/rate-limit: removed the required property|^POST \/v3\/search: .*`(?:facets|limit|offset)`/

/** The API still accepts JSON instead of a form without files, every type of an image, and dry runs. */
function withoutOldBodies(value: Json): Json {
  const { content, responses } = value as { content?: Json; responses?: Json }
  if (content !== undefined && 'multipart/form-data' in content) delete content['application/json']
  if (content !== undefined && 'image/*' in content && 'required' in value) {
    return { ...value, content: { 'application/octet-stream': content['image/*'] } }
  }
  if (content !== undefined && 'image/*' in content) {
    return { ...value, content: Object.fromEntries(IMAGES.map((type) => [type, content['image/*']])) }
  }
  const isDryRun = JSON.stringify(responses?.['200'] ?? {}).includes('schemas/DryRun"')
  if (responses !== undefined && isDryRun && Object.keys(responses).some((status) => /^20[1-9]$/.test(status)))
    delete responses['200']
  return value
}

type Change = { id: string; level: number; operation: string; path: string; text: string }

/** Level of changes that break clients. */
const BREAKING = 3

function listBreakingChanges(base: string, changed: string, severities: string): Change[] {
  const args = ['breaking', base, changed, '--format', 'json', '--severity-levels', severities]
  const { stdout, stderr, status, error } = spawnSync(process.env['OASDIFF'] ?? 'oasdiff', args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as Change[]).filter(
    ({ level, operation, path, text }) => level >= BREAKING && !ONLY_NOTATION.test(`${operation} ${path}: ${text}`),
  )
}

const versionOf = (description: string): string =>
  (JSON.parse(description) as { info: { version: string } }).info.version

const major = (version: string): string | undefined => version.split('.')[0]

function compare(folder: string, scratch: string): void {
  const release = listRecordings().at(-1)
  if (release === undefined) throw new Error('There is no recorded release')
  const severities = join(scratch, 'severities')
  writeFileSync(severities, SEVERITIES)
  for (const name of DESCRIPTIONS) {
    const base = inThisNotation(brotliDecompressSync(readFileSync(join(pathOf(release), `${name}.br`))).toString())
    writeFileSync(join(scratch, name), base)
    writeFileSync(join(scratch, 'changed'), withoutReferences(readFileSync(join(folder, name), 'utf8')))
    const changes = listBreakingChanges(join(scratch, name), join(scratch, 'changed'), severities)
    for (const { operation, path, text } of changes) console.log(`${operation} ${path}: ${text}`)
    const [from, to] = [versionOf(base), versionOf(readFileSync(join(folder, name), 'utf8'))]
    console.log(`${name}, ${from} to ${to}: ${changes.length} changes that can break clients`)
    if (changes.length > 0 && major(from) === major(to)) process.exitCode = 1
  }
  if (process.exitCode === 1) {
    console.log('Make the changes compatible, or increase the major version (docs/operators/releases.md)')
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'depot-api-changes-'))
try {
  compare(process.argv[2] ?? join(import.meta.dirname, '../docs/generated'), scratch)
} finally {
  rmSync(scratch, { recursive: true })
}
