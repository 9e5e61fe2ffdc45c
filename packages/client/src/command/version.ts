// The description of the version: what the user specified, completed by the proposals of the instance.
import type { Depot } from '../client.ts'
import { DepotError } from '../errors.ts'
import type { Schemas } from '../operations.ts'
import { type NewVersion, partOf } from '../publish.ts'
import type { Upload } from '../upload.ts'
import { AbsentError } from './outcome.ts'
import { type Dependency, type Settings, UsageError } from './settings.ts'

type Proposals = Schemas['Proposals']
type VersionDependency = NonNullable<NewVersion['dependencies']>[number]

export type Described = { version: NewVersion; warnings: string[] }

type DescribedFiles = {
  projectId: string
  files: readonly File[]
  uploads: ReadonlyMap<File, Upload>
  changelog: string | undefined
}

/** Describes the version. @throws UsageError naming every option that is missing. */
export async function describeVersion(
  depot: Depot,
  settings: Settings,
  { projectId, files, uploads, changelog }: DescribedFiles,
): Promise<Described> {
  const file = primaryOf(settings, files)
  const primary = file.name
  const upload = uploads.get(file)
  const file_parts = upload === undefined ? [] : [partOf(upload)]
  const proposals = await depot.post('/v3/version/proposals', { body: { project_id: projectId, file_parts } })
  const number = settings.version_number ?? proposals.version_number.value ?? undefined
  const loaders = settings.loaders ?? proposals.loaders.value ?? undefined
  const gameVersions = settings.game_versions ?? proposals.game_versions.value ?? undefined
  requireAll(primary, {
    '--version-number': number,
    '--loaders': loaders,
    // Some loaders have no game versions; the instance decides.
    ...(proposals.game_versions.proposals.length > 1 ? { '--game-versions': gameVersions } : {}),
  })
  const { dependencies, warnings } = await describeDependencies(depot, settings.dependencies, proposals)
  const version = {
    project_id: projectId,
    version_number: number,
    version_title: settings.name ?? proposals.name.value ?? number,
    version_body: changelog,
    release_channel: settings.channel ?? proposals.version_type.value ?? 'release',
    loaders,
    ...(gameVersions === undefined ? {} : { game_versions: gameVersions }),
    ...loaderFields(proposals),
    ...settings.fields,
    dependencies,
    featured: settings.featured ?? false,
    status: settings.status ?? 'listed',
    primary_file: primary,
    ...(settings.file_types === undefined ? {} : { file_types: settings.file_types }),
  }
  // Values of the user are checked by the instance.
  return { version: version as NewVersion, warnings }
}

/** @throws UsageError if no file has the name of the primary file. */
export function primaryOf({ primary }: Settings, files: readonly File[]): File {
  const file = primary === undefined ? files[0] : files.find(({ name }) => name === primary)
  if (file !== undefined) return file
  const names = files.map(({ name }) => name).join(', ')
  throw new UsageError(`--primary ${primary} is not the name of one of the files: ${names}`)
}

function requireAll(file: string, values: Record<string, unknown>): void {
  const missing = Object.keys(values).filter((option) => values[option] === undefined)
  if (missing.length > 0) throw new UsageError(`${file} does not state everything. Add ${missing.join(', ')}.`)
}

function loaderFields({ environment, mrpack_loaders }: Proposals): Record<string, unknown> {
  return {
    ...(environment.value === null ? {} : { environment: environment.value }),
    ...(mrpack_loaders.value === null ? {} : { mrpack_loaders: mrpack_loaders.value }),
  }
}

async function describeDependencies(
  depot: Depot,
  specified: readonly Dependency[] | undefined,
  proposals: Proposals,
): Promise<{ dependencies: VersionDependency[]; warnings: string[] }> {
  if (specified !== undefined) {
    return { dependencies: await Promise.all(specified.map((one) => findDependency(depot, one))), warnings: [] }
  }
  const dependencies = proposals.dependencies.filter(({ resolved }) => resolved)
  const warnings = proposals.dependencies
    .filter(({ resolved }) => !resolved)
    .map(
      ({ declared_id }) => `The manifest names ${declared_id}, which is not a project here. Add it with --dependency.`,
    )
  return {
    dependencies: dependencies.map(({ project_id, file_name, dependency_type, declared_id }) => ({
      project_id,
      file_name,
      dependency_type,
      declared_id,
    })),
    warnings,
  }
}

async function findDependency(depot: Depot, { project, version, type }: Dependency): Promise<VersionDependency> {
  const { id } = await depot.get('/v3/project/{id}', { params: { path: { id: project } } }).catch((error: unknown) => {
    if (!(error instanceof DepotError && error.status === 404)) throw error
    throw new AbsentError(`The instance has no project ${project}, which --dependency names`)
  })
  const dependency = { project_id: id, version_id: version ?? null, dependency_type: type ?? 'required' }
  return dependency as VersionDependency
}
