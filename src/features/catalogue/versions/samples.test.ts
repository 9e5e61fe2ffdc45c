// Requests for the tests of all operations.
import { newId } from '#lib/ids.ts'
import {
  ATTACHED,
  type Declared,
  DRY_RUN,
  ids,
  inDays,
  jar,
  made,
  NAMES,
  type Sample,
  send,
  shows,
  theAnswer,
  thing,
  viewAt,
} from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const TUS = { 'tus-resumable': '1.0.0' }
const tus = (headers: Record<string, string>) => ({
  payload: Buffer.from('abc'),
  headers: { 'content-type': 'application/offset+octet-stream', ...TUS, ...headers },
})
const hashes = async (w: World) => ({ hashes: [await w.id('fileHash')] })
const byHashes: Sample = { body: hashes }
const askHashes: Sample = { query: async (w) => ({ hashes: JSON.stringify((await hashes(w)).hashes) }) }
/** Adds an advisory of the owner that waits for a decision. Returns its ID. */
async function openAdvisory(world: World): Promise<string> {
  const body = { project: await world.id('project'), hashes: ['ab'.repeat(20)], summary: 'Steals tokens', details: '' }
  const answer = await world.t.as(await world.person('owner')).post('/v3/advisory', body)
  return answer.json().id
}
/** Adds an impact report of the project. Returns its ID. */
async function openImpactReport(world: World): Promise<string> {
  const id = newId()
  const values = {
    id,
    project_id: await world.id('project'),
    request: JSON.stringify({}),
    result: JSON.stringify({ dependents: [], packs: [], complete: true }),
  }
  await world.t.deps.db.insertInto('impact_report').values(values).execute()
  return id
}
/** Adds another file to the version and returns its hash. */
const secondFile = async ({ t, id, project }: World): Promise<string> => {
  const version = { id: await id('version') }
  const file = { version, project: await project(), bytes: modJar(newId()), filename: 'other.jar', primary: false }
  return (await t.make.file(file)).sha512
}
const TWO_FILES = { file_parts: ['file', 'second'] }

export const SAMPLES: Record<string, Sample> = {
  listProjectVersions: shows('version'),
  listUploads: shows('upload'),
  listVersions: ids('version'),
  getProjectVersion: { at: { version_number: 'versionNumber' } },
  createVersion: { raw: async (w) => form({ ...versionData(), project_id: await w.id('project') }, [jar('file')]) },
  updateVersion: { body: { name: 'Second light' } },
  updateVersions: { ...ids('version'), body: { featured: true } },
  proposeVersion: { raw: async (w) => form({ project_id: await w.id('project') }, [jar('file')]) },
  addVersionFiles: { raw: () => form({}, [jar('file')]) },
  createUpload: { raw: tus({ 'upload-defer-length': '1' }) },
  getUpload: { headers: TUS },
  appendToUpload: { raw: tus({ 'upload-offset': '0' }) },
  overrideUploadMethod: { raw: tus({ 'upload-offset': '0', 'x-http-method-override': 'PATCH' }) },
  deleteUpload: { headers: TUS },
  deleteVersionFile: {
    before: async ({ t, id, project }) =>
      t.make.file({
        version: { id: await id('version') },
        project: await project(),
        bytes: Buffer.from(newId()),
        filename: 'second.jar',
        primary: false,
      }),
  },
  findUpdate: { body: {} },
  listVersionsByHash: byHashes,
  getVersionsByHash: askHashes,
  listProjectsByHash: byHashes,
  getProjectsByHash: askHashes,
  findUpdates: byHashes,
  getUpdates: askHashes,
  findUpdateLists: byHashes,
  getUpdateLists: askHashes,
  findIndividualUpdates: { body: async (w) => ({ hashes: [{ hash: await w.id('fileHash') }] }) },
  createAdvisory: {
    body: async (w) => ({
      project: await w.id('project'),
      versions: [await w.id('version')],
      summary: 'Bad',
      details: '',
    }),
  },
  decideAdvisory: { at: { id: openAdvisory }, body: { status: 'published' } },
  getAdvisory: { at: { id: openAdvisory } },
  matchAdvisories: byHashes,
  reportImpact: { body: async (w) => ({ remove: await w.id('project') }) },
  getImpactReport: { at: { job: openImpactReport } },
}

