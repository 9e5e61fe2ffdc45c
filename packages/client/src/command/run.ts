// The steps of depot-publish: settings, identity, uploads, description, publication, waiting.
import { createDepot, type Depot } from '../client.ts'
import { DepotError } from '../errors.ts'
import type { DryRun, Schemas } from '../operations.ts'
import { chooseUploads, describe, uploadAll } from '../publish.ts'
import { asError, asFinal, type RetryOptions } from '../retry.ts'
import { deleteUpload, type Upload, type UploadProgress } from '../upload.ts'
import { readChangelog } from './changelog.ts'
import { findFiles, openFile } from './files.ts'
import { HELP, VERSION } from './help.ts'
import { findIdentity, type Identity } from './identity.ts'
import { noteOtherVersion } from './other-version.ts'
import { AbsentError, EXIT, outcome, type Project, report, type Surroundings } from './outcome.ts'
import { hashOf, openRemembered } from './remembered.ts'
import { readSettings, type Settings, UsageError } from './settings.ts'
import { describeVersion, primaryOf } from './version.ts'
import { NOT_PUBLIC, waitForPublic } from './wait.ts'

/** Runs the command. @returns the exit code. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  let json = args.includes('--json')
  let url: string | undefined
  try {
    const settings = readSettings(args, around.env, around.cwd)
    if (settings === 'help' || settings === 'version') {
      around.result(settings === 'help' ? HELP : VERSION)
      return EXIT.success
    }
    json = settings.json
    url = settings.url
    return await start(settings, around)
  } catch (error) {
    return report(asError(error), { json, url }, around)
  }
}

type Run = {
  settings: Settings
  around: Surroundings
  depot: Depot
  identity: Identity
  files: readonly File[]
  changelog: string | undefined
}

async function start(settings: Settings, around: Surroundings): Promise<number> {
  const { env, cwd, note, signal } = around
  const paths = findFiles(settings.files, cwd)
  const files = await Promise.all(paths.map(openFile))
  primaryOf(settings, files)
  const changelog = await readChangelog(settings, cwd)
  const retry: RetryOptions = {
    onRetry: ({ reason, seconds }) => note(`${reason}. Trying again in ${Math.ceil(seconds)} s`),
  }
  let identity: Identity | undefined
  const work = async () => {
    identity = await findIdentity(settings, env, retry)
    const { token } = identity
    const depot = createDepot({ url: settings.url, userAgent: USER_AGENT, token, retry, fetch: fetchDirectly })
    return publish({ settings, around, depot, identity, files, changelog })
  }
  const done = new AbortController()
  const compared = noteOtherVersion(settings.url, note, done.signal)
  try {
    return await Promise.race([work(), whenStopped(signal)])
  } finally {
    done.abort()
    await compared
    await identity?.end()
  }
}

const USER_AGENT = `depot-publish/${VERSION}`

/** A redirect would lose the token. @throws UsageError for a redirect. */
const fetchDirectly: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  const location = response.headers.get('location')
  if (response.status < 300 || response.status > 399 || location === null) return response
  const { origin } = new URL(String(input))
  throw asFinal(new UsageError(`${origin} redirects to ${new URL(location, origin).origin}: use that URL`))
}

/** @throws the reason of the signal when it aborts. */
function whenStopped(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(asError(signal.reason)), { once: true })
  })
}

async function publish(run: Run): Promise<number> {
  const { settings, around } = run
  const project = await findProject(run)
  if (await skip(run, project, settings.version_number)) return EXIT.success
  const sent = await upload(run)
  try {
    return await publishUploads(run, project, sent)
  } catch (error) {
    // A later job runs on another machine and cannot use these uploads.
    const isFinal = error instanceof DepotError || error instanceof UsageError
    if (around.env['CI'] && isFinal) await sent.drop().catch(() => undefined)
    throw error
  }
}

async function findProject({ settings, depot, identity }: Run): Promise<Project> {
  const { url, project } = settings
  try {
    const found = await depot.get('/v3/project/{id}', { params: { path: { id: project } } })
    if (typeof found?.id !== 'string') throw new UsageError(`${url} is not an instance of Depot`)
    return found
  } catch (error) {
    const isAbsent = error instanceof DepotError && error.error === 'not_found'
    if (!isAbsent) throw error
    const id = identity.projectId()
    if (id === undefined) throw new AbsentError(`${url} has no project ${project} that this token can read`)
    return { id, name: project, slug: project, project_types: [], status: NOT_PUBLIC }
  }
}

