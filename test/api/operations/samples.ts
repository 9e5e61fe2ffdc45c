// One valid request for each operation, for the authorisation matrix. A new operation needs one line here.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { hideAccount } from '#features/operations/personal-data/hide-account.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { createInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { toInvitation } from '#features/people/accounts/invitations/requests.ts'
import { insertFlow } from '#features/people/accounts/mail/flows.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { newToken } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { type TagListName, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import {
  enableTwoFactor,
  type Member,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { type Form, form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { CALLBACK, SCOPES as OAUTH_SCOPES } from '#test/support/http/oauth-steps.ts'
import { buildService } from '#test/support/stand-ins/build-service.ts'
import { samplesV2 } from './samples-v2.ts'
import { buildToken, earn, issuerOf, nextRange, openCode, openQuestion, type Thing, type World } from './world.ts'

type Given<T> = T | ((world: World) => T | Promise<T>)
type Query = Record<string, string>

export type Sample = {
  /** The resource or string for each path parameter. */
  at?: Record<string, Thing | ((world: World) => string | Promise<string>)>
  query?: Given<Query>
  /** A JSON body. */
  body?: Given<object>
  /** A body that is not JSON, with its content type. */
  raw?: Given<Form>
  headers?: Record<string, string>
  /** Brings the world into the state that the request needs. */
  before?: (world: World) => Promise<unknown>
}

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQI12P4f4YBiBggFAA2PgctYFZQWAAAAABJRU5ErkJggg==',
  'base64',
)
const picture: Form = { payload: PNG, headers: { 'content-type': 'image/png' } }
const icon = { query: { ext: 'png' }, raw: picture }

const TUS = { 'tus-resumable': '1.0.0' }
const tus = (headers: Record<string, string>) => ({
  payload: Buffer.from('abc'),
  headers: { 'content-type': 'application/offset+octet-stream', ...TUS, ...headers },
})

const at = (thing: Thing): Sample => ({ at: { id: thing } })

const packed = new WeakMap<object, Promise<{ lock: string; slug: string }>>()

/** A lock that can be written as a pack; one per application. */
function packedLock({ t }: World): Promise<{ lock: string; slug: string }> {
  const make = async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project, loaders: ['fabric'] })
    await t.make.file({ project, version, bytes: Buffer.from(project.id) })
    const body = { versions: [version.id], loaders: ['fabric'], loader_version: '0.15.11', game_versions: ['1.20.1'] }
    const answer = await t.anyone.post('/v3/lock', body)
    return { lock: answer.json().lock as string, slug: project.slug }
  }
  const made = packed.get(t) ?? make()
  packed.set(t, made)
  return made
}
const storedLock = async (w: World): Promise<string> => (await packedLock(w)).lock
const packedFile = async (w: World): Promise<string> => `${(await packedLock(w)).slug}.pw.toml`

/** Puts the project into the moderation queue. Returns its ID. */
async function submitProject(w: World): Promise<string> {
  const id = await w.id('project')
  await w.t.deps.db.updateTable('project').set({ status: 'processing' }).where('id', '=', id).execute()
  return id
}
const newPublisher = (w: World) => ({ issuer: issuerOf(w), repository: 'lanterns/lamp', workflow: 'release.yml' })
const savedReply = { topic: 'Licence', language: 'en', title: 'Name the licence', body: 'Please add a licence.' }
const takeDown = async (w: World, body: object) =>
  w.t.as(await w.person('admin')).post('/_internal/moderation/takedown', { reason: 'spam', ...body })

async function takenDown(w: World): Promise<string> {
  const project = await w.t.make.project()
  return (await takeDown(w, { kind: 'project', id: project.id, visibility: 'rejected' })).json().id
}

async function blockedHash(w: World): Promise<string> {
  const project = await w.t.make.project()
  const version = await w.t.make.version({ project })
  const { sha512 } = await w.t.make.file({ project, version, bytes: Buffer.from(project.id) })
  await takeDown(w, { kind: 'file', id: sha512, visibility: 'rejected' })
  return sha512
}

