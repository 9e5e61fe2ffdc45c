// A project as a Maven repository shows it: its metadata, its POM, and which of its files a file name stands for.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { type XmlElement, xmlDocument } from '#lib/text/xml.ts'
import type { VersionCoordinates } from './queries.ts'

/** The group and the artifact as the request's path names them; the artifact is an ID or a slug. */
export type Artifact = { group: string; id: string }

const groupId = (group: string): XmlElement => ['groupId', `maven.${group}`]

/** `maven-metadata.xml`. `versions` are in the order of the project's list: the latest first. */
export function mavenMetadata(
  { group, id }: Artifact,
  versions: readonly VersionCoordinates[],
  updated: string,
): string {
  const named = nameVersions(versions)
  const latest = named[0]?.name
  const release = named.find(({ version_type }) => version_type === 'release')?.name
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
          // Oldest first, as repositories list them.
          ['versions', named.toReversed().map(({ name }) => ['version', name] as const)],
          ['lastUpdated', updated.replace(/\D/g, '').slice(0, 14)],
        ],
      ],
    ],
  ])
}

/** A number that several versions share stands for the first of the list; the others go by their IDs. */
function nameVersions(versions: readonly VersionCoordinates[]): (VersionCoordinates & { name: string })[] {
  const taken = new Set<string>()
  return versions.map((version) => {
    const name = taken.has(version.version_number) ? version.id : version.version_number
    taken.add(name)
    return { ...version, name }
  })
}

/** The POM of one version, under the coordinate that was asked for. */
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
 * The version that a coordinate stands for: an ID, else a number, else `number-filter,filter`, where each filter is a
 * loader or a game version that the version has. Of several the first of the list.
 */
export function findByCoordinate(
  versions: readonly VersionCoordinates[],
  coordinate: string,
): VersionCoordinates | undefined {
  return (
    versions.find(({ id }) => id === coordinate) ??
    versions.find(({ version_number }) => version_number === coordinate) ??
    versions.find((version) => isFiltered(version, coordinate))
  )
}

function isFiltered({ version_number, loaders, game_versions }: VersionCoordinates, coordinate: string): boolean {
  if (!coordinate.startsWith(`${version_number}-`)) return false
  const filters = coordinate.slice(version_number.length + 1).split(',')
  return filters.every((filter) => loaders.includes(filter) || game_versions.includes(filter))
}

type File = VersionView['files'][number]

/**
 * The file that a name in the repository stands for: a file's own name, in any case, else
 * `{artifact}-{version}[-classifier].{ext}`. Without a classifier that is the version's main file with this extension,
 * with one the file whose type it is (`sources` for `sources-jar`). A signature's ending is put after that.
 */
export function findMavenFile(files: readonly File[], name: string, stem: string): File | undefined {
  const exact = findNamed(files, name)
  if (exact !== undefined || !name.toLowerCase().startsWith(stem.toLowerCase())) return exact
  const match = /^(?:-([a-z-]{1,32}))?(\.[a-z0-9]{1,16})(\.(?:asc|sig|gpg))?$/i.exec(name.slice(stem.length))
  if (match === null) return undefined
  const [, classifier, ext = '', signature] = match
  const types: (string | null)[] = classifier === undefined ? [null] : [classifier, `${classifier}-jar`]
  const file = files.find(
    (candidate) => types.includes(candidate.file_type) && candidate.filename.toLowerCase().endsWith(ext.toLowerCase()),
  )
  return file === undefined || signature === undefined ? file : findNamed(files, file.filename + signature)
}

function findNamed(files: readonly File[], name: string): File | undefined {
  return files.find(({ filename }) => filename.toLowerCase() === name.toLowerCase())
}
