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

const EVENTS: Readonly<Record<CiKind, readonly string[]>> = {
  github: ['pull_request', 'pull_request_target', 'workflow_run'],
  forgejo: ['pull_request', 'pull_request_target', 'workflow_run'],
  generic: ['pull_request', 'pull_request_target', 'workflow_run'],
  gitlab: ['merge_request_event', 'external_pull_request_event'],
}

/** Returns whether a build of this event runs code that others can propose. */
export function isProposed({ kind }: CiIssuer, { event }: BuildClaims): boolean {
  return EVENTS[kind].includes(event)
}

/** @throws RefusedToken `no_publisher` naming a claim that the publisher needs and the token lacks. */
export function readClaims(issuer: CiIssuer, payload: Payload): BuildClaims {
  return issuer.kind === 'gitlab' ? gitlabClaims(issuer, payload) : githubClaims(issuer, payload)
}

function githubClaims({ issuer, kind }: CiIssuer, payload: Payload): BuildClaims {
  const repository = required(payload, 'repository')
  const caller = withoutRef(required(payload, 'workflow_ref'))
  const called = optional(payload, 'job_workflow_ref')
  if (!caller.toLowerCase().startsWith(`${repository.toLowerCase()}/`)) {
    throw new RefusedToken('no_publisher', `The workflow ${caller} is not in the repository ${repository}`)
  }
  const calledWorkflow = called === undefined ? undefined : withoutRef(called)
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
    ref: required(payload, 'ref'),
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
  const config = withoutRef(required(payload, 'ci_config_ref_uri'))
  const [place = '', path] = config.split('//')
  const isOwn = place.toLowerCase().endsWith(`/${repository.toLowerCase()}`)
  if (path === undefined || !isOwn) {
    throw new RefusedToken('no_publisher', `The configuration ${config} is not in the repository ${repository}`)
  }
  const prefix = payload['ref_type'] === 'tag' ? 'refs/tags/' : 'refs/heads/'
  const run = optional(payload, 'pipeline_id') ?? ''
  return {
    repository,
    repositoryId: optional(payload, 'project_id'),
    ownerId: optional(payload, 'namespace_id'),
    workflow: path,
    calledWorkflow: undefined,
    environment: optional(payload, 'environment'),
    ref: `${prefix}${required(payload, 'ref')}`,
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

function withoutRef(reference: string): string {
  const at = reference.indexOf('@')
  return at === -1 ? reference : reference.slice(0, at)
}

function optional(payload: Payload, name: string): string | undefined {
  const value = payload[name]
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '') return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach logs and pages
  if (value.length > TEXT_MAX || /[\u0000-\u001f\u007f]/.test(value)) {
    throw new RefusedToken('malformed', `The claim ${name} is too long or has control characters`)
  }
  return value
}

function required(payload: Payload, name: string): string {
  const value = optional(payload, name)
  if (value === undefined) throw new RefusedToken('no_publisher', `The token lacks the claim ${name}`)
  return value
}