const savedReplies = async ({ t }: World): Promise<string[]> =>
  (await t.deps.db.selectFrom('saved_reply').select('id').execute()).map(({ id }) => id)
const ids = (thing: Thing): Sample => ({ query: async (w) => ({ ids: JSON.stringify([await w.id(thing)]) }) })
const slug = (): string => `lantern-${newId().toLowerCase()}`
const inAYear = (): string => new Date(Date.now() + 365 * DAY_MS).toISOString()
const newAccount = () => {
  const username = slug()
  return { username, email: `${username}@example.org`, password: PASSWORD }
}
const urlEncoded = (fields: Query): Form => ({
  payload: Buffer.from(new URLSearchParams(fields).toString()),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

const hash: Sample = { at: { hash: 'fileHash' } }
const hashes = async (w: World) => ({ hashes: [await w.id('fileHash')] })
const byHashes: Sample = { body: hashes }
const askHashes: Sample = { query: async (w) => ({ hashes: JSON.stringify((await hashes(w)).hashes) }) }

/** The owner as an account that can sign in. */
const asMember = async (w: World): Promise<Member> => ({ ...(await w.person('owner')), sessionId: '' })

const mailedFlow = async (w: World) => {
  const { id: accountId, email } = await w.person('owner')
  return insertFlow(w.t.deps.db, { kind: 'verify_email', accountId, data: { email }, now: w.t.deps.now() })
}

const secondFactor = async (w: World) => {
  const owner = await asMember(w)
  const { secret } = await enableTwoFactor(w.t, owner)
  const asked = await signIn(w.t, owner.username)
  return { flow: asked.json().flow, code: totpCode(w.t, secret) }
}

const firstCode = async (w: World) => {
  const answer = await w.t.as(await w.person('owner')).post('/_internal/auth/2fa/get_secret')
  const { flow, secret } = answer.json()
  return { flow, code: totpCode(w.t, secret) }
}

const clientFields = async (w: World) => {
  const { id, secret } = await w.application()
  return { client_id: id, client_secret: secret }
}
const heldToken = async (w: World) => urlEncoded({ ...(await clientFields(w)), token: (await w.person('owner')).token })

const AFFILIATE_BADGE = 128
const giveAffiliateBadge = async ({ t, id }: World) =>
  t.deps.db
    .updateTable('account')
    .set({ badges: AFFILIATE_BADGE })
    .where('id', '=', await id('owner'))
    .execute()
const newAffiliateCode: Sample = { before: giveAffiliateBadge, body: { source_name: 'A shop' } }
const makeFile = (w: World) => w.file()
const aDownload = async (w: World) => ({
  url: `/data/${await w.id('project')}/versions/${await w.id('version')}/${await w.id('filename')}`,
  ip: '192.0.2.1',
})
/** A version that the scanner holds. */
const heldVersion: Sample = {
  ...at('version'),
  before: async ({ t: { deps }, id }) => {
    const version_id = await id('version')
    const now = new Date(deps.now())
    await deps.db
      .insertInto('version_scan')
      .values({ version_id, state: 'quarantine', next_attempt: now, requested: now })
      .execute()
    await deps.db.updateTable('version').set({ status: 'unknown' }).where('id', '=', version_id).execute()
  },
}

/** Adds an archive to the version. Returns the ID of the file. */
const anArchive = async (w: World): Promise<string> => {
  const [version, project] = [{ id: await w.id('version') }, { id: await w.id('project') }]
  const filename = `${newId()}.jar`
  const bytes = makeZip([{ name: 'fabric.mod.json', data: '{}' }])
  return (await w.t.make.file({ version, project, bytes, filename, primary: false })).id
}

const send = { query: { ext: 'png' }, headers: picture.headers }

/** Returns the URL of an image that the owner added to the gallery. */
const galleryUrl = async (w: World): Promise<string> => {
  const path = `/v3/project/${await w.id('project')}`
  const owner = w.t.as(await w.person('owner'))
  const added = await owner.post(`${path}/gallery`, PNG, send)
  // A sample that asks twice finds it there already.
  if (added.statusCode !== 204 && added.statusCode !== 400) {
    throw new Error(`No image was added: ${added.statusCode} ${added.body}`)
  }
  return (await owner.get(path)).json().gallery[0].url
}
const iconUrl = async (w: World): Promise<string> => {
  const path = `/v3/project/${await w.id('project')}`
  const owner = w.t.as(await w.person('owner'))
  await owner.patch(`${path}/icon`, PNG, send)
  return (await owner.get(path)).json().icon_url
}
const resetTags = (w: World) => w.t.deps.db.deleteFrom('tag_list').execute()
/** A list as it is in the data files. */
const tagList = (name: TagListName): Sample => ({
  body: (w) => ({ rows: tagListsOf(w.t.deps.taxonomyData)[name] }),
})
const partOf = (url: string, index: number): string => url.split('/').at(index) ?? ''

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

/** Adds a job that has failed on its last attempt. Returns its ID. */
const failedJob = async ({ t }: World): Promise<string> => {
  const { rows } = await t.deps.pool.query<{ id: string }>(
    "select id::text as id from graphile_worker.add_job('files.remove', '{\"keys\":[]}', run_at => now() + interval '1 day')",
  )
  await t.deps.pool.query(
    'update graphile_worker._private_jobs set attempts = max_attempts, last_error = $2 where id = $1::bigint',
    [rows[0]?.id, 'The disk is full'],
  )
  return rows[0]?.id ?? ''
}

const OPERATIONS: Record<string, Sample> = {
  // The description of the service.
  getRoot: {},
  getOpenApi: {},
  getOlderOpenApi: {},
  getHealth: {},
  getReadiness: {},
  getMetrics: {},
  getStatistics: {},
  getOAuthMetadata: {},

  // Tags
  listGames: {},
  listLoaders: {},
  listCategories: {},
  listLicenses: {},
  listLinkPlatforms: {},
  listReportTypes: {},
  listProjectTypes: {},
  listLoaderFieldValues: { query: { loader_field: 'game_versions' } },
  getLicense: { at: { id: () => 'MIT' } },

  // Users
  getOwnUser: {},
  getUser: at('owner'),
  listUsers: ids('owner'),
  searchUsers: { query: { query: 'person' } },
  getUserByEmail: { query: async (w) => ({ email: (await w.person('owner')).email }) },
  listUserProjects: at('owner'),
  listAllUserProjects: at('owner'),
  listUserOrganizations: at('owner'),
  listUserCollections: at('owner'),
  listUserFollows: at('owner'),
  listFriends: {},
  listBlockedUsers: {},
  getUserPreferences: at('owner'),
  listUserNotifications: at('owner'),
  getNotificationSettings: at('owner'),
  updateNotificationSettings: { ...at('owner'), body: { email: { invitation: true } } },
  listUserApplications: at('owner'),
  updateUser: { ...at('owner'), body: { bio: 'I make lanterns' } },
  deleteUser: { ...at('owner'), body: {} },
  setUserIcon: { ...at('owner'), ...icon },
  deleteUserIcon: at('owner'),
  exportData: {},
  listAttention: at('owner'),
  dismissAttention: {
    at: { id: 'owner', item: async (w) => `incomplete_draft:${await w.id('project')}` },
  },
  restoreAttention: {
    at: { id: 'owner', item: async (w) => `incomplete_draft:${await w.id('project')}` },
  },
  getProjectLimit: {},
  getRateLimit: {},
  getOrganizationLimit: {},
  getCollectionLimit: {},

  // Follows and notifications
  createFollowFeed: at('owner'),
  deleteFollowFeed: at('owner'),
  followProject: at('project'),
  unfollowProject: {
    ...at('project'),
    before: async (w) => w.t.as(await w.person('owner')).post(`/v3/project/${await w.id('project')}/follow`),
  },
  listNotifications: ids('notification'),
  markNotificationsRead: ids('notification'),
  deleteNotifications: ids('notification'),
  getNotification: at('notification'),
  markNotificationRead: at('notification'),
  deleteNotification: at('notification'),

  // Projects
  getProject: at('project'),
  listProjects: ids('project'),
  listRandomProjects: { query: { count: '1' } },
  checkProject: at('project'),
  getChecklist: at('project'),
  exportProject: at('project'),
  listSimilarProjects: { query: { name: 'Lantern' } },
  listProjectDependencies: at('project'),
  listProjectDependents: at('project'),
  getProjectStatistics: at('project'),
  createProject: { raw: () => form(projectData(slug())) },
  updateProject: { ...at('project'), body: { summary: 'A light to carry' } },
  updateProjects: { ...ids('project'), body: { add_categories: ['magic'] } },
  deleteProject: at('project'),
  setProjectIcon: { ...at('project'), ...icon },
  deleteProjectIcon: at('project'),
  addGalleryPicture: { ...at('project'), ...icon },
  updateGalleryPicture: { ...at('project'), query: async (w) => ({ url: await galleryUrl(w), name: 'Dusk' }) },
  removeGalleryPicture: { ...at('project'), query: async (w) => ({ url: await galleryUrl(w) }) },
  getQueuePlace: at('project'),

  // Search
  searchProjects: { query: { query: 'lantern' } },
  countSearchFacets: { query: { query: 'lantern' } },
  suggestSearch: { query: { query: 'lan' } },
  searchProjectsByBody: { body: { query: 'lantern' } },
  rebuildSearch: {},

  // Changes
  listChanges: {},
  // The stream of an unknown epoch ends immediately.
  streamChanges: { query: { since: '00000000-0' } },

  // Versions and files
  getVersion: at('version'),
  listVersions: ids('version'),
  listProjectVersions: at('project'),
  getProjectVersion: { at: { id: 'project', version_number: 'versionNumber' } },
  createVersion: {
    raw: async (w) => form({ ...versionData(), project_id: await w.id('project') }, [jar()]),
  },
  updateVersion: { ...at('version'), body: { name: 'Second light' } },
  updateVersions: { ...ids('version'), body: { featured: true } },
  deleteVersion: at('version'),
  getVersionProposals: at('version'),
  proposeVersion: { raw: async (w) => form({ project_id: await w.id('project') }, [jar()]) },
  addVersionFiles: { ...at('version'), raw: () => form({}, [jar()]) },
  createUpload: { raw: tus({ 'upload-defer-length': '1' }) },
  listUploads: {},
  getUpload: { ...at('upload'), headers: TUS },
  appendToUpload: { ...at('upload'), raw: tus({ 'upload-offset': '0' }) },
  overrideUploadMethod: {
    ...at('upload'),
    raw: tus({ 'upload-offset': '0', 'x-http-method-override': 'PATCH' }),
  },
  deleteUpload: { ...at('upload'), headers: TUS },
  getVersionByHash: hash,
  downloadByHash: hash,
  deleteVersionFile: {
    ...hash,
    before: async ({ t, id, project }) =>
      t.make.file({
        version: { id: await id('version') },
        project: await project(),
        bytes: Buffer.from(newId()),
        filename: 'second.jar',
        primary: false,
      }),
  },
  findUpdate: { ...hash, body: {} },
  getUpdate: hash,
  listVersionsByHash: byHashes,
  getVersionsByHash: askHashes,
  listProjectsByHash: byHashes,
  getProjectsByHash: askHashes,
  findUpdates: byHashes,
  resolveItems: { body: async (w) => ({ items: [{ project: await w.id('project') }] }) },
  createLock: { body: async (w) => ({ versions: [await w.id('version')] }) },
  getLock: { at: { id: storedLock } },
  getLockMrpack: { at: { id: storedLock } },
  getLockPack: { at: { id: storedLock } },
  getLockIndex: { at: { id: storedLock } },
  getLockMetafile: { at: { id: storedLock, folder: () => 'mods', file: packedFile } },
  getUpdates: askHashes,
  findUpdateLists: byHashes,
  getUpdateLists: askHashes,
  findIndividualUpdates: { body: async (w) => ({ hashes: [{ hash: await w.id('fileHash') }] }) },
  downloadVersionArchive: at('version'),
  downloadFile: { at: { project_id: 'project', version_id: 'version', filename: 'filename' } },
  getPicture: {
    at: { folder: async (w) => partOf(await iconUrl(w), -2), picture: async (w) => partOf(await iconUrl(w), -1) },
  },
  getGalleryPicture: {
    at: { folder: async (w) => partOf(await galleryUrl(w), -3), picture: async (w) => partOf(await galleryUrl(w), -1) },
  },
  createImage: {
    query: async (w) => ({ ext: 'png', context: 'project', project_id: await w.id('project') }),
    raw: picture,
  },

  // Teams
  listProjectMembers: at('project'),
  listTeamMembers: at('team'),
  listTeams: ids('team'),
  inviteTeamMember: { ...at('team'), body: async (w) => ({ user_id: await w.id('stranger') }) },
  updateTeamMember: { at: { id: 'team', user_id: 'member' }, body: { role: 'Artist' } },
  updateTeamMembers: {
    ...at('team'),
    body: async (w) => ({ members: [{ user_id: await w.id('member'), role: 'Artist' }] }),
  },
  removeTeamMember: { at: { id: 'team', user_id: 'member' } },
  joinTeam: {
    ...at('team'),
    before: async ({ t, id }) =>
      t.deps.db
        .updateTable('team_member')
        .set({ accepted: false })
        .where('account_id', '=', await id('member'))
        .execute(),
  },
  transferTeamOwnership: { ...at('team'), body: async (w) => ({ user_id: await w.id('member') }) },

  // Organizations
  getOrganization: at('organization'),
  listOrganizations: ids('organization'),
  listOrganizationMembers: at('organization'),
  listOrganizationProjects: at('organization'),
  getProjectOrganization: at('organizationProject'),
  createOrganization: { body: () => ({ slug: slug(), name: 'Lantern makers', description: 'We make lanterns' }) },
  updateOrganization: { ...at('organization'), body: { name: 'Lamp makers' } },
  deleteOrganization: at('organization'),
  addOrganizationProject: { ...at('organization'), body: async (w) => ({ project_id: await w.id('project') }) },
  removeOrganizationProject: {
    at: { id: 'organization', project_id: 'organizationProject' },
    body: async (w) => ({ new_owner: await w.id('owner') }),
  },
  setOrganizationIcon: { ...at('organization'), ...icon },
  deleteOrganizationIcon: at('organization'),

  // Collections
  getCollection: at('collection'),
  downloadCollectionArchive: {
    ...at('collection'),
    before: async ({ t, id }) => {
      await id('version')
      const row = { collection_id: await id('collection'), project_id: await id('project'), position: 0 }
      const query = t.deps.db.insertInto('collection_project').values(row)
      return query.onConflict((conflict) => conflict.doNothing()).execute()
    },
  },
  listCollections: ids('collection'),
  createCollection: { body: { name: 'Lanterns' } },
  updateCollection: { ...at('collection'), body: { status: 'unlisted' } },
  deleteCollection: at('collection'),
  setCollectionIcon: { ...at('collection'), ...icon },
  deleteCollectionIcon: at('collection'),

  // Reports, threads, moderation
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
  listAdvisories: {},
  matchAdvisories: byHashes,
  exportAdvisories: {},
  reportImpact: { ...at('project'), body: async (w) => ({ remove: await w.id('project') }) },
  getImpactReport: {
    at: { id: 'project', job: openImpactReport },
  },
  getReport: at('report'),
  listReports: ids('report'),
  listOpenReports: {},
  createReport: {
    body: async (w) => ({ report_type: 'spam', item_type: 'project', item_id: await w.id('project'), body: 'Look' }),
  },
  listReportGroups: {},
  closeReports: { body: async (w) => ({ ids: [await w.id('report')], outcome: 'no_action' }) },
  listUnansweredThreads: {},
  listModerationLog: {},
  updateReport: { ...at('report'), body: { body: 'Look again' } },
  deleteReport: at('report'),
  getThread: at('thread'),
  listThreads: ids('thread'),
  postThreadMessage: { ...at('thread'), body: { body: { type: 'text', body: 'Hello' } } },
  deleteThreadMessage: at('message'),
  listModerationQueue: {},
  claimProject: { at: { id: submitProject } },
  releaseClaim: at('project'),
  claimNextProject: { body: { project_type: 'mod' } },
  takeDown: {
    body: async (w) => ({ kind: 'project', id: await w.id('project'), reason: 'spam', visibility: 'withheld' }),
  },
  undoTakedown: { at: { id: takenDown } },
  listBlockedFiles: {},
  unblockFile: { at: { hash: blockedHash } },
  listSavedReplies: {},
  createSavedReply: { body: savedReply },
  updateSavedReply: { ...at('savedReply'), body: { title: 'Another title' } },
  deleteSavedReply: at('savedReply'),
  orderSavedReplies: { body: async (w) => ({ ids: await savedReplies(w) }) },
  getUserRecord: at('stranger'),
  getUserNote: at('stranger'),
  writeUserNote: { ...at('stranger'), body: { body: 'Known since May', revision: 0 } },
  askOperators: { ...at('stranger'), body: { message: 'Please suspend this account' } },
  getQueueStatistics: {},
  getProjectChanges: at('project'),
  getReportChanges: at('report'),
  listVersionEntries: at('version'),
  getVersionEntry: {
    ...at('version'),
    query: async (w) => ({ file: await anArchive(w), path: 'fabric.mod.json' }),
  },
  listProjectsOfFiles: { body: { hashes: ['0'.repeat(128)] } },

  // Accounts
  getGlobals: {},
  createAccount: { body: newAccount },
  validateNewAccount: { body: newAccount },
  signIn: { body: async (w) => ({ username: (await w.person('owner')).username, password: PASSWORD }) },
  signInWithSecondFactor: { body: secondFactor },
  requestPasswordReset: { body: async (w) => ({ username: (await w.person('owner')).username }) },
  changePassword: { body: { old_password: PASSWORD, new_password: OTHER_PASSWORD, end_tokens: false } },
  changeEmail: { body: () => ({ email: `${slug()}@example.org` }) },
  resendVerification: {
    before: async ({ t, id }) =>
      t.deps.db
        .updateTable('account')
        .set({ email_verified: false })
        .where('id', '=', await id('owner'))
        .execute(),
  },
  undoEmailChange: { body: { flow: 'unknown' } },
  verifyEmail: { body: async (w) => ({ flow: await mailedFlow(w) }) },
  startTwoFactor: {},
  enableTwoFactor: { body: firstCode },
  disableTwoFactor: { body: async (w) => ({ code: (await enableTwoFactor(w.t, await asMember(w))).backupCodes[0] }) },
  linkCodeHost: { body: async (w) => ({ token: `ghp_${await w.id('owner')}` }) },
  unlinkCodeHost: {},
  listSessions: {},
  deleteSession: at('session'),
  refreshSession: {},
  listAccessTokens: {},
  createAccessToken: { body: () => ({ name: 'For my program', scopes: 2, expires: inAYear() }) },
  updateAccessToken: { ...at('pat'), body: { name: 'For another program' } },
  deleteAccessToken: at('pat'),
  getPublishingMetadata: {},
  exchangeBuildToken: { body: async (w) => ({ token: await buildToken(w), project: (await w.project()).id }) },
  endPublisherToken: { headers: { authorization: newToken('publisher').token } },
  listProjectPublishers: at('project'),
  addProjectPublisher: { ...at('project'), body: newPublisher },
  removeProjectPublisher: { at: { id: 'project', publisher_id: 'projectPublisher' } },
  listOrganizationPublishers: at('organization'),
  addOrganizationPublisher: { ...at('organization'), body: newPublisher },
  removeOrganizationPublisher: { at: { id: 'organization', publisher_id: 'organizationPublisher' } },
  listProjectWebhooks: at('project'),
  listOrganizationWebhooks: at('organization'),
  listUserWebhooks: at('owner'),
  listInstanceWebhooks: {},
  createWebhook: {
    body: async (w) => ({
      owner: { kind: 'project', id: await w.id('project') },
      url: 'https://hooks.example.org/depot',
      events: ['version.published'],
    }),
  },
  getWebhook: at('webhook'),
  updateWebhook: { ...at('webhook'), body: { events: ['*'] } },
  deleteWebhook: at('webhook'),
  pingWebhook: at('webhook'),
  rotateWebhookSecret: { ...at('webhook'), body: {} },
  listWebhookDeliveries: at('webhook'),
  getWebhookDelivery: { at: { id: 'webhook', delivery: 'webhookDelivery' } },
  redeliverWebhookDelivery: { at: { id: 'webhook', delivery: 'webhookDelivery' } },
  listServiceAccounts: at('organization'),
  createServiceAccount: { ...at('organization'), body: () => ({ username: `builds-${newId().toLowerCase()}` }) },
  deleteServiceAccount: { at: { id: 'organization', user_id: 'serviceAccount' } },
  createServiceToken: {
    at: { id: 'organization', user_id: 'serviceAccount' },
    body: () => ({ name: 'For my builds', scopes: 2, expires: inAYear() }),
  },
  deleteServiceToken: { at: { id: 'organization', user_id: 'serviceAccount', token_id: 'serviceToken' } },
  revokeLeakedToken: { body: async (w) => ({ token: (await w.t.make.pat(await w.person('owner'))).token }) },
  reportLeakedTokens: {
    raw: async () => {
      const payload = JSON.stringify([{ token: 'dpp_unknown', type: 'depot', url: 'https://code.example/file' }])
      const signature = (await buildService()).signReport(payload)
      const signed = { 'github-public-key-identifier': 'report', 'github-public-key-signature': signature }
      return { payload: Buffer.from(payload), headers: { 'content-type': 'application/json', ...signed } }
    },
  },

  // Applications of third parties
  getApplication: at('application'),
  listApplications: ids('application'),
  createApplication: { body: { name: 'Chart Maker', max_scopes: OAUTH_SCOPES, redirect_uris: [CALLBACK] } },
  updateApplication: { ...at('application'), body: { name: 'Map Maker' } },
  rotateApplicationSecret: at('application'),
  deleteApplication: at('application'),
  setApplicationIcon: { ...at('application'), ...icon },
  deleteApplicationIcon: at('application'),
  authorize: { query: async (w) => ({ client_id: await w.id('application'), redirect_uri: CALLBACK }) },
  acceptAuthorization: { body: async (w) => ({ flow: await openQuestion(w) }) },
  rejectAuthorization: { body: async (w) => ({ flow: await openQuestion(w) }) },
  listAuthorizations: {},
  revokeAuthorization: {
    query: async (w) => ({ client_id: await w.id('application') }),
    before: openCode,
  },
  exchangeCode: {
    raw: async (w) => urlEncoded({ ...(await clientFields(w)), code: await openCode(w), redirect_uri: CALLBACK }),
  },
  introspectToken: { raw: heldToken },
  revokeToken: { raw: heldToken },

  // Statistics and money
  reportView: { body: async (w) => ({ url: `https://depot.test/project/${await w.id('project')}` }) },
  reportPlaytime: { body: async (w) => ({ [await w.id('version')]: { seconds: 60 } }) },
  reportAffiliateClick: {
    body: async (w) => ({ url: 'https://depot.test/', affiliate_code_id: await w.id('affiliateCode') }),
  },
  queryAnalytics: {
    body: {
      time_range: { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z', resolution: { slices: 2 } },
      return_metrics: { project_views: { bucket_by: [] } },
    },
  },
  listAffiliateCodes: {},
  getAffiliateCode: at('affiliateCode'),
  createAffiliateCode: newAffiliateCode,
  putAffiliateCode: newAffiliateCode,
  updateAffiliateCode: { ...at('affiliateCode'), before: giveAffiliateBadge, body: { source_name: 'Another shop' } },
  deleteAffiliateCode: at('affiliateCode'),
  recordConversion: {
    body: async (w) => ({ external_id: slug(), affiliate_code_id: await w.id('affiliateCode'), amount: '12.34' }),
  },

  countDownloads: { body: async (w) => ({ downloads: [await aDownload(w)] }) },
  countDownload: { body: aDownload },

  getBalance: {},
  getPayoutHistory: {},
  distributeRevenue: { body: () => ({ external_id: slug(), day: '2026-01-01', amount: '12.34' }) },
  recordPayout: {
    before: earn,
    body: async (w) => ({ external_id: slug(), user_id: await w.id('owner'), amount: '12.34' }),
  },
  updatePayout: { ...at('payout'), body: { status: 'success' } },

  // Build tools
  getMavenMetadata: { at: { group: () => 'depot', id: 'project', file: () => 'maven-metadata.xml' }, before: makeFile },
  getMavenFile: {
    at: {
      group: () => 'depot',
      id: 'project',
      version: 'version',
      file: async (w) => `${await w.id('project')}-${await w.id('version')}.pom`,
    },
  },
  getUpdateFile: { at: { id: 'project', file: () => 'forge_updates.json' } },

  // The scanner
  getVersionScan: at('version'),
  listVersionScans: {},
  releaseVersion: heldVersion,
  repeatVersionScan: heldVersion,

  // Operators
  listRateLimits: {},
  createRateLimit: { body: () => ({ address_range: nextRange(), requests_per_minute: 600 }) },
  deleteRateLimit: at('grant'),
  listAuditEntries: {},
  getInstance: {},
  listInstanceKeys: {},
  getSettings: {},
  updateSettings: { body: { announcement: 'Maintenance on Monday' } },
  getEditableTags: {},
  updateGames: tagList('games'),
  updateLoaders: tagList('loaders'),
  updateCategories: tagList('categories'),
  updateGameVersions: tagList('game_versions'),
  resetGames: {},
  resetLoaders: {},
  resetCategories: {},
  resetGameVersions: {},
  renameCategories: { body: { from: 'cursed', to: 'odd' }, before: resetTags },
  renameGameVersions: { body: { from: '1.0', to: '1.0.0' }, before: resetTags },
  setMark: icon,
  deleteMark: {},
  listSuspendedUsers: {},
  suspendUser: { ...at('stranger'), body: { reason: 'Advertising in every project' } },
  unsuspendUser: {
    ...at('stranger'),
    body: {},
    before: async (w) =>
      suspendAccount(w.t.deps, SYSTEM, { name: await w.id('stranger'), reason: 'Advertising', until: null }),
  },
  listDeletedUsers: {},
  restoreUser: {
    ...at('stranger'),
    body: {},
    before: async (w) => {
      const { deps } = w.t
      const config = { ...deps.config, accounts: { ...deps.config.accounts, deletionDays: 7 } }
      const account = await getAccount(deps.db, await w.id('stranger'))
      await hideAccount({ ...deps, config }, account, { actor: SYSTEM, byOwner: true })
    },
  },
  listInvitations: {},
  createInvitation: { body: { uses: 2 } },
  revokeInvitation: {
    at: { id: async (w) => (await createInvitation(w.t.deps, SYSTEM, toInvitation({}, w.t.deps.now()))).id },
  },
  signOutUser: { ...at('stranger'), body: {} },
  makePasswordLink: { ...at('stranger'), body: {} },
  exportAuditEntries: {},
  getOverview: {},
  listJobs: {},
  retryJob: { at: { id: failedJob } },
  discardJob: { at: { id: failedJob } },
  retryJobs: { query: { task: 'files.remove' } },
  discardJobs: { query: { task: 'files.remove' } },
  getStorage: {},
  measureStorage: {},
  getOutgoingMail: {},
  sendTestMail: {},
  listServerErrors: {},
  getSearchIndex: {},
  listBackups: {},
  listOwnAuditEntries: {},
}

function jar() {
  return { name: 'file', bytes: modJar(newId()) }
}

export const SAMPLES: Record<string, Sample> = { ...OPERATIONS, ...samplesV2(OPERATIONS) }
