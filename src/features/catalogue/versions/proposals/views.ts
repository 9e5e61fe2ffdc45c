// Response schema of proposals.
import Type, { type TSchema } from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { DEPENDENCY_TYPES, VERSION_TYPES } from '../kinds.ts'
import type { FieldProposals, Proposal } from './propose.ts'
import type { DependencyProposal } from './propose-dependencies.ts'

const SourceView = NamedObject('ProposalSource', {
  kind: Type.Enum(['manifest', 'file_name', 'previous_version']),
  file: Type.Optional(Type.String({ description: 'Name of the file' })),
  entry: Type.Optional(Type.String({ description: 'Entry of the archive that declares the value' })),
  version_id: Type.Optional(Type.String()),
  version_number: Type.Optional(Type.String()),
})
const ConfidenceView = Type.Enum(['high', 'medium', 'low'], {
  description:
    '`high`: the source states the value. `medium`: the value is derived from it. `low`: the value is a guess',
})

const FieldView = (value: TSchema) =>
  Type.Object({
    value: Nullable(value),
    proposals: Type.Array(Type.Object({ value, source: SourceView, confidence: ConfidenceView })),
  })

const Texts = Type.Array(Type.String())
export const ProposalsView = Type.Object(
  {
    file: Nullable(Type.String({ description: 'Name of the primary file' })),
    unreadable_manifests: Type.Array(Type.String(), {
      description: 'Entries of the primary file that are manifests and cannot be parsed',
    }),
    version_number: FieldView(Type.String()),
    name: FieldView(Type.String()),
    version_type: FieldView(Type.Enum([...VERSION_TYPES])),
    loaders: FieldView(Texts),
    mrpack_loaders: FieldView(Texts),
    game_versions: FieldView(Texts),
    environment: FieldView(Type.String()),
    dependencies: Type.Array(
      Type.Object({
        declared_id: Nullable(Type.String({ description: 'ID in the manifest' })),
        dependency_type: Type.Enum([...DEPENDENCY_TYPES]),
        project_id: Nullable(Type.String()),
        file_name: Nullable(Type.String()),
        resolved: Type.Boolean({
          description: 'Whether the dependency is a project or a file that the publisher chose',
        }),
        source: SourceView,
        confidence: ConfidenceView,
      }),
    ),
  },
  {
    title: 'Proposals',
    description: '`value` of a field is null if there is no proposal, or if the proposals disagree.',
  },
)

export type Proposals = FieldProposals & {
  file: string | undefined
  unreadable: string[]
  dependencies: DependencyProposal[]
}

/** Returns the view of proposals, with the value to preselect in each field. */
export function toProposalsView({ file, unreadable, dependencies, ...fields }: Proposals) {
  const choose = <Value>(proposals: Proposal<Value>[]) => ({
    value: proposals.length === 1 ? (proposals[0]?.value ?? null) : null,
    proposals,
  })
  return {
    file: file ?? null,
    unreadable_manifests: unreadable,
    version_number: choose(fields.version_number),
    name: choose(fields.name),
    version_type: choose(fields.version_type),
    loaders: choose(fields.loaders),
    mrpack_loaders: choose(fields.mrpack_loaders),
    game_versions: choose(fields.game_versions),
    environment: choose(fields.environment),
    dependencies,
  }
}
