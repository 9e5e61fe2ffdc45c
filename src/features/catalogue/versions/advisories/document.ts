// The OSV documents of advisories. https://ossf.github.io/osv-schema/ describes the format.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import type { AdvisoryRow } from './queries.ts'
import { type AdvisoryStatus, Reference, Severity, STATUSES } from './requests.ts'

export const AdvisoryView = Type.Object(
  {
    schema_version: Type.String({ description: 'Version of OSV' }),
    id: Type.String(),
    modified: Timestamp,
    published: Type.Optional(Timestamp),
    withdrawn: Type.Optional(Timestamp),
    aliases: Type.Optional(Type.Array(Type.String())),
    summary: Type.String(),
    details: Type.String({ description: 'CommonMark' }),
    severity: Type.Optional(Type.Array(Severity)),
    affected: Type.Optional(
      Type.Array(
        Type.Object({
          package: Type.Object({
            ecosystem: Type.String({ description: 'The Maven repository of this instance' }),
            name: Type.String({ description: '`maven.depot:` and the ID of the project' }),
          }),
          versions: Type.Array(Type.String({ description: 'As Maven metadata names it' })),
        }),
      ),
    ),
    references: Type.Optional(Type.Array(Reference)),
    database_specific: Type.Object({
      status: Type.Enum([...STATUSES]),
      project_id: Type.Optional(Type.String()),
      version_ids: Type.Array(Type.String()),
      withdraws: Type.Boolean({ description: 'Whether its publication withdraws the versions' }),
      file_sha1: Type.Array(Type.String()),
      file_sha512: Type.Array(Type.String()),
    }),
  },
  { title: 'Advisory', description: 'A document in the OSV format' },
)
export type AdvisoryView = Static<typeof AdvisoryView>

export const AdvisoriesView = NamedObject('Advisories', {
  advisories: Type.Array(AdvisoryView),
  next: Type.Union([Type.String(), Type.Null()], { description: 'Value of `since` for the next page' }),
})

const SCHEMA_VERSION = '1.7.5'
const SHA1_LENGTH = 40

/** @param baseUrl address of the instance */
export function toAdvisoryView(row: AdvisoryRow, baseUrl: string): AdvisoryView {
  const { project_id, versions, hashes, aliases, published, retracted } = row
  const severity = row.severity as AdvisoryView['severity'] & unknown[]
  const references = row.reference_list as AdvisoryView['references'] & unknown[]
  const names = { ecosystem: `Maven:${baseUrl}/maven`, name: `maven.depot:${project_id}` }
  return {
    schema_version: SCHEMA_VERSION,
    id: row.id,
    modified: row.modified.toISOString(),
    ...(published === null ? {} : { published: published.toISOString() }),
    ...(retracted === null ? {} : { withdrawn: retracted.toISOString() }),
    ...(aliases.length === 0 ? {} : { aliases }),
    summary: row.summary,
    details: row.details,
    ...(severity.length === 0 ? {} : { severity }),
    ...(versions.length === 0 ? {} : { affected: [{ package: names, versions: versions.map(({ name }) => name) }] }),
    ...(references.length === 0 ? {} : { references }),
    database_specific: {
      status: row.status as AdvisoryStatus,
      ...(project_id === null ? {} : { project_id }),
      version_ids: versions.map(({ id }) => id),
      withdraws: row.withdraws,
      file_sha1: hashes.filter(({ length }) => length === SHA1_LENGTH),
      file_sha512: hashes.filter(({ length }) => length !== SHA1_LENGTH),
    },
  }
}
