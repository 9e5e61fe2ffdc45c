// Names of the fields of a version at the beginning of error messages.
const LABELS = {
  files: 'The file',
  version_number: 'The version number',
  name: 'The title',
  version_type: 'The channel',
  loaders: 'The list of loaders',
  game_versions: 'The list of game versions',
  environment: 'The environment',
  mrpack_loaders: 'The list of loaders of the pack',
  dependencies: 'The dependency',
  dep_find: 'The dependency',
  status: 'The status',
  changelog: 'The changelog',
  day: 'The date',
  time: 'The time',
  zone: 'The time zone',
  scheduled_at: 'The date',
}

/** `rows`: the dependencies of the form, each of which can have a field to search for its project. */
export const labelsOf = (rows: readonly unknown[]): Readonly<Record<string, string>> => ({
  ...LABELS,
  ...Object.fromEntries(rows.map((_row, index) => [`dep_query.${index}`, 'The project'])),
})
