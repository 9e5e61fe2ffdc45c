// Every command there is, in the order in which the usage lists them.
import { tokenCreate, userCreate, userRole } from './accounts.ts'
import { analyticsSetAside } from './analytics.ts'
import { checkCommand, migrateCommand } from './operations.ts'
import { reindexCommand } from './reindex.ts'
import { seedCommand } from './seed.ts'
import { serve } from './serve.ts'
import type { Env } from './with-deps.ts'

export type Command = {
  /** One or two words. */
  name: string
  usage: string
  about: string
  run(args: readonly string[], env: Env): Promise<void>
}

export const COMMANDS: readonly Command[] = [
  { name: 'serve', usage: '[--role all|api|worker]', about: 'Answer requests and do background work', run: serve },
  { name: 'migrate', usage: '[--json]', about: 'Bring the database schema up to date', run: migrateCommand },
  {
    name: 'user create',
    usage: '--username U --email E --password P [--role admin|moderator|developer] [--json]',
    about: 'Make an account',
    run: userCreate,
  },
  {
    name: 'user role',
    usage: 'USER admin|moderator|developer [--json]',
    about: 'Change what an account may do',
    run: userRole,
  },
  {
    name: 'token create',
    usage: '--user U --scopes all|NAME,NAME [--expires 90d] [--name N] [--json]',
    about: 'Make a personal access token and print it, once',
    run: tokenCreate,
  },
  { name: 'reindex', usage: '[--json]', about: 'Build the search index anew', run: reindexCommand },
  {
    name: 'seed',
    usage: '[--projects 200] [--json]',
    about: 'Fill a demo catalogue, or what is missing of it',
    run: seedCommand,
  },
  {
    name: 'analytics set-aside',
    usage: '[--json]',
    about: 'Begin an empty analytics file beside one that is damaged',
    run: analyticsSetAside,
  },
  { name: 'check', usage: '[--json]', about: 'Show the state of everything Depot leans on', run: checkCommand },
]
