// Response schemas of versions and files. Everyone who can see a version gets the same response.
import Type, { type Static, type TSchema } from 'typebox'
import { OriginView, originProperty } from '#features/basics/access/origin.ts'
import { VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { ProjectFields, ProjectView } from '#features/catalogue/projects/views.ts'
import { NamedObject, Nullable, Revision, Timestamp } from '#lib/schema/schema-parts.ts'
import { fieldsOf, gamesOf, projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { DEPENDENCY_TYPES, FILE_TYPES, VERSION_TYPES, WITHDRAWAL_KINDS } from './kinds.ts'
import type { VersionReadRow } from './queries.ts'

const FileView = NamedObject('File', {
  id: Type.String(),
  hashes: Type.Object({ sha1: Type.String(), sha512: Type.String() }),
  url: Type.String({ description: 'Download URL; its content never changes' }),
  filename: Type.String(),
  primary: Type.Boolean({ description: 'Whether this is the file to install' }),
  size: Type.Integer({ description: 'Size in bytes' }),
  file_type: Nullable(Type.Enum([...FILE_TYPES])),
})

const DependencyView = NamedObject('Dependency', {
  version_id: Nullable(Type.String()),
  project_id: Nullable(Type.String()),
  file_name: Nullable(Type.String()),
  dependency_type: Type.Enum([...DEPENDENCY_TYPES]),
  declared_id: Type.Optional(
    Type.String({
      description: 'ID by which the manifest of the file names the dependency, if the publisher stated it',
    }),
  ),
})

const ProvenanceView = Type.Object(
  {
    published: Type.String({ description: '`ci`: a trusted publisher published the version' }),
    issuer: Type.String({ description: 'URL of the build service' }),
    repository: Type.String(),
    repository_id: Nullable(Type.String()),
    commit: Type.String(),
    ref: Type.String({ description: 'Branch or tag, in full' }),
    workflow: Type.String({ description: 'Path of the workflow in the repository' }),
    run_url: Nullable(Type.String({ description: 'Page of the build; null for services of another kind' })),
    event: Type.String(),
    runner: Nullable(Type.String()),
  },
  { title: 'Provenance', description: 'Where the version was built; only for versions of trusted publishers' },
)
export type ProvenanceView = Static<typeof ProvenanceView>

export const WithdrawnView = Type.Object(
  {
    kind: Type.Enum([...WITHDRAWAL_KINDS]),
    reason: Type.String(),
    replacement: Type.Optional(Type.String({ description: 'ID of the version to install instead' })),
  },
  {
    title: 'Withdrawn',
    description:
      'Why the publisher or a moderator has withdrawn the version; absent otherwise. A withdrawn version stays in lists and can ' +
      'be downloaded. Update checks and everything else that chooses a version skip it',
  },
)
export type WithdrawnView = Static<typeof WithdrawnView>

export const VersionView = Type.Object(
  {
    id: Type.String(),
    revision: Revision('version'),
    project_id: Type.String(),
    author_id: Type.String(),
    featured: Type.Boolean(),
    name: Type.String(),
    version_number: Type.String(),
    project_types: Type.Array(Type.String(), { description: 'Project types, derived from its loaders' }),
    games: Type.Array(Type.String(), { description: 'Games, derived from its loaders' }),
    changelog: Type.Optional(
      Type.String({ description: 'Changelog, in Markdown; absent if `include_changelog` is false' }),
    ),
    date_published: Timestamp,
    downloads: Type.Integer(),
    version_type: Type.Enum([...VERSION_TYPES]),
    status: Type.Enum([...VERSION_STATUSES]),
    requested_status: Nullable(
      Type.String({ description: 'Status that the version takes at `scheduled_at`, or after the scan of its files' }),
    ),
    scheduled_at: Nullable(Timestamp),
    draft_expires: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When Depot deletes the draft; only in a draft that lacks a required field',
      }),
    ),
    files: Type.Array(FileView),
    dependencies: Type.Array(DependencyView),
    loaders: Type.Array(Type.String()),
    ordering: Nullable(Type.Integer({ description: 'Sort key for lists, ascending; null if not set' })),
    game_versions: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Game versions, oldest first; absent if no loader of the version has this field',
      }),
    ),
    environment: Type.Optional(
      Type.String({ description: 'Where the content runs; absent if no loader of the version has this field' }),
    ),
    provenance: Type.Optional(ProvenanceView),
    origin: Type.Optional(OriginView),
    withdrawn: Type.Optional(WithdrawnView),
  },
  { title: 'Version', additionalProperties: Type.Unknown({ description: 'Value of a loader field' }) },
)
export type VersionView = Static<typeof VersionView>

