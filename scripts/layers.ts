// The layers of the code and their parts, from the lowest to the highest. A file can import files of the same layer and
// of lower layers. The architecture test enforces this order, and `npm run gen` writes it into docs/contributors/architecture.md.

export type Layer = {
  name: string
  /** Path of the layer's folder, from the root of the repository. */
  folder: string
  /** One sentence without a period. */
  purpose: string
  /** The folders inside, with their purpose. A link to a page of docs/ can follow the purpose. */
  parts?: Readonly<Record<string, string>>
}

export const LAYERS: readonly Layer[] = [
  { name: 'lib', folder: 'src/lib', purpose: 'Pure functions and tables: errors, IDs, tokens' },
  {
    name: 'platform',
    folder: 'src/platform',
    purpose: 'Basics of any web service',
    parts: {
      archives: 'Reads uploaded archives and rejects harmful ones',
      cache: 'The entity cache and transactions that invalidate it ([caching.md](caching.md))',
      config: 'Reads the settings and reports every error in them',
      db: 'Connections, migrations, row types, and the meaning of database errors',
      'embedded-postgres': 'Starts and stops the embedded PostgreSQL',
      http: 'The HTTP server: rate limits, errors, ETags, OpenAPI, the fast path',
      images: 'Reads, scales and draws images',
      jobs: 'The job queue, its worker and the schedule',
      outgoing: 'Calls to URLs that users supply, and to services that the operator has configured',
      telemetry: 'Logs, metrics, traces and business events ([logging.md](logging.md))',
    },
  },
  {
    name: 'taxonomy',
    folder: 'src/taxonomy',
    purpose: 'Games, loaders, categories, licences and file rules from data files; the statuses of projects',
  },
  {
    name: 'ports',
    folder: 'src/ports',
    purpose: 'Interfaces to stores and services that operators can replace, with their adapters; the type `Deps`',
    parts: {
      'analytics-store': 'Stores events and counts them: DuckDB or ClickHouse',
      counters: 'Counts for limits: in memory or Redis',
      files: 'Stores files: a folder or S3',
      mail: 'Sends email: SMTP or a folder',
      scanner: 'Scans uploaded files: a program or a web service',
      'search-index': 'Searches projects: the embedded index or OpenSearch; the feed that keeps the index current',
    },
  },
  {
    name: 'basics',
    folder: 'src/features/basics',
    purpose: 'Basics for other features',
    parts: {
      access: 'Scopes, memberships, permissions and visibility of projects ([people.md](../api/people.md))',
      authentication: 'Identifies callers by their tokens and checks what routes require of them',
      audit: 'The audit log: recording, reading, export and retention ([security.md](../operators/security.md))',
      'content-images': 'Images inside texts ([moderation.md](../api/moderation.md))',
      discovery: 'The description of the instance for programs, and its client ([launchers.md](../api/launchers.md))',
      events: 'Events of the catalogue, which webhooks receive ([webhooks.md](../api/webhooks.md))',
      'external-images':
        'Images of other hosts in texts: fetched, cached, blocked ([operating.md](../operators/operating.md#images-of-other-hosts))',
      images: 'Icons and gallery images of any feature',
      'instance-key':
        'The keys with which the instance signs; encryption of stored secrets ([instance-key.md](../api/instance-key.md))',
      limits: 'How many projects, organizations and collections an account can own',
      mail: 'Sends an email and records the response of the mail server',
      meta: 'Root document, health, readiness, metrics, retired API versions',
      'previous-names': 'Names that projects, organizations and accounts had before ([site.md](site.md#addresses))',
      'rate-limits': 'Request rates that operators grant',
      settings:
        'Settings that operators change while Depot runs; read-only mode ([operating.md](../operators/operating.md#settings))',
      'stored-forms': 'Forms that were sent after the session had expired ([site.md](site.md))',
      statistics:
        'Number of projects, versions, files and authors ([decision 0020](../decisions/storage/0020-catalogue-counts.md))',
      tags: 'Games, loaders, categories, loader fields and licences in the API',
    },
  },
  {
    name: 'people',
    folder: 'src/features/people',
    purpose: 'Users and their accounts',
    parts: {
      accounts: 'Sign-up, sign-in, sessions, passwords, access tokens ([accounts.md](../api/accounts.md))',
      affiliates: 'Affiliate codes and their earnings ([money.md](../api/money.md))',
      notifications: 'Notifications in lists and by email ([people.md](../api/people.md))',
      oauth: 'The OAuth provider: applications, consent, tokens ([oauth.md](../api/oauth.md))',
      payouts: 'Revenue, balances and the ledger ([money.md](../api/money.md))',
      revocation:
        'The list of everything that acts for accounts, and its end ([security.md](../operators/security.md#access-ends-with-trust))',
      users: 'Profiles and the resources that a user owns ([people.md](../api/people.md))',
    },
  },
  {
    name: 'catalogue',
    folder: 'src/features/catalogue',
    purpose: 'Projects and versions',
    parts: {
      contents:
        'Ownership of the content of files by projects ([decision 0011](../decisions/storage/0011-content-belongs-to-one-project.md))',
      'dry-run': 'Checks of a request that store nothing ([uploads.md](../api/uploads.md))',
      follows: 'Following projects; notifying followers ([people.md](../api/people.md))',
      projects: 'Reading and changing projects, their gallery and their status',
      publishing: 'Creating a project with its first versions',
      breakage: 'Finding broken dependencies and notifying members ([withdrawal.md](../publishers/withdrawal.md))',
      releases: 'Publishing scheduled projects and versions at their time',
      resolve: 'Choosing versions for a list of projects; locks and packs ([resolve.md](../api/resolve.md))',
      reviews: 'Snapshots and decisions of moderators ([moderation.md](../api/moderation.md))',
      scans: 'Holding versions back until their files are scanned ([scanner.md](../operators/engines/scanner.md))',
      threads: 'Conversations with moderators ([moderation.md](../api/moderation.md))',
      versions:
        'Publishing versions, their drafts ([publishing.md](../publishers/publishing.md)), files, dependencies, hash lookups and update checks; advisories ([advisories.md](../publishers/advisories.md))',
    },
  },
  {
    name: 'community',
    folder: 'src/features/community',
    purpose: 'Groups of users and groups of projects',
    parts: {
      attention: 'Items that need the attention of a publisher ([moderation.md](../api/moderation.md))',
      collections: 'Lists of projects that users make ([people.md](../api/people.md))',
      members: 'Members of a project, of a team, of several teams ([walkthrough](../api/manage-a-team.md))',
      moderation: 'The review queue ([moderation.md](../api/moderation.md))',
      organizations: 'Organizations that own projects ([walkthrough](../api/manage-a-team.md))',
      packs: 'Saved packs with numbered saves ([resolve.md](../api/resolve.md#packs))',
      'personal-data': 'Exports and deletes what is stored about a user',
      reports: 'Reports about projects, versions and users ([moderation.md](../api/moderation.md))',
      'service-accounts': 'Accounts of organizations with which nobody signs in ([tokens.md](../api/tokens.md))',
      teams: 'Teams of projects and organizations ([walkthrough](../api/manage-a-team.md))',
      'trusted-publishers':
        'Builds that publish without a stored secret ([trusted-publishing.md](../publishers/trusted-publishing.md))',
    },
  },
  {
    name: 'reading',
    folder: 'src/features/reading',
    purpose: 'Searching and counting the whole catalogue',
    parts: {
      analytics: 'Collects and counts views, downloads and playtime ([analytics.md](../api/analytics.md))',
      changes: 'The change feed of the public catalogue ([changes.md](../api/changes.md))',
      downloads: 'Sends files and counts downloads ([analytics.md](../api/analytics.md))',
      search: 'Search requests and facets ([search.md](search.md))',
    },
  },
  {
    name: 'compat',
    folder: 'src/features/compat',
    purpose: 'The same catalogue for programs that speak another protocol',
    parts: {
      'build-tools': 'Endpoints for build tools and loaders: Maven and update files',
      v2: 'The v2 API: other requests and responses over the same queries, policies and caches ([v2.md](../api/v2.md))',
    },
  },
  {
    name: 'exchange',
    folder: 'src/features/exchange',
    purpose: 'Projects and events that come from other services or go to them',
    parts: {
      'catalogue-export': 'Writes the public catalogue to a signed file ([mirrors.md](../operators/mirrors.md))',
      mirror: 'Copies projects of other instances ([mirrors.md](../operators/mirrors.md))',
      import: 'Checks, and the writer of versions, for all imports of foreign projects',
      'pack-import': 'Creates a project from a pack ([mirrors.md](../operators/mirrors.md))',
      'project-folder': 'Exports and imports one project as a folder ([mirrors.md](../operators/mirrors.md))',
      webhooks: 'Addresses that receive events, and the dispatcher ([webhooks.md](../api/webhooks.md))',
    },
  },
  {
    name: 'operation',
    folder: 'src/features/operation',
    purpose: 'Running an instance',
    parts: {
      backup: 'Writes, restores and verifies backups; moves stores ([operating.md](../operators/operating.md))',
      clean:
        'Deletes expired uploads and drafts, unused files and old audit entries ([operating.md](../operators/operating.md#find-and-correct-faults))',
      doctor:
        'Finds and corrects faults of an instance ([operating.md](../operators/operating.md#find-and-correct-faults))',
      overview: 'The state of the instance for operators: problems, figures, jobs, storage, email, errors',
    },
  },
  { name: 'demo', folder: 'demo', purpose: 'The demo catalogue that `depot seed` loads' },
  {
    name: 'web',
    folder: 'src/web',
    purpose: 'The web site: pages and forms that call the features',
    parts: {
      ui: 'Draws pages: template tag, layout, fields, tables, plots, Markdown, messages ([site.md](site.md))',
      kit: 'Handles the requests of pages: session, page cache, forms, errors, paths ([site.md](site.md))',
      account: 'Sign-in, consent and settings ([pages.md](pages.md))',
      site: 'The public pages: home, lists, projects, people ([site.md](site.md))',
      reference: 'The reference of the API, from its description',
      publish: 'Pages for publishers ([site.md](site.md))',
      moderate: 'Pages for moderators ([site.md](site.md))',
      operate: 'Pages for operators ([administration.md](../operators/administration.md))',
    },
  },
  { name: 'main', folder: 'src/main', purpose: 'Opens the ports, lists all routes and jobs, starts the processes' },
  { name: 'cli', folder: 'src/cli', purpose: 'The commands; the only code that reads the environment and arguments' },
]
