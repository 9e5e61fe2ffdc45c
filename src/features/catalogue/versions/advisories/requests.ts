// Requests of advisories.
import Type, { type Static } from 'typebox'
import { IsUri } from 'typebox/format'
import { invalidInput, validationError } from '#lib/errors.ts'
import { Id, IdOrName, NamedObject } from '#lib/schema/schema-parts.ts'
import { isBlank } from '#lib/text/text-rules.ts'

export const STATUSES = ['review', 'published', 'rejected', 'withdrawn'] as const
export type AdvisoryStatus = (typeof STATUSES)[number]

export const REFERENCE_TYPES = [
  'ADVISORY',
  'ARTICLE',
  'DETECTION',
  'DISCUSSION',
  'REPORT',
  'FIX',
  'INTRODUCED',
  'PACKAGE',
  'EVIDENCE',
  'WEB',
] as const

const VERSIONS_MAX = 100
const HASHES_MAX = 100
export const MATCHED_HASHES_MAX = 1000
const SHA512_LENGTH = 128
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{128})$/

// The schema of OSV accepts only complete vectors.
const CVSS_V3 = '^CVSS:3[.][01]/AV:[NALP]/AC:[LH]/PR:[NLH]/UI:[NR]/S:[UC]/C:[NLH]/I:[NLH]/A:[NLH]$'
const CVSS_V4 =
  '^CVSS:4[.]0/AV:[NALP]/AC:[LH]/AT:[NP]/PR:[NLH]/UI:[NPA]/VC:[HLN]/VI:[HLN]/VA:[HLN]/SC:[HLN]/SI:[HLN]/SA:[HLN]$'
export const SEVERITY_FORMS = { CVSS_V3: new RegExp(CVSS_V3), CVSS_V4: new RegExp(CVSS_V4) } as const

const ID_FORM = 'x_DEPOT-[0-9]{4}-[0-9]{4,9}'
const ID = new RegExp(`^${ID_FORM}$`)
const ALIAS_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'

export const AdvisoryParams = Type.Object({
  id: Type.String({
    maxLength: 64,
    describedAs: { pattern: `^${ID_FORM}$` },
    description: 'ID of the advisory',
    examples: ['x_DEPOT-2026-0001'],
  }),
})

export const Severity = NamedObject('AdvisorySeverity', {
  type: Type.Enum(['CVSS_V3', 'CVSS_V4']),
  score: Type.String({
    maxLength: 128,
    description: 'Vector with all base metrics and no others',
    examples: ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'],
  }),
})

export const Reference = NamedObject('AdvisoryReference', {
  type: Type.Enum([...REFERENCE_TYPES]),
  url: Type.String({ maxLength: 2048, description: 'An http or https address' }),
})

export const NewAdvisory = NamedObject('AdvisoryCreate', {
  project: Type.Optional(IdOrName('ID or slug of the project. Only moderators can leave it out')),
  versions: Type.Optional(
    Type.Array(Id(), { maxItems: VERSIONS_MAX, description: 'IDs of the affected versions of the project' }),
  ),
  hashes: Type.Optional(
    Type.Array(Type.String({ maxLength: SHA512_LENGTH }), {
      maxItems: HASHES_MAX,
      description: 'SHA-1 or SHA-512 of other affected files, which Depot need not have',
    }),
  ),
  summary: Type.String({ minLength: 1, maxLength: 200, description: 'One line of plain text' }),
  details: Type.String({ maxLength: 65_536, description: 'CommonMark' }),
  severity: Type.Optional(Type.Array(Severity, { maxItems: 2 })),
  references: Type.Optional(Type.Array(Reference, { maxItems: 50 })),
  aliases: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, pattern: ALIAS_PATTERN }), {
      maxItems: 20,
      description: 'IDs of the same problem elsewhere',
      examples: [['CVE-2026-12345']],
    }),
  ),
  withdraw: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether its publication withdraws the versions' }),
  ),
})
export type NewAdvisory = Static<typeof NewAdvisory>

export const AdvisoryPatch = NamedObject('AdvisoryUpdate', {
  status: Type.Enum(['published', 'rejected', 'withdrawn'], {
    description: 'From `review` to `published` or `rejected`, and from `published` to `withdrawn`',
  }),
})
export type AdvisoryPatch = Static<typeof AdvisoryPatch>

export const AdvisoriesQuery = Type.Object({
  project: Type.Optional(Type.String({ maxLength: 256, description: 'ID or slug of a project' })),
  since: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'An RFC 3339 time: advisories that changed then or later. Or `next` of the page before',
      examples: ['2026-11-24T00:00:00Z'],
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Maximum number' })),
  status: Type.Optional(
    Type.Enum(['public', 'review'], {
      default: 'public',
      description: '`review`: those that wait for a decision, for moderators',
    }),
  ),
})

export const MatchBody = NamedObject('AdvisoryMatchRequest', {
  hashes: Type.Array(Type.String({ maxLength: SHA512_LENGTH }), {
    maxItems: MATCHED_HASHES_MAX,
    description: 'SHA-1 or SHA-512, hexadecimal. Others match nothing',
  }),
})

export const isAdvisoryId = (text: string): boolean => ID.test(text)

/** Returns the hash in lower case. @throws ApiError `validation_error` naming its place */
export function readHash(text: string, index: number): string {
  const hash = text.toLowerCase()
  if (!HASH.test(hash)) throw validationError(`hashes.${index}`, 'must be a SHA-1 or SHA-512 in hexadecimal digits')
  return hash
}

/** @throws ApiError 400, naming the field */
export function checkAdvisory({ summary, severity = [], references = [], ...body }: NewAdvisory): void {
  if (isBlank(summary)) throw validationError('summary', 'must not be blank')
  if (/[\r\n]/.test(summary)) throw validationError('summary', 'must be one line')
  if ((body.versions ?? []).length + (body.hashes ?? []).length === 0)
    throw validationError('versions', 'must name a version if hashes is empty')
  if (body.project === undefined && (body.versions ?? []).length > 0)
    throw validationError('project', 'is required with versions')
  if (body.withdraw === true && (body.versions ?? []).length === 0) throw validationError('withdraw', 'needs versions')
  for (const [index, { type, score }] of severity.entries()) {
    const form = SEVERITY_FORMS[type as keyof typeof SEVERITY_FORMS]
    if (!form.test(score)) throw validationError(`severity.${index}.score`, `must be a ${type} vector of base metrics`)
  }
  for (const [index, { url }] of references.entries()) {
    if (!isWebAddress(url)) throw validationError(`references.${index}.url`, 'must be an http or https address')
  }
}

/** The schema of OSV accepts only valid URIs, of which `URL` accepts more. */
function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && IsUri(text) && URL.canParse(text)
}

export type Since = { at: Date } | { position: string; id: string }

const NEXT = new RegExp(`^(\\d{1,16})-(${ID_FORM})$`)
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** @throws ApiError `invalid_input` for a text that is neither a time nor a cursor */
export function readSince(text: string | undefined): Since | undefined {
  if (text === undefined) return undefined
  const [, position, id] = NEXT.exec(text) ?? []
  if (position !== undefined && id !== undefined) return { position, id }
  const at = new Date(TIME.test(text) ? text : Number.NaN)
  if (Number.isNaN(at.getTime())) throw invalidInput('since must be an RFC 3339 time or `next` of a page', 'since')
  return { at }
}