/** Projects and versions that a project depends on, newest first. */
export const dependenciesView = (project: TSchema, version: TSchema) =>
  NamedObject('ProjectDependencies', { projects: Type.Array(project), versions: Type.Array(version) })

/** Projects that depend on a project. */
export const DependentsView = NamedObject('ProjectDependents', {
  projects: Type.Array(
    Type.Object(
      {
        ...ProjectView.properties,
        types: Type.Array(Type.Enum([...DEPENDENCY_TYPES]), { description: 'How its versions depend on the project' }),
        dependent_versions: Type.Integer({ description: 'Number of its listed versions that depend on the project' }),
      },
      { title: 'Dependent', additionalProperties: ProjectFields },
    ),
  ),
  total: Type.Integer({ minimum: 0, description: 'Number of projects on all pages' }),
  next: Nullable(Type.String({ description: '`cursor` of the next page; null at the end' })),
})

/** Body of a redirect, for clients that do not follow the `Location` header. */
export const FileAddress = NamedObject('FileAddress', { url: Type.String() })

/** Returns the path of a file below the base URL of files, with all but unreserved characters percent-encoded. */
export function filePath(projectId: string, versionId: string, filename: string): string {
  return `/data/${projectId}/versions/${versionId}/${encodeUnreserved(filename)}`
}

function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Returns the view of a version without the changelog, which lists can omit. */
export function toVersionView(
  row: VersionReadRow,
  { taxonomy, filesBaseUrl }: { taxonomy: Taxonomy; filesBaseUrl: string },
): VersionView {
  const loaders = row.loaders.toSorted()
  const fields = row.fields as Record<string, unknown>
  return {
    ...Object.fromEntries(
      (loaders.length === 0 ? Object.keys(fields) : fieldsOf(taxonomy, loaders))
        .filter((name) => name in fields)
        .map((name) => [name, fields[name]]),
    ),
    id: row.id,
    revision: row.revision,
    project_id: row.project_id,
    author_id: row.author_id,
    featured: row.featured,
    name: row.name,
    version_number: row.version_number,
    project_types: projectTypesOf(taxonomy, loaders),
    games: gamesOf(taxonomy, loaders),
    date_published: row.date_published.toISOString(),
    downloads: row.downloads,
    version_type: row.version_type,
    status: row.status,
    requested_status: row.requested_status,
    scheduled_at: row.scheduled_at?.toISOString() ?? null,
    ...(row.draft_expires === null ? {} : { draft_expires: row.draft_expires.toISOString() }),
    files: row.files.map((file) => ({
      id: file.id,
      hashes: { sha1: file.sha1, sha512: file.sha512 },
      url: `${filesBaseUrl}${filePath(row.project_id, row.id, file.filename)}`,
      filename: file.filename,
      primary: file.is_primary,
      size: file.size_bytes,
      file_type: file.file_type,
    })),
    dependencies: row.dependencies.map(({ declared_id, ...dependency }) => ({
      ...dependency,
      ...(declared_id === null ? {} : { declared_id }),
    })) as VersionView['dependencies'],
    loaders,
    ordering: row.ordering,
    ...(row.provenance === null ? {} : { provenance: row.provenance as ProvenanceView }),
    ...originProperty(row),
    ...withdrawnOf(row),
  }
}

function withdrawnOf(row: VersionReadRow): Pick<VersionView, 'withdrawn'> {
  const { withdrawn_kind: kind, withdrawn_reason: reason, withdrawn_replacement: replacement } = row
  if (kind === null || reason === null) return {}
  return { withdrawn: { kind, reason, ...(replacement === null ? {} : { replacement }) } }
}