export const DECLARED: Record<string, Declared> = {
  createAdvisory: {
    view: theAnswer,
    fields: {
      project: send(thing('project'), { at: 'database_specific.project_id' }),
      versions: send(async (w: World) => [await w.id('version')], {
        at: 'database_specific.version_ids',
        needs: async (w) => ({ project: await w.id('project') }),
      }),
      summary: send('Steals passwords'),
      details: send('It sends them to another server.'),
      severity: send([{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }]),
      references: send([{ type: 'FIX', url: 'https://example.org/fix' }]),
      aliases: send(['CVE-2026-12345']),
      withdraw: send(true, { at: 'database_specific.withdraws' }),
    },
    unseen: { hashes: 'added to the hashes of the versions; the tests of advisories read them' },
  },
  decideAdvisory: {
    view: theAnswer,
    unseen: { status: 'each request decides another advisory; the tests of advisories read it' },
  },
  createVersion: {
    view: made('/v3/version'),
    form: {
      data: async (w: World) => ({ ...versionData(), project_id: await w.id('project') }),
      files: () => [jar('file')],
    },
    fields: {
      project_id: send(thing('project')),
      version_number: send('9.9.9'),
      version_title: send('Ninth light', { at: 'name' }),
      version_body: send('Brighter', { at: 'changelog' }),
      release_channel: send('alpha', { at: 'version_type' }),
      dependencies: send([{ file_name: 'oil.jar', dependency_type: 'optional' }], {
        at: 'dependencies.0.file_name',
        shows: 'oil.jar',
      }),
      loaders: send(['fabric', 'quilt']),
      game_versions: send(['1.19.4']),
      environment: send('server_only'),
      featured: send(true),
      file_parts: send(TWO_FILES.file_parts, {
        at: 'files.1.filename',
        shows: 'second.jar',
        files: () => [jar('second')],
      }),
      primary_file: send('second', {
        at: 'files.0.filename',
        shows: 'second.jar',
        needs: TWO_FILES,
        files: () => [jar('second')],
      }),
      file_types: send({ file: 'unknown' }, { at: 'files.0.file_type', shows: 'unknown' }),
      status: send('draft'),
      ordering: send(4),
    },
    unseen: { dry_run: DRY_RUN, uploaded_images: ATTACHED },
  },
  updateVersions: {
    view: viewAt('/v3/version', 'version'),
    fields: { status: send('unlisted'), featured: send(true), version_type: send('alpha'), ordering: send(4) },
    unseen: { ids: NAMES, dry_run: DRY_RUN },
  },
  updateVersion: {
    view: viewAt('/v3/version', 'version'),
    fields: {
      name: send('Ninth light'),
      version_number: send('9.9.9'),
      changelog: send('Brighter'),
      version_type: send('alpha'),
      dependencies: send([{ file_name: 'oil.jar', dependency_type: 'optional' }], {
        at: 'dependencies.0.file_name',
        shows: 'oil.jar',
      }),
      loaders: send(['forge']),
      game_versions: send(['1.19.4']),
      environment: send('server_only'),
      featured: send(true),
      status: send('unlisted'),
      requested_status: send('archived'),
      scheduled_at: send(() => inDays(3), { needs: { status: 'scheduled', requested_status: 'listed' } }),
      ordering: send(4),
      downloads: send(77, { by: 'moderator' }),
      withdrawn: send({ kind: 'broken', reason: 'Goes out' }, { at: 'withdrawn.reason', shows: 'Goes out' }),
      primary_file: send(secondFile, { at: 'files.0.hashes.sha512' }),
      file_types: send(
        async (w: World) => [{ algorithm: 'sha512', hash: await w.id('fileHash'), file_type: 'signature' }],
        { at: 'files.0.file_type', shows: 'signature' },
      ),
    },
    unseen: { dry_run: DRY_RUN },
  },
}
