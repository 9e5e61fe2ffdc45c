// Reads the claims of each kind of build service into one form. `sub` is never used: its format depends on the service,
// its version and the settings of the repository.
import type { CiIssuer, CiKind } from '#platform/config/ci-issuers.ts'
import { RefusedToken } from './refusal.ts'

const TEXT_MAX = 512

export type BuildClaims = {
  repository: string
  repositoryId: string | undefined
  ownerId: string | undefined
  /** Path of the workflow inside the repository. */
  workflow: string
  /** `OWNER/REPOSITORY/PATH` of the called (reusable) workflow, if the job runs in one. */
  calledWorkflow: string | undefined
  environment: string | undefined
  /** In full: `refs/tags/v1`. */
  ref: string
  isProtected: boolean
  event: string
  commit: string
  run: string
  runUrl: string | undefined
  runner: string | undefined
}

type Payload = Readonly<Record<string, unknown>>

/**
 * Events whose code only members of the repository write. Other events are refused, also those that a service adds later.
 * `workflow_run`, `parent_pipeline` and `pipeline` are missing: their tokens do not state whether a proposal started the build.
 */
const GITHUB_EVENTS = ['push', 'workflow_dispatch', 'schedule', 'release']
const EVENTS: Readonly<Record<CiKind, readonly string[]>> = {
  github: GITHUB_EVENTS,
  forgejo: GITHUB_EVENTS,
  generic: GITHUB_EVENTS,
  gitlab: ['push', 'web', 'schedule', 'api', 'trigger'],
}

/** Returns why others can have proposed the code of a build; undefined if only members of the repository can have written it. */
export function proposalOf({ kind }: CiIssuer, { event, ref }: BuildClaims): string | undefined {
  if (!EVENTS[kind].includes(event))
    return `Builds of the event \`${event}\` cannot publish, because others can propose their code. Use one of ${EVENTS[kind].join(', ')}`
  if (!/^refs\/(?:heads|tags)\/./.test(ref))
    return `Builds of the ref \`${ref}\` cannot publish, because it is not a branch or a tag of the repository`
  return undefined
}

/** @throws RefusedToken `no_publisher` naming a claim that the publisher needs and the token lacks. */
export function readClaims(issuer: CiIssuer, payload: Payload): BuildClaims {
  return issuer.kind === 'gitlab' ? gitlabClaims(issuer, payload) : githubClaims(issuer, payload)
}

function githubClaims({ issuer, kind }: CiIssuer, payload: Payload): BuildClaims {
  const repository = required(payload, 'repository')
  const ref = required(payload, 'ref')
  const caller = withoutRef(required(payload, 'workflow_ref'), ref)
  const called = optional(payload, 'job_workflow_ref')
  if (!caller.toLowerCase().startsWith(`${repository.toLowerCase()}/`))
    throw new RefusedToken('no_publisher', `The workflow ${caller} is not in the repository ${repository}`)
  const calledWorkflow = called === undefined ? undefined : calledPath(called)
  const run = optional(payload, 'run_id') ?? ''
  const host = kind === 'github' ? siteOf(issuer, optional(payload, 'server_url')) : undefined
  const site = kind === 'forgejo' ? issuer.replace(/\/api\/actions$/, '') : host
  return {
    repository,
    repositoryId: optional(payload, 'repository_id'),
    ownerId: optional(payload, 'repository_owner_id'),
    workflow: caller.slice(repository.length + 1),
    calledWorkflow: calledWorkflow?.toLowerCase() === caller.toLowerCase() ? undefined : calledWorkflow,
    environment: optional(payload, 'environment'),
    ref,
    isProtected: String(payload['ref_protected']) === 'true',
    event: required(payload, 'event_name'),
    commit: required(payload, 'sha'),
    run,
    runUrl: site === undefined || run === '' ? undefined : `${site}/${repository}/actions/runs/${run}`,
    runner: optional(payload, 'runner_environment'),
  }
}

function gitlabClaims({ issuer }: CiIssuer, payload: Payload): BuildClaims {
  const repository = required(payload, 'project_path')
  const ref = gitlabRef(payload)
  const config = withoutRef(required(payload, 'ci_config_ref_uri'), ref)
  const [place = '', path] = config.split('//')
  const isOwn = place.toLowerCase().endsWith(`/${repository.toLowerCase()}`)
  if (path === undefined || !isOwn)
    throw new RefusedToken('no_publisher', `The configuration ${config} is not in the repository ${repository}`)
  const run = optional(payload, 'pipeline_id') ?? ''
  return {
    repository,
    repositoryId: optional(payload, 'project_id'),
    ownerId: optional(payload, 'namespace_id'),
    workflow: path,
    calledWorkflow: undefined,
    environment: optional(payload, 'environment'),
    ref,
    isProtected: String(payload['ref_protected']) === 'true',
    event: required(payload, 'pipeline_source'),
    commit: required(payload, 'sha'),
    run,
    runUrl: run === '' ? undefined : `${issuer}/${repository}/-/pipelines/${run}`,
    runner: optional(payload, 'runner_environment'),
  }
}

/** The web site of the service. A server in a company has its API below `/_services/token`. */
function siteOf(issuer: string, server: string | undefined): string {
  if (issuer === 'https://token.actions.githubusercontent.com') return 'https://github.com'
  return server?.startsWith('https://') === true ? server : issuer.replace(/\/_services\/token$/, '')
}

/** The full ref. Versions of GitLab before 16.0 do not send `ref_path`. */
function gitlabRef(payload: Payload): string {
  const folder = { branch: 'heads', tag: 'tags' }[required(payload, 'ref_type')] ?? 'unknown'
  return optional(payload, 'ref_path') ?? `refs/${folder}/${required(payload, 'ref')}`
}

/**
 * Removes `@REF` from the end. Names of files and of branches can contain `@`, so only the ref of the build itself counts.
 * @throws RefusedToken `no_publisher` if the text ends in another ref.
 */
function withoutRef(reference: string, ref: string): string {
  if (reference.endsWith(`@${ref}`)) return reference.slice(0, -ref.length - 1)
  throw new RefusedToken('no_publisher', `The workflow ${reference} is not from the ref ${ref} of the build`)
}

/** The path of a called workflow, whose ref is a full ref or a commit. Its folder has no subfolders, so no path has `@refs/`. */
function calledPath(reference: string): string {
  const at = reference.indexOf('@refs/')
  const end = at === -1 ? reference.lastIndexOf('@') : at
  return end === -1 ? reference : reference.slice(0, end)
}

function optional(payload: Payload, name: string): string | undefined {
  const value = payload[name]
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '') return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach logs and pages
  if (value.length > TEXT_MAX || /[\u0000-\u001f\u007f]/.test(value))
    throw new RefusedToken('malformed', `The claim ${name} is too long or has control characters`)
  return value
}

function required(payload: Payload, name: string): string {
  const value = optional(payload, name)
  if (value === undefined) throw new RefusedToken('no_publisher', `The token lacks the claim ${name}`)
  return value
}
