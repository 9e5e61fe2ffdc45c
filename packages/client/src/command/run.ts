// The steps of depot-publish: settings, identity, description, publication, waiting.
import { createDepot, type Depot } from '../client.ts'
import { DepotError } from '../errors.ts'
import type { DryRun, Schemas } from '../operations.ts'
import { versionForm } from '../publish.ts'
import { asError, messageOf, sleep } from '../retry.ts'
import { readChangelog } from './changelog.ts'
import { findFiles, openFile } from './files.ts'
import { HELP } from './help.ts'
import { findIdentity } from './identity.ts'
import { readSettings, type Settings, UsageError } from './settings.ts'
import { describeVersion } from './version.ts'

export type Surroundings = {
  env: NodeJS.ProcessEnv
  cwd: string
  /** Prints the result, to standard output. */
  result: (text: string) => void
  /** Prints what happens, to standard error. */
  note: (text: string) => void
}

export const EXIT = { success: 0, rejected: 1, usage: 2, service: 3, notPublic: 4 } as const

/** Runs the command. @returns the exit code. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  let json = args.includes('--json')
  try {
    const settings = readSettings(args, around.env, around.cwd)
    if (settings === 'help') {
      around.result(HELP)
      return EXIT.success
    }
    json = settings.json
    return await publish(settings, around)
  } catch (error) {
    return report(asError(error), json, around)
  }
}

async function publish(settings: Settings, { env, cwd, result, note }: Surroundings): Promise<number> {
  const paths = findFiles(settings.files, cwd)
  const changelog = await readChangelog(settings, cwd)
  const identity = await findIdentity(settings, env)
  const common = {
    url: settings.url,
    userAgent: 'depot-publish/0.1',
    retry: {
      onRetry: ({ reason, seconds }: { reason: string; seconds: number }) =>
        note(`${reason}. Trying again in ${Math.ceil(seconds)} seconds.`),
    },
  }
  const depot = createDepot({ ...common, token: identity.token })
  try {
    const project = await depot.get('/v3/project/{id}', { params: { path: { id: settings.project } } })
    const files = await Promise.all(paths.map(openFile))
    const { version, warnings } = await describeVersion(depot, settings, { projectId: project.id, files, changelog })
    for (const warning of warnings) note(`Warning: ${warning}`)
    const number = version.version_number ?? ''
    const existing = settings.skipExisting ? await findVersion(depot, project.id, number) : undefined
    if (existing !== undefined) {
      note(`${project.name} has a version ${number}; nothing was published`)
      result(outcome(settings, project, existing, warnings))
      return EXIT.success
    }
    note(
      `${settings.dryRun ? 'Checking' : 'Publishing'} ${project.name} ${number} with ${files.map(({ name }) => name).join(', ')}`,
    )
    const onProgress = ({ sent, total }: { sent: number; total: number }) =>
      note(`Uploaded ${Math.floor((100 * sent) / total)} % of ${Math.ceil(total / 1024 ** 2)} MiB`)
    const body = await versionForm(depot, version, files, { onProgress })
    if (settings.dryRun) {
      const check = await depot.dryRun.post('/v3/version', { body })
      for (const { field, message } of check.warnings) note(`Warning: ${field}: ${message}`)
      result(dryOutcome(settings, check, number))
      return EXIT.success
    }
    const published = await depot.post('/v3/version', { body })
    const isPublic =
      settings.wait && settings.status !== 'draft' ? await waitForPublic(common, settings, published.id) : undefined
    result(outcome(settings, project, published, warnings))
    if (isPublic !== false) return EXIT.success
    note(
      `The version is published, but not public. The project is ${project.status}; a scan or a review can take longer.`,
    )
    return EXIT.notPublic
  } finally {
    await identity.end()
  }
}

async function findVersion(depot: Depot, projectId: string, number: string): Promise<Schemas['Version'] | undefined> {
  const path = { id: projectId, version_number: number }
  return depot.get('/v3/project/{id}/version/{version_number}', { params: { path } }).catch((error: unknown) => {
    if (error instanceof DepotError && error.status === 404) return undefined
    throw error
  })
}

/** Reads the version without credentials until everyone can see it. @returns false if that takes too long. */
async function waitForPublic(
  common: { url: string; userAgent: string },
  settings: Settings,
  id: string,
): Promise<boolean> {
  const anyone = createDepot(common)
  const end = Date.now() + settings.timeoutSeconds * 1000
  for (let pause = 1000; ; pause = Math.min(pause * 1.5, 10_000)) {
    const isPublic = await anyone.get('/v3/version/{id}', { params: { path: { id } } }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof DepotError && error.status === 404) return false
        throw error
      },
    )
    if (isPublic) return true
    if (Date.now() + pause > end) return false
    await sleep(pause)
  }
}

type Project = Schemas['Project']

function addressOf({ url }: Settings, project: Project, version: Schemas['Version']): string {
  const { id, version_number, project_types } = version
  const name = /^\.*$|[/\\]/.test(version_number) ? id : encodeURIComponent(version_number)
  return `${url.replace(/\/+$/, '')}/${project.project_types[0] ?? project_types[0] ?? 'project'}/${project.slug}/version/${name}`
}

function outcome(
  settings: Settings,
  project: Project,
  version: Schemas['Version'],
  warnings: readonly string[],
): string {
  const url = addressOf(settings, project, version)
  if (!settings.json) return url
  const { id, version_number, status, files } = version
  return JSON.stringify({
    id,
    version_number,
    status,
    url,
    files: files.map(({ filename, url }) => ({ filename, url })),
    warnings,
  })
}

function dryOutcome({ json }: Settings, check: DryRun, number: string): string {
  return json
    ? JSON.stringify({ version_number: number, ...check })
    : `Version ${number} is valid. Nothing was published.`
}

function report(error: Error, json: boolean, { result, note }: Surroundings): number {
  const code = codeOf(error)
  const problems = error instanceof DepotError ? error.errors : []
  if (json) {
    const { status, error: kind, requestId } = error instanceof DepotError ? error : {}
    result(
      JSON.stringify({
        exit_code: code,
        message: messageOf(error),
        status,
        error: kind,
        errors: problems,
        request_id: requestId,
      }),
    )
    return code
  }
  note(`Error: ${messageOf(error)}`)
  for (const { field, message } of problems) note(`  ${field === undefined ? '' : `${field}: `}${message}`)
  if (error instanceof DepotError && error.requestId !== undefined) note(`  Request ${error.requestId}`)
  return code
}

function codeOf(error: Error): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof DepotError) return error.status === 429 || error.status >= 500 ? EXIT.service : EXIT.rejected
  return EXIT.service
}
