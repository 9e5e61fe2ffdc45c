// Response schemas of chosen versions.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'

const Named = (description: string) =>
  Type.Optional(
    Type.Object(
      { project_id: Type.String(), version_id: Nullable(Type.String()) },
      { description, title: 'NamedVersion' },
    ),
  )

const BecauseView = NamedObject('ResolveReason', {
  version_id: Type.Optional(Type.String({ description: 'Version whose dependency this is' })),
  item: Type.Optional(Type.Integer({ description: 'Without `version_id`: index of the item that asks for it' })),
  requires: Named('The requirement; `version_id` is a pin'),
  incompatible: Named('The project or version that it excludes'),
})

const ItemView = NamedObject('ResolvedItem', {
  index: Type.Integer({ minimum: 0, description: 'Position of the item in the request' }),
  state: Type.Enum(['chosen', 'kept', 'unknown', 'no_version', 'missing', 'conflict', 'limit'], {
    description:
      '`kept`: the chosen version is the one in `keep`. `unknown`: the item does not exist. `no_version`: no version passes the filter. ' +
      '`missing`: a required object is hidden or deleted. `conflict`: the item excludes an earlier choice. `limit`: it requires too much',
  }),
  project_id: Type.Optional(Type.String()),
  version_id: Type.Optional(Type.String({ description: 'The chosen version' })),
  because: Type.Optional(
    Type.Array(BecauseView, {
      description: 'Both sides of a conflict, or the requirements that lead to a missing project',
    }),
  ),
  nearest: Type.Optional(
    Nullable(
      Type.Object(
        { project_id: Type.String(), version_id: Type.String() },
        {
          title: 'NearestVersion',
          description: 'Newest version without the filter, of the project that has no version',
        },
      ),
    ),
  ),
})
export type ItemView = Static<typeof ItemView>

const ChosenFile = NamedObject('ChosenFile', {
  url: Type.String({ description: 'Download URL; its content never changes' }),
  filename: Type.String(),
  size: Type.Integer({ description: 'Size in bytes' }),
  hashes: Type.Object({ sha1: Type.String(), sha512: Type.String() }),
})

const Ids = (description: string) => Type.Array(Type.String(), { description })

export const ChosenView = NamedObject('ChosenVersion', {
  project_id: Type.String(),
  version_id: Type.String(),
  file: Nullable(ChosenFile),
  required_by: Ids('Chosen versions that require it'),
  instead_of: Nullable(Type.String({ description: 'Better version that could not be chosen' })),
  outside_filter: Type.Boolean({ description: 'Whether it does not match the filter: it was named, kept or pinned' }),
  environment: Ids('Environments of the version'),
})
export type ChosenView = Static<typeof ChosenView>

const optionalText = (description: string) => Nullable(Type.String({ description }))

export const AnswerView = NamedObject('Resolution', {
  complete: Type.Boolean({ description: 'Whether every item is chosen or kept' }),
  exact: Type.Boolean({ description: 'False if items were added in order, because no selection has all of them' }),
  incomplete: Type.Optional(
    Type.Boolean({ description: 'True without `loader_version`: a pack then does not name the loader' }),
  ),
  items: Type.Array(ItemView, { description: 'In the order of the request' }),
  chosen: Type.Array(ChosenView, { description: 'Every version once, by project ID' }),
  unmet_pins: Type.Array(
    Type.Object({
      version_id: Type.String({ description: 'The version that names the other version' }),
      project_id: Type.String(),
      pin: Type.String({ description: 'The named version' }),
      chosen: optionalText('The version that was chosen; null if a chosen version embeds the project'),
    }),
    { title: 'UnmetPins' },
  ),
  suggested: Type.Array(Type.Object({ project_id: Type.String(), suggested_by: Ids('Chosen versions') }), {
    description: 'Optional projects that are not chosen',
  }),
  external: Type.Array(Type.Object({ file_name: Type.String(), required_by: Ids('Chosen versions') }), {
    description: 'Required files that are not in the catalogue',
  }),
  provided: Type.Array(
    Type.Object({
      project_id: Type.String(),
      required_by: Ids('Chosen versions that require it'),
      by: Ids('Chosen versions that embed it'),
    }),
    { description: 'Required projects that are inside chosen files' },
  ),
  loaders: Ids('Requested loaders'),
  game_versions: Ids('Requested game versions'),
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  loader_version: Type.Optional(Type.String()),
  lock: Type.String({ description: 'ID under which the answer can be stored; equal answers have the same ID' }),
})
export type AnswerView = Static<typeof AnswerView>

const setup = {
  game_version: Type.String(),
  loader: Nullable(Type.String({ description: 'Null if no project needs a loader' })),
}
const SetupView = NamedObject('Setup', setup)
export type SetupView = Static<typeof SetupView>

export const CompatibilityView = NamedObject('Compatibility', {
  setups: Type.Array(SetupView, { description: 'Setups that fit all projects, the newest game version first' }),
  nearest: Type.Array(
    NamedObject('NearestSetup', {
      ...setup,
      missing: Type.Array(Type.String(), { description: 'IDs of the projects without a version for it' }),
    }),
    { description: 'If no setup fits all projects: up to 5 that fit the most' },
  ),
})
export type CompatibilityView = Static<typeof CompatibilityView>
