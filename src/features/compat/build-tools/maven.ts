// Maps a project to a Maven repository: metadata, POM files, and the resolution of versions and file names.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { type XmlElement, xmlDocument } from '#lib/text/xml.ts'
import type { VersionCoordinates } from './queries.ts'

/** Group and artifact from the request path. `id` is a project ID or a slug. */
export type Artifact = { group: string; id: string }

const groupId = (group: string): XmlElement => ['groupId', `maven.${group}`]

/** Returns `maven-metadata.xml`. `versions` must be in list order, the latest first. */
export function mavenMetadata(
  { group, id }: Artifact,
  versions: readonly VersionCoordinates[],
  updated: string,
): string {
  const named = nameVersions(versions)
  const offered = named.filter(({ is_withdrawn }) => !is_withdrawn)
  const latest = offered[0]?.name
  const release = offered.find(({ version_type }) => version_type === 'release')?.name
  return xmlDocument([
    'metadata',
    [
      groupId(group),
      ['artifactId', id],
      [
        'versioning',
        [
          latest === undefined ? undefined : ['latest', latest],
          release === undefined ? undefined : ['release', release],
          // Maven repositories list the oldest version first.
          ['versions', named.toReversed().map(({ name }) => ['version', name] as const)],
          ['lastUpdated', updated.replace(/\D/g, '').slice(0, 14)],
        ],
      ],
    ],
  ])
}

/** Names each version by its number if no other version got the number before, otherwise by its ID. */
function nameVersions(versions: readonly VersionCoordinates[]): (VersionCoordinates & { name: string })[] {
  return versions.map((version) => {
    const { id, version_number, coordinates } = version
    return { ...version, name: coordinates.includes(version_number) ? version_number : id }
  })
}

/** Returns the POM of a version, with the requested coordinate as its version. */
export function mavenPom({ group, id }: Artifact, coordinate: string, project: ProjectView): string {
  const { license } = project
  const url = license.url
  return xmlDocument([
    'project',
    [
      ['modelVersion', '4.0.0'],
      groupId(group),
      ['artifactId', id],
      ['version', coordinate],
      ['name', project.name],
      ['description', project.summary],
      ['licenses', [['license', [['name', license.id], url === null ? undefined : ['url', url]]]]],
    ],
    {
      'xsi:schemaLocation': 'http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd',
      xmlns: 'http://maven.apache.org/POM/4.0.0',
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
    },
  ])
}

/**
 * Returns the version of a coordinate: an ID, otherwise the number that the version got before every other version, otherwise
 * `number-filter,filter`, where each filter is a loader or a game version of the version. Of several, the version that is
 * last in the list, so that a later version does not change what a coordinate means.
 */
export function findByCoordinate(
  versions: readonly VersionCoordinates[],
  coordinate: string,
): VersionCoordinates | undefined {
  return (
    versions.find(({ id }) => id === coordinate) ??
    versions.find(({ coordinates }) => coordinates.includes(coordinate)) ??
    versions.findLast((version) => isFiltered(version, coordinate))
  )
}

function isFiltered({ version_number, loaders, game_versions }: VersionCoordinates, coordinate: string): boolean {
  if (!coordinate.startsWith(`${version_number}-`)) return false
  const filters = coordinate.slice(version_number.length + 1).split(',')
  return filters.every((filter) => loaders.includes(filter) || game_versions.includes(filter))
}

type File = VersionView['files'][number]

/**
 * Returns the file for `{artifact}-{version}[-classifier].{ext}`, otherwise the file with this name (ignoring case).
 * `endings` maps `-classifier.ext` to file names; a file in it might be deleted. The name can end in the extension of a
 * signature.
 */
export function findMavenFile(
  files: readonly File[],
  endings: ReadonlyMap<string, string>,
  { name, stem }: { name: string; stem: string },
): File | undefined {
  const match = /^(?:(-[a-z-]{1,32}?)(?:-jar)?)?(\.[a-z0-9]{1,16})(\.(?:asc|sig|gpg))?$/.exec(
    name.toLowerCase().startsWith(stem.toLowerCase()) ? name.slice(stem.length).toLowerCase() : '',
  )
  const [, classifier = '', ext = '', signature = ''] = match ?? []
  const kept = endings.get(classifier + ext)
  if (kept !== undefined) return files.find(({ filename }) => filename === kept + signature)
  return files.find(({ filename }) => filename.toLowerCase() === name.toLowerCase())
}
