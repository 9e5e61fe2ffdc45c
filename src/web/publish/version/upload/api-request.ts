// The request to the API that does the same as the form, as a command for a shell.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { toDependency, type VersionValues } from '../form/version-values.ts'

/** Length up to which the command contains the changelog. */
const CHANGELOG_SHOWN_MAX = 2000

type Described = {
  baseUrl: string
  projectId: string
  values: VersionValues
  files: VersionView['files']
  /** When the version is published; undefined for now. */
  scheduledAt: string | undefined
}

/** Returns the command, and whether it contains the changelog. */
export function apiRequest({ baseUrl, projectId, values, files, scheduledAt }: Described): {
  text: string
  isWhole: boolean
} {
  const isWhole = values.changelog.length <= CHANGELOG_SHOWN_MAX
  const parts = files.map((file, index) => ({ ...file, part: `file-${index}` }))
  const primary = parts.find((file) => file.primary)
  const types = Object.fromEntries(
    parts.flatMap(({ part, file_type }) => (file_type === null ? [] : [[part, file_type]])),
  )
  const data = {
    project_id: projectId,
    version_number: values.version_number,
    version_title: values.name,
    ...(isWhole ? { version_body: values.changelog } : {}),
    release_channel: values.version_type,
    loaders: values.loaders,
    game_versions: values.game_versions,
    ...(values.mrpack_loaders.length > 0 ? { mrpack_loaders: values.mrpack_loaders } : {}),
    ...(values.environment === '' ? {} : { environment: values.environment }),
    dependencies: values.dependencies.map(toDependency),
    featured: values.featured,
    file_parts: parts.map(({ part }) => part),
    ...(primary !== undefined && parts.length > 1 ? { primary_file: primary.part } : {}),
    ...(Object.keys(types).length > 0 ? { file_types: types } : {}),
    ...(scheduledAt === undefined ? {} : { status: 'draft' }),
  }
  const create = [
    `curl ${quoted(`${baseUrl}/v3/version`)}`,
    '-H "Authorization: $DEPOT_TOKEN"',
    // `-F` would read a value that begins with @ or contains a semicolon as an instruction.
    `--form-string ${quoted(`data=${JSON.stringify(data, null, 2)}`)}`,
    ...parts.map(({ part, filename }) => `-F ${quoted(`${part}=@"${filename}"`)}`),
  ].join(' \\\n  ')
  if (scheduledAt === undefined) return { text: create, isWhole }
  const patch = { status: 'scheduled', requested_status: 'listed', scheduled_at: scheduledAt }
  const schedule = [
    `curl -X PATCH ${quoted(`${baseUrl}/v3/version/`)}"$ID"`,
    '-H "Authorization: $DEPOT_TOKEN"',
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(patch))}`,
  ].join(' \\\n  ')
  return { text: `${create}\n\n${schedule}`, isWhole }
}

/** Returns a text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
