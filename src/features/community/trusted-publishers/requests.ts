// Requests of trusted publishers.
import Type, { type Static } from 'typebox'
import { OrganizationParams, OwnerProofFields, ProjectParams } from '#features/basics/access/requests.ts'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import type { CiIssuer, CiKind } from '#platform/config/ci-issuers.ts'

const NAME_MAX = 256
const CALLED_MAX = 10

export const NewPublisher = NamedObject('TrustedPublisherCreate', {
  issuer: Type.String({
    maxLength: NAME_MAX,
    description: 'URL of the build service; one of `issuers` in the list of trusted publishers',
  }),
  repository: Type.String({ maxLength: NAME_MAX, description: 'Owner and name, such as `lanterns/lamp`' }),
  repository_id: Maybe(
    Type.String({
      maxLength: 64,
      description: 'ID of the repository at the service. Default: the first build sets it',
    }),
  ),
  owner_id: Maybe(
    Type.String({ maxLength: 64, description: "ID of the repository's owner. Default: the first build sets it" }),
  ),
  workflow: Type.String({
    minLength: 1,
    maxLength: NAME_MAX,
    description: 'File of the workflow, such as `release.yml`, or its path in the repository',
  }),
  environment: Maybe(
    Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Environment of the job. Default: any or none' }),
  ),
  ref_pattern: Maybe(
    Type.String({
      minLength: 1,
      maxLength: NAME_MAX,
      description:
        'Full name of the branch or tag, in which `*` stands for any characters: `refs/tags/*`. Default: any',
    }),
  ),
  protected_ref_only: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the branch or tag must be protected' }),
  ),
  called_workflows: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: NAME_MAX }), {
      maxItems: CALLED_MAX,
      description: 'Reusable workflows in which the job can run, such as `lanterns/ci/.github/workflows/publish.yml`',
    }),
  ),
  ...OwnerProofFields,
})

const publisher_id = Type.String({ maxLength: 64, description: 'ID of the trusted publisher' })
export const PublisherParams = {
  project: Type.Object({ ...ProjectParams.properties, publisher_id }),
  organization: Type.Object({ ...OrganizationParams.properties, publisher_id }),
}

export type NewPublisher = Static<typeof NewPublisher>

/** The folder of workflows is part of a path in these repositories, so a bare name is enough. */
const REPOSITORY: Readonly<Record<CiKind, RegExp>> = {
  github: /^[\w.-]+\/[\w.-]+$/,
  forgejo: /^[\w.-]+\/[\w.-]+$/,
  generic: /^[\w.-]+\/[\w.-]+$/,
  gitlab: /^[\w.-]+(\/[\w.-]+)+$/,
}

export type PublisherColumns = {
  issuer: string
  repository: string
  repository_id: string | null
  owner_id: string | null
  workflow: string
  environment: string | null
  ref_pattern: string | null
  protected_ref_only: boolean
  called_workflows: string[]
}

/** @throws ApiError `validation_error` naming the field. */
export function toPublisherColumns(body: NewPublisher, issuers: readonly CiIssuer[]): PublisherColumns {
  const issuer = issuers.find((each) => each.issuer === body.issuer)
  if (issuer === undefined) {
    const known = issuers.map((each) => each.issuer).join(', ')
    throw validationError(
      'issuer',
      known === '' ? 'cannot be set, because the operator lists no issuer' : `must be one of ${known}`,
    )
  }
  if (!REPOSITORY[issuer.kind].test(body.repository))
    throw validationError('repository', 'must be an owner and a name, such as lanterns/lamp')
  for (const field of ['workflow', 'environment', 'ref_pattern'] as const) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach pages and messages
    if (/[\u0000-\u001f\u007f]|^\s|\s$/.test(body[field] ?? ''))
      throw validationError(field, 'must not have control characters, or spaces at its ends')
  }
  if (!/\.ya?ml$/.test(body.workflow)) throw validationError('workflow', 'must end in .yml or .yaml')
  const pattern = body.ref_pattern ?? null
  if (pattern !== null && !/^(refs\/|\*)/.test(pattern))
    throw validationError('ref_pattern', 'must begin with refs/, such as refs/tags/*')
  return {
    issuer: issuer.issuer,
    repository: body.repository,
    repository_id: body.repository_id ?? null,
    owner_id: body.owner_id ?? null,
    workflow: body.workflow,
    environment: body.environment ?? null,
    ref_pattern: pattern,
    protected_ref_only: body.protected_ref_only ?? false,
    called_workflows: body.called_workflows ?? [],
  }
}
