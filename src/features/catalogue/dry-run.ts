// `?dry_run=true` of the routes that create and change projects and versions, and all errors of a refused edit.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static, type TSchema } from 'typebox'
import { APPLIED, isDryRun, prefersDryRun } from '#lib/dry-run-request.ts'
import { ApiError } from '#lib/errors.ts'
import { keepKnownKeys } from '#lib/schema/known-keys.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { validParts } from '#lib/schema/schema-errors.ts'
import type { Changes } from '#platform/cache/changes.ts'
import { dryRun } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export const DryRunQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'Whether to check the request, with its files, and to store nothing. The response is then a success, or the error of the request. The header `Prefer: validate-only` has the same effect. Default: false',
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

export const DryRunView = Type.Object(
  {
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
  },
  { title: 'DryRun' },
)
type Outcome = Static<typeof DryRunView>['would']

type Look = (tx: Tx, changed: Changes) => Promise<Outcome>

/** Runs `command` without its effects, and sends what it would store. */
export async function sendDryRun(
  reply: FastifyReply,
  deps: Deps,
  command: (deps: Deps) => Promise<unknown>,
  look: Look,
): Promise<FastifyReply> {
  const { found, warnings } = await dryRun(deps, command, look)
  if (prefersDryRun(reply.request)) reply.headers(APPLIED)
  return reply.status(200).send({ valid: true, warnings, would: found })
}

/** Runs `command`, without its effects if the request asks for a dry run. Responds without a body: the request is valid. */
export async function sendDone(
  reply: FastifyReply,
  deps: Deps,
  command: (deps: Deps) => Promise<unknown>,
): Promise<FastifyReply> {
  if (!isDryRun(reply.request)) await command(deps)
  else {
    await dryRun(deps, command, async () => {})
    if (prefersDryRun(reply.request)) reply.headers(APPLIED)
  }
  return reply.status(204).send(null)
}

/** Reads the version that a command has created or changed. */
export const lookAtVersion: Look = async (tx, changed) => {
  const ids = changed.get('version')
  const [id = ''] = ids === undefined || ids === 'all' ? [] : ids
  const [version] = await listVersions(tx, 'id', id)
  if (version === undefined) throw new Error('The transaction has no version')
  const { version_number, ...outcome } = version
  return outcome
}

/** Reads the project with this slug, which a command has created. */
export const lookAtNewProject =
  (slug: () => string | undefined): Look =>
  async (tx) => {
    const project = await tx
      .selectFrom('project')
      .select(['id', 'status'])
      .where('slug', '=', slug() ?? '')
      .executeTakeFirstOrThrow()
    const versions = await listVersions(tx, 'project_id', project.id)
    return { status: project.status, versions: versions.map(({ status, ...version }) => version) }
  }

/** Reads the status of a project. */
export const lookAtProject =
  (id: () => string): Look =>
  (tx) =>
    tx.selectFrom('project').select('status').where('id', '=', id()).executeTakeFirstOrThrow()

type VersionRow = Required<Pick<Outcome, 'status' | 'file_types' | 'dependencies'>> & { version_number: string }

async function listVersions(tx: Tx, key: 'id' | 'project_id', id: string): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select version.status, version.version_number,
      (select coalesce(jsonb_object_agg(filename, file_type), '{}') from file where version_id = version.id) as file_types,
      (select coalesce(jsonb_agg(jsonb_build_object('project_id', project_id, 'version_id', version_id,
          'file_name', file_name, 'dependency_type', dependency_type) order by id), '[]')
        from dependency where dependent_id = version.id) as dependencies
    from version where version.${sql.ref(key)} = ${id} order by date_published, version.id`.execute(tx)
  return rows
}

/**
 * Returns the body of an edit. If the body does not match its schema, runs `command` without effects with the properties
 * that do, so that the response also lists the errors of other rules.
 * @throws ApiError the error of the schema, with all errors.
 */
export async function checkedBody<Body>(
  req: Pick<FastifyRequest, 'validationError' | 'body'>,
  schema: TSchema,
  command: (dryDeps: Deps, body: Body) => Promise<unknown>,
  deps: Deps,
): Promise<Body> {
  const error = req.validationError as unknown
  if (error === undefined || error === null) return req.body as Body
  const refusals = new Refusals()
  if (!(error instanceof ApiError) || error.kind !== 'validation_error' || !isObject(req.body)) throw error
  await refusals.wait(() => Promise.reject(error))
  const valid = keepKnownKeys(schema, validParts(schema, req.body)) as Body
  await refusals.wait(() =>
    dryRun(
      deps,
      (dryDeps) => command(dryDeps, valid),
      async () => {},
    ),
  )
  refusals.throwAny()
  throw error
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
