// For each field that a create or an edit declares: a value that the thing does not have before, and where its view
// shows it. A new field needs one line here, or a reason under `unseen`.

import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { type FormFile, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { PNG } from './samples.ts'
import type { Role, Thing, World } from './world.ts'

type Made<T> = T | ((world: World) => T | Promise<T>)

export type FieldSample = {
  /** The sent value. */
  send: Made<unknown>
  /** Dotted path of the field in the view. Default: the name of the field. */
  at?: string
  /** The expected value in the view. Default: the sent value. */
  shows?: Made<unknown>
  /** Other fields that the request needs. */
  beside?: Made<Record<string, unknown>>
  /** The sender, if it is not the default user of the operation. */
  by?: Role
  /** Files that come with it, in a form. */
  files?: () => FormFile[]
  /** Another address and view, where the field belongs to another kind of thing. */
  url?: (world: World) => Promise<string>
  view?: Declared['view']
  before?: (world: World) => Promise<unknown>
}

export type Declared = {
  /** The sender and reader. Default: the owner. */
  by?: Role | 'operator'
  /** Reads the thing; `answer` is what a create has answered. */
  view: (read: Reader, world: World, answer: Record<string, unknown>) => unknown
  fields?: Record<string, FieldSample>
  /** Fields that no view shows, each with the reason. */
  unseen?: Record<string, string>
  /** For a create request that is sent as a form: its description and the files of every request. */
  form?: { data: (world: World) => Promise<Record<string, unknown>>; files: () => FormFile[] }
}

/** GET as the person who sent the request. */
export type Reader = (path: string) => Promise<unknown>

/** Fields that confirm the owner of the account. */
const PROOF = { password: 'proves who sends it', code: 'proves who sends it' }

const send = (value: Made<unknown>, more: Omit<FieldSample, 'send'> = {}): FieldSample => ({ send: value, ...more })
const thing = (name: Thing) => (world: World) => world.id(name)
const uniqueName = (): string => `field-${newId().toLowerCase()}`
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

/** The view of the thing that the path names. */
const at =
  (path: string, name: Thing): Declared['view'] =>
  async (read, world) =>
    read(`${path}/${await world.id(name)}`)
/** Returns the view of the created resource. */
const made =
  (path: string): Declared['view'] =>
  (read, _world, { id }) =>
    read(`${path}/${id}`)
/** The entry of a list with this ID. */
const entry =
  (path: string, name?: Thing): Declared['view'] =>
  async (read, world, answer) => {
    const wanted = name === undefined ? answer['id'] : await world.id(name)
    return ((await read(path)) as { id: string }[]).find((each) => each.id === wanted)
  }

const savedReply =
  (name?: Thing): Declared['view'] =>
  async (read, world, answer) => {
    const wanted = name === undefined ? answer['id'] : await world.id(name)
    const { replies } = (await read('/_internal/moderation/replies')) as { replies: { id: string }[] }
    return replies.find(({ id }) => id === wanted)
  }
const savedReplyFields = {
  topic: send('Links'),
  language: send('de'),
  title: send('Remove the link'),
  body: send('Please remove the link.'),
}

const ownUser: Declared['view'] = (read) => read('/v3/user')
/** Returns the response as the view, for resources without a URL. */
const theAnswer: Declared['view'] = (_read, _world, answer) => answer
/** Returns the payout as the owner sees it; an operator writes it. */
const lastPayout: Declared['view'] = async (_read, { t, person }) => {
  const history: { type: string }[] = (await t.as(await person('owner')).get('/v3/payout/history')).json()
  return history.find(({ type }) => type === 'withdrawal')
}

const PICTURE = 'selects the decoder; the view shows the image'
const NAMES = 'names the things that are changed'
const ATTACHED = 'attaches images to the text; attached-images.test.ts covers them'
const ONCE = 'recognises a report that is sent twice'

const LINK = { issues: 'https://example.org/declared' }
const projectTexts = {
  name: send('Another name'),
  summary: send('Another summary of it.'),
  description: send('Another description'),
  license_url: send('https://example.org/license'),
  public_statistics: send(false),
  license_decided: send(false),
  project_type: send('shader', { at: 'project_types.0' }),
  link_urls: send(LINK, { at: 'link_urls.issues.url', shows: LINK.issues }),
}
const publisherFields = {
  issuer: send(({ t }: World) => t.deps.config.ci.issuers[1]?.issuer),
  repository: send(() => `lanterns/${uniqueName()}`),
  repository_id: send('4711'),
  owner_id: send('17'),
  workflow: send('publish.yml'),
  environment: send('release'),
  ref_pattern: send('refs/tags/*'),
  protected_ref_only: send(true),
  called_workflows: send(['lanterns/ci/.github/workflows/publish.yml']),
}
const webhookFields = {
  url: send('https://hooks.example.org/other'),
  format: send('github'),
  events: send(['project.updated']),
  loaders: send(['fabric']),
  game_versions: send(['1.20.1']),
  version_types: send(['beta']),
}
const makeApproved = async ({ t, id }: World) =>
  t.deps.db
    .updateTable('project')
    .set({ approved: new Date() })
    .where('id', '=', await id('project'))
    .execute()
const onlyPicture: Declared['view'] = async (read, world) =>
  ((await read(`/v3/project/${await world.id('project')}`)) as { gallery: unknown[] }).gallery[0]
const memberOf =
  (team: Thing): Declared['view'] =>
  async (read, world) => {
    const member = await world.id('member')
    const members = (await read(`/v3/team/${await world.id(team)}/members`)) as { user: { id: string } }[]
    return members.find(({ user }) => user.id === member)
  }
const jar = (name: string): FormFile => ({ name, bytes: modJar(newId()) })
/** Adds another file to the version and returns its hash. */
const secondFile = async ({ t, id, project }: World): Promise<string> => {
  const version = { id: await id('version') }
  const file = { version, project: await project(), bytes: modJar(newId()), filename: 'other.jar', primary: false }
  return (await t.make.file(file)).sha512
}
const TWO_FILES = { file_parts: ['file', 'second'] }

const DRY_RUN = 'stores nothing; dry-run.test.ts sends it'

export const DECLARED: Record<string, Declared> = {
  // Users and accounts
  updateUser: {
    view: ownUser,
    fields: {
      username: send(uniqueName),
      bio: send('I make lanterns'),
      role: send('moderator', { by: 'admin', view: at('/v3/user', 'owner') }),
      badges: send(128, { by: 'admin', view: at('/v3/user', 'owner') }),
      payout_handle: send('lantern@example.org', { at: 'payout_data.payout_handle' }),
      allow_friend_requests: send(false),
    },
    unseen: { password: 'proves who asks', code: 'proves who asks' },
  },
  updateNotificationSettings: {
    view: async (read, world) => read(`/v3/user/${await world.id('owner')}/notification-settings`),
    fields: {
      email: send({ project_update: true }, { at: 'email.project_update', shows: true }),
    },
  },
  setUserIcon: { view: at('/v3/user', 'owner'), unseen: { ext: PICTURE } },
  createAccount: {
    by: 'admin',
    view: async (read, world) => {
      const newest = await world.t.deps.db
        .selectFrom('account')
        .select('id')
        .orderBy('created', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      return read(`/v3/user/${newest.id}`)
    },
    fields: { username: send(uniqueName), email: send(() => `${uniqueName()}@example.org`) },
    unseen: {
      email_key: 'proves that the user reads the email address',
      password: 'is a secret; sign-up.test.ts signs in with it',
      challenge: 'is the answer to the captcha, and spent',
      invitation: 'is a secret; invitations.test.ts signs up with it',
      account_consent: 'is set by automated programs only, and rejected',
    },
  },
  changePassword: {
    view: at('/v3/user', 'owner'),
    unseen: {
      flow: 'proves that the user reads the email address',
      end_tokens: 'ends tokens, which the view does not list',
      old_password: 'is a secret',
      password: 'proves who sends it',
      code: 'proves who sends it',
      new_password: 'is a secret; password.test.ts signs in with it',
    },
  },
  changeEmail: {
    view: ownUser,
    fields: { email: send(() => `${uniqueName()}@example.org`) },
    unseen: { password: 'proves who asks', code: 'proves who asks' },
  },
  addProjectPublisher: {
    view: theAnswer,
    fields: publisherFields,
    unseen: { password: 'proves who asks', code: 'proves who asks' },
  },
  addOrganizationPublisher: {
    view: theAnswer,
    fields: publisherFields,
    unseen: { password: 'proves who asks', code: 'proves who asks' },
  },
  createAdvisory: {
    view: theAnswer,
    fields: {
      project: send(thing('project'), { at: 'database_specific.project_id' }),
      versions: send(async (w: World) => [await w.id('version')], {
        at: 'database_specific.version_ids',
        beside: async (w) => ({ project: await w.id('project') }),
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
  createWebhook: {
    view: theAnswer,
    fields: {
      ...webhookFields,
      owner: send({ kind: 'instance' }, { by: 'admin', at: 'owner.kind', shows: 'instance' }),
    },
  },
  updateWebhook: { view: at('/v3/webhook', 'webhook'), fields: { ...webhookFields, active: send(false) } },
  createServiceAccount: { view: theAnswer, fields: { username: send(() => uniqueName()) } },
  createServiceToken: {
    view: theAnswer,
    fields: {
      name: send('For a third program'),
      scopes: send(4),
      expires: send(() => inDays(30)),
    },
    unseen: { limits: 'the token is already limited to the organization', ...PROOF },
  },
  createAccessToken: {
    view: entry('/_internal/pat'),
    fields: {
      name: send('For a third program'),
      scopes: send(4),
      expires: send(() => inDays(30)),
      limits: {
        send: { addresses: ['192.0.2.0/24'] },
        shows: { projects: null, organizations: null, addresses: ['192.0.2.0/24'] },
      },
    },
    unseen: PROOF,
  },
  updateAccessToken: {
    view: entry('/_internal/pat', 'pat'),
    fields: { name: send('For a third program'), expires: send(() => inDays(30)) },
    unseen: {
      ...PROOF,
      scopes: 'is refused: other scopes need another token',
      limits: 'is refused, like other scopes',
    },
  },

  // Applications
  updateApplication: {
    view: at('/_internal/oauth/app', 'application'),
    fields: {
      name: send('Map maker'),
      max_scopes: send(2),
      redirect_uris: send(['https://maps.example.org/back'], {
        at: 'redirect_uris.0.uri',
        shows: 'https://maps.example.org/back',
      }),
      url: send('https://maps.example.org'),
      description: send('Makes maps'),
    },
  },
  createApplication: {
    view: made('/_internal/oauth/app'),
    fields: {
      name: send('Map maker'),
      max_scopes: send(2),
      redirect_uris: send(['https://maps.example.org/back'], {
        at: 'redirect_uris.0.uri',
        shows: 'https://maps.example.org/back',
      }),
      url: send('https://maps.example.org'),
      description: send('Makes maps'),
      public_client: send(true),
    },
  },
  setApplicationIcon: { view: at('/_internal/oauth/app', 'application'), unseen: { ext: PICTURE } },

  // Notifications
  markNotificationsRead: { view: at('/v3/notification', 'notification'), unseen: { ids: NAMES } },

  // Moderation
  createSavedReply: {
    by: 'moderator',
    view: savedReply(),
    fields: savedReplyFields,
  },
  updateSavedReply: {
    by: 'moderator',
    view: savedReply('savedReply'),
    fields: savedReplyFields,
  },

  // Projects
  updateProject: {
    view: at('/v3/project', 'project'),
    fields: {
      ...projectTexts,
      categories: send(['technology']),
      additional_categories: send(['storage']),
      license_id: send('Apache-2.0', { at: 'license.id' }),
      license_url: send('https://example.org/license', { at: 'license.url' }),
      slug: send(uniqueName),
      status: send('unlisted'),
      requested_status: send('private'),
      scheduled_at: send(() => inDays(3), {
        beside: { status: 'scheduled', requested_status: 'approved' },
        before: makeApproved,
      }),
      moderation_message: send('Please name the author', {
        by: 'moderator',
        at: 'moderator_message.message',
      }),
      moderation_message_body: send('In the description', {
        by: 'moderator',
        at: 'moderator_message.body',
        beside: { moderation_message: 'Please' },
      }),
      monetization_status: send('demonetized'),
    },
    unseen: {
      seen: 'is what the moderator has seen; changes.test.ts sends it',
      publishing: 'is in the list of trusted publishers; trusted-publishers.test.ts sends it',
      dry_run: DRY_RUN,
    },
  },
  updateProjects: {
    view: at('/v3/project', 'project'),
    fields: {
      categories: send(['technology']),
      add_categories: send(['technology'], { at: 'categories', beside: { categories: [] } }),
      remove_categories: send(['magic'], {
        at: 'categories',
        beside: { categories: ['magic', 'mobs'] },
        shows: ['mobs'],
      }),
      additional_categories: send(['storage']),
      add_additional_categories: send(['storage'], {
        at: 'additional_categories',
        beside: { additional_categories: [] },
      }),
      remove_additional_categories: send(['magic'], {
        at: 'additional_categories',
        beside: { additional_categories: ['magic', 'mobs'] },
        shows: ['mobs'],
      }),
      link_urls: projectTexts.link_urls,
    },
    unseen: { ids: NAMES, dry_run: DRY_RUN },
  },
  setProjectIcon: { view: at('/v3/project', 'project'), unseen: { ext: PICTURE } },
  updateGalleryPicture: {
    view: onlyPicture,
    fields: {
      name: send('At dusk'),
      title: send('At dawn', { beside: { name: undefined } }),
      description: send('A lantern on a hill'),
      featured: send(true),
      ordering: send(7),
    },
    unseen: { url: 'identifies the image' },
  },
  createProject: {
    view: made('/v3/project'),
    form: { data: async () => projectData(uniqueName()), files: () => [] },
    fields: {
      ...projectTexts,
      slug: send(uniqueName),
      categories: send(['technology']),
      additional_categories: send(['storage']),
      license_id: send('Apache-2.0', { at: 'license.id' }),
      license_url: send('https://example.org/license', { at: 'license.url' }),
      is_draft: send(false, {
        at: 'status',
        shows: 'processing',
        beside: { initial_versions: [versionData()] },
        files: () => [jar('file')],
      }),
      initial_versions: send([versionData()], {
        at: 'length',
        shows: 1,
        files: () => [jar('file')],
        // The project lists its versions when the scanner has passed them.
        view: async (read, { t }, { id }) => {
          const made = t.deps.db.selectFrom('version').select('id').where('project_id', '=', String(id))
          return Promise.all((await made.execute()).map((version) => read(`/v3/version/${version.id}`)))
        },
      }),
      gallery_items: send([{ item: 'shot', featured: true, name: 'At dusk' }], {
        at: 'gallery.0.name',
        shows: 'At dusk',
        files: () => [{ name: 'shot', filename: 'shot.png', bytes: PNG }],
      }),
      requested_status: send('unlisted'),
      organization_id: send(thing('organization')),
    },
    unseen: {
      dry_run: DRY_RUN,
      uploaded_images: ATTACHED,
    },
  },

  // Versions
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
        beside: TWO_FILES,
        files: () => [jar('second')],
      }),
      file_types: send({ file: 'unknown' }, { at: 'files.0.file_type', shows: 'unknown' }),
      status: send('draft'),
      ordering: send(4),
    },
    unseen: {
      dry_run: DRY_RUN,
      uploaded_images: ATTACHED,
    },
  },
  updateVersions: {
    view: at('/v3/version', 'version'),
    fields: {
      status: send('unlisted'),
      featured: send(true),
      version_type: send('alpha'),
      ordering: send(4),
    },
    unseen: { ids: NAMES, dry_run: DRY_RUN },
  },
  updateVersion: {
    view: at('/v3/version', 'version'),
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
      scheduled_at: send(() => inDays(3), { beside: { status: 'scheduled', requested_status: 'listed' } }),
      ordering: send(4),
      downloads: send(77, { by: 'moderator' }),
      withdrawn: send({ kind: 'broken', reason: 'Goes out' }, { at: 'withdrawn.reason', shows: 'Goes out' }),
      primary_file: send(secondFile, { at: 'files.0.hashes.sha512' }),
      file_types: send(
        async (w: World) => [{ algorithm: 'sha512', hash: await w.id('fileHash'), file_type: 'signature' }],
        {
          at: 'files.0.file_type',
          shows: 'signature',
        },
      ),
    },
    unseen: { dry_run: DRY_RUN },
  },

  // Images in texts: the response is the only view.
  createImage: {
    view: theAnswer,
    fields: {
      context: send('version', { beside: { project_id: undefined } }),
      project_id: send(thing('project')),
      version_id: send(thing('version'), { beside: { context: 'version', project_id: undefined } }),
      report_id: send(thing('report'), { beside: { context: 'report', project_id: undefined } }),
      thread_message_id: send(thing('message'), { beside: { context: 'thread_message', project_id: undefined } }),
    },
    unseen: { ext: PICTURE },
  },

  // Teams and organizations
  updateTeamMember: {
    view: memberOf('team'),
    fields: {
      role: send('Artist'),
      permissions: send(4),
      payouts_split: send(50),
      ordering: send(3),
      organization_permissions: send(2, {
        url: async (w: World) => `/v3/team/${await w.id('organizationTeam')}/members/${await w.id('member')}`,
        view: memberOf('organizationTeam'),
      }),
    },
  },
  updateTeamMembers: {
    view: memberOf('team'),
    fields: {
      members: send(async (w: World) => [{ user_id: await w.id('member'), role: 'Artist' }], {
        at: 'role',
        shows: 'Artist',
      }),
    },
  },
  transferTeamOwnership: {
    view: async (read, world) => {
      const members = (await read(`/v3/team/${await world.id('team')}/members`)) as {
        is_owner: boolean
        user: { id: string }
      }[]
      return { owner: members.find(({ is_owner }) => is_owner)?.user.id }
    },
    fields: { user_id: send(thing('member'), { at: 'owner' }) },
  },
  updateOrganization: {
    view: at('/v3/organization', 'organization'),
    fields: { slug: send(uniqueName), name: send('Lamp makers'), description: send('We make lamps') },
  },
  createOrganization: {
    view: made('/v3/organization'),
    fields: { slug: send(uniqueName), name: send('Lamp makers'), description: send('We make lamps') },
  },
  setOrganizationIcon: { view: at('/v3/organization', 'organization'), unseen: { ext: PICTURE } },

  // Collections
  updateCollection: {
    view: at('/v3/collection', 'collection'),
    fields: {
      name: send('Lamps'),
      description: send('Lights to carry'),
      status: send('unlisted'),
      new_projects: send(async (w: World) => [await w.id('project')], {
        at: 'projects.0',
        shows: thing('project'),
      }),
    },
  },
  createCollection: {
    view: made('/v3/collection'),
    fields: {
      name: send('Lamps'),
      description: send('Lights to carry'),
      projects: send(async (w: World) => [await w.id('project')]),
    },
  },
  setCollectionIcon: { view: at('/v3/collection', 'collection'), unseen: { ext: PICTURE } },

  // Locks
  createLock: {
    view: theAnswer,
    fields: {
      versions: send(async (w: World) => [await w.id('version')], {
        at: 'chosen.0.version_id',
        shows: (w: World) => w.id('version'),
      }),
      loaders: send(['forge']),
      game_versions: send(['1.20.1']),
      name: send('Evening'),
      version: send('2.0.0'),
      loader_version: send('0.15.11', { beside: { loaders: ['fabric'] } }),
    },
  },

  // Reports
  updateReport: {
    by: 'moderator',
    view: at('/v3/report', 'report'),
    fields: {
      body: send('Another reason'),
      closed: send(true),
      outcome: send('action', { beside: { closed: true } }),
    },
  },
  createReport: {
    view: made('/v3/report'),
    fields: {
      report_type: send('malicious'),
      item_id: send(thing('stranger'), { beside: { item_type: 'user' } }),
      item_type: send('user', { beside: async (w: World) => ({ item_id: await w.id('stranger') }) }),
      body: send('Another reason'),
    },
    unseen: { uploaded_images: ATTACHED },
  },

  // Money
  createAffiliateCode: {
    view: made('/_internal/affiliate'),
    fields: {
      source_name: send('Another shop'),
      affiliate: send(thing('stranger'), { by: 'admin' }),
      revenue_split: send('0.250000', { by: 'admin' }),
    },
  },
  updateAffiliateCode: {
    view: at('/_internal/affiliate', 'affiliateCode'),
    fields: { source_name: send('Another shop'), revenue_split: send('0.250000', { by: 'admin' }) },
  },
  recordConversion: {
    by: 'operator',
    view: theAnswer,
    fields: {
      affiliate_code_id: send(thing('affiliateCode')),
      at: send(() => inDays(-1)),
      amount: send('99.00'),
    },
    unseen: { external_id: ONCE },
  },
  distributeRevenue: {
    by: 'operator',
    view: theAnswer,
    fields: { day: send('2026-02-02'), amount: send('99.00') },
    unseen: { external_id: ONCE },
  },
  recordPayout: {
    by: 'operator',
    view: theAnswer,
    fields: {
      user_id: send(thing('owner')),
      amount: send('7.00'),
      fee: send('0.50'),
      status: send('in-transit'),
    },
    unseen: { external_id: ONCE },
  },
  makePasswordLink: { view: theAnswer, unseen: { password: 'proves who asks', code: 'proves who asks' } },
  updatePayout: { by: 'operator', view: lastPayout, fields: { status: send('success') } },
  setMark: { by: 'operator', view: (read) => read('/_internal/instance'), unseen: { ext: PICTURE } },
  updateSettings: {
    by: 'operator',
    view: (read) => read('/_internal/admin/settings'),
    fields: {
      name: send('Our lanterns'),
      accent_hue: send(210),
      home_heading: send('Lanterns for everyone'),
      home_text: send('Made by the people of the harbour'),
      home_sections: send(['trending', 'releases']),
      about: send('About our work'),
      rules: send('Our rules'),
      announcement: send('Maintenance on Sunday'),
      announcement_start: send('2026-01-02T03:04:05.000Z'),
      announcement_end: send('2056-01-02T03:04:05.000Z'),
      currency: send('EUR'),
      read_only_message: send('Back in an hour'),
    },
    unseen: {
      registration: 'would close sign-up for the other operations; settings.test.ts has it',
      read_only: 'would refuse the other operations; read-only.test.ts has it',
    },
  },
  createInvitation: {
    by: 'operator',
    view: entry('/_internal/admin/invitations'),
    fields: {
      uses: send(7),
      expires: send(() => new Date(Date.now() + 86_400_000).toISOString()),
      email: send('mira@example.org'),
      note: send('For the translators'),
    },
  },
  createRateLimit: {
    by: 'operator',
    view: entry('/_internal/admin/rate-limits'),
    fields: {
      token_id: send(thing('pat'), { beside: { address_range: undefined } }),
      address_range: send('198.51.100.0/24'),
      requests_per_minute: send(900),
      note: send('For a mirror'),
    },
  },
}
