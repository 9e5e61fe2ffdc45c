// The parameter `dry_run`, and the response to a dry run.

import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const DryRunQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'Whether to check the request, with its files, and to store nothing. The response is then 200 with a `DryRun`, or the error of the request. The header `Prefer: validate-only` has the same effect. Default: false',
    }),
  ),
})

const VersionOutcome = {
  file_types: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description: 'Type of each file by its name',
  }),
  dependencies: Type.Array(
    Type.Object({
      project_id: Type.Union([Type.String(), Type.Null()]),
      version_id: Type.Union([Type.String(), Type.Null()]),
      file_name: Type.Union([Type.String(), Type.Null()]),
      dependency_type: Type.String(),
    }),
  ),
}

export const DryRunView = NamedObject('DryRun', {
  valid: Type.Literal(true),
  warnings: Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
    description: 'Checks that were omitted, and problems that do not prevent the request',
  }),
  would: Type.Object(
    {
      status: Type.String({ description: 'Status that the project or version would have' }),
      ...Type.Partial(Type.Object(VersionOutcome)).properties,
      versions: Type.Optional(
        Type.Array(Type.Object({ version_number: Type.String(), ...VersionOutcome }), {
          description: 'The versions of a new project',
        }),
      ),
    },
    { description: 'The values after the request' },
  ),
})
export type Outcome = Static<typeof DryRunView>['would']
