// The layers of the code, from the lowest to the highest. A file can import files of its own layer and of lower layers.
// test/system/architecture.test.ts enforces the order, and `npm run gen` writes it into docs/architecture.md.

export type Layer = {
  name: string
  /** Path of the layer's folder, from the root of the repository. */
  folder: string
  /** One sentence for docs/architecture.md, without a period. */
  purpose: string
}

export const LAYERS: readonly Layer[] = [
  { name: 'lib', folder: 'src/lib', purpose: 'Pure functions and tables: errors, IDs, tokens, scopes, permissions' },
  {
    name: 'platform',
    folder: 'src/platform',
    purpose: 'What every service needs: HTTP server, HTML, cache, jobs, database, telemetry, configuration',
  },
  {
    name: 'ports',
    folder: 'src/ports',
    purpose: 'Interfaces to stores and services that operators can replace, with their adapters; the type `Deps`',
  },
  {
    name: 'basics',
    folder: 'src/features/basics',
    purpose: 'What other features build on: access policies, audit log, tags, limits, settings, images',
  },
  {
    name: 'people',
    folder: 'src/features/people',
    purpose: 'Users and their accounts: profiles, sign-in, OAuth, payouts, notifications',
  },
  {
    name: 'catalogue',
    folder: 'src/features/catalogue',
    purpose: 'Projects and versions: publishing, review threads, follows, releases, scans',
  },
  {
    name: 'community',
    folder: 'src/features/community',
    purpose: 'Groups of users and of projects: teams, organizations, collections, reports, moderation',
  },
  {
    name: 'operations',
    folder: 'src/features/operations',
    purpose: 'What works on the whole catalogue: search, downloads, analytics, the v2 API, exports, backups',
  },
  { name: 'web', folder: 'src/web', purpose: 'The web site: pages and forms that call the features' },
  { name: 'main', folder: 'src/main', purpose: 'Opens the ports, lists all routes and jobs, starts the processes' },
  { name: 'demo', folder: 'demo', purpose: 'The demo catalogue that `depot seed` loads' },
  { name: 'cli', folder: 'src/cli', purpose: 'The commands; the only code that reads the environment and arguments' },
]