/** Whether the project has the version already, and the user wants to know nothing else. */
async function skip(
  { settings, around: { note, result }, depot }: Run,
  project: Project,
  number: string | undefined,
): Promise<boolean> {
  const existing = settings.skipExisting ? await findVersion(depot, project.id, number) : undefined
  if (existing === undefined) return false
  note(`${project.name} has a version ${number}; nothing was published`)
  result(outcome(settings, project, existing, []))
  return true
}

async function publishUploads(run: Run, project: Project, { uploads, drop, forget }: Sent): Promise<number> {
  const { settings, depot, files, changelog } = run
  const { note, result } = run.around
  const given = { projectId: project.id, files, uploads, changelog }
  const { version, warnings } = await describeVersion(depot, settings, given)
  const number = version.version_number ?? ''
  if (settings.version_number === undefined && (await skip(run, project, number))) {
    await drop()
    return EXIT.success
  }
  for (const warning of warnings) note(`Warning: ${warning}`)
  const names = files.map((file) => file.name).join(', ')
  note(`${settings.dryRun ? 'Checking' : 'Publishing'} ${project.name} ${number} with ${names}`)
  const body = describe(version, files, uploads)
  if (settings.dryRun) {
    const check = await depot.dryRun.post('/v3/version', { body })
    await drop()
    for (const { field, message } of check.warnings) note(`Warning: ${field}: ${message}`)
    result(dryOutcome(settings, check, number))
    return EXIT.success
  }
  const published = await depot.post('/v3/version', { body }).catch((error: unknown) => {
    if (!(error instanceof DepotError))
      note(`${number} might have been published. Run the command again with --skip-existing`)
    throw error
  })
  forget()
  const waits = settings.wait && settings.status !== 'draft'
  const isPublic = !waits || (await waitForPublic(settings, { project, id: published.id, userAgent: USER_AGENT, note }))
  result(outcome(settings, project, published, warnings))
  if (isPublic) return EXIT.success
  note(
    `The version is published, but not public. The project is ${project.status}; a scan or a review can take longer.`,
  )
  return EXIT.notPublic
}

const PROGRESS_MS = 5000

type Sent = {
  uploads: ReadonlyMap<File, Upload>
  /** Deletes the uploads. */
  drop: () => Promise<void>
  /** Forgets the uploads, because a version has used them. */
  forget: () => void
}

/** Uploads the primary file and large files. An earlier run that was interrupted on this machine is continued. */
async function upload({ settings, around, depot, files }: Run): Promise<Sent> {
  const { storeFor, forget } = openRemembered(around.env)
  const primary = primaryOf(settings, files)
  const chosen = [primary, ...chooseUploads(files).filter((file) => file !== primary)]
  const hashes = new Map<File, string>()
  for (const file of chosen) hashes.set(file, await hashOf(file))
  let noted = Date.now()
  const onProgress = ({ sent, total }: UploadProgress) => {
    if (Date.now() - noted < PROGRESS_MS) return
    noted = Date.now()
    around.note(`Uploaded ${Math.floor((100 * sent) / total)} % of ${Math.ceil(total / 1024 ** 2)} MiB`)
  }
  const resumeOf = (file: File) => storeFor(hashes.get(file) ?? '')
  const uploads = await uploadAll(depot, chosen, { onProgress, resumeOf })
  const drop = async () => {
    await Promise.all([...uploads.values()].map((each) => deleteUpload(depot.transport, each)))
    forget()
  }
  return { uploads, drop, forget }
}

async function findVersion(
  depot: Depot,
  projectId: string,
  number: string | undefined,
): Promise<Schemas['Version'] | undefined> {
  if (number === undefined) return undefined
  const path = { id: projectId, version_number: number }
  return depot.get('/v3/project/{id}/version/{version_number}', { params: { path } }).catch((error: unknown) => {
    if (error instanceof DepotError && error.status === 404) return undefined
    throw error
  })
}

function dryOutcome({ json }: Settings, check: DryRun, number: string): string {
  return json
    ? JSON.stringify({ version_number: number, ...check })
    : `Version ${number} is valid. Nothing was published.`
}
