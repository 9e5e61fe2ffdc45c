// Every command there is, in the order in which the usage lists them. What a command needs is loaded when it runs, so
// that help is there at once.
import type { Env } from '#cli/kit/with-deps.ts'
import { withSmallYoungHeap } from '#cli/kit/young-heap.ts'

export type Run = (args: readonly string[], env: Env) => Promise<void>

export type Command = {
  /** One or two words. */
  name: string
  usage: string
  /** One line, as the list of commands shows it. */
  about: string
  /** What `depot help COMMAND` says of each option and word. */
  options?: readonly (readonly [option: string, meaning: string])[]
  load(): Promise<Run>
}

const USER_WORD = ['USER', 'Name or ID of the account'] as const
const PASSWORD_OPTION = [
  '--password',
  'The password; without it, it is typed at the terminal or is the first line of standard input',
] as const
const JSON_OPTION = ['--json', 'Print the result as one line of JSON'] as const

export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    usage: '[--role all|api|worker]',
    about: 'Answer requests and do background work',
    options: [['--role', 'What this process does: all (the default), only requests (api), only jobs (worker)']],
    load: async () => (await import('#cli/server/serve.ts')).serve,
  },
  {
    name: 'migrate',
    usage: '[--json]',
    about: 'Bring the database schema up to date',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/server/operations.ts')).migrateCommand,
  },
  {
    name: 'user create',
    usage: '--username U --email E [--password P] [--role admin|moderator|developer] [--json]',
    about: 'Make an account',
    options: [PASSWORD_OPTION, ['--role', 'What the account may do; developer unless said'], JSON_OPTION],
    load: async () => (await import('#cli/people/accounts.ts')).userCreate,
  },
  {
    name: 'user list',
    usage: '[--find TEXT] [--role admin|moderator|developer] [--limit 100] [--json]',
    about: 'List accounts, the newest first',
    options: [['--find', 'Part of a name or an e-mail address'], JSON_OPTION],
    load: async () => (await import('#cli/people/users.ts')).userList,
  },
  {
    name: 'user show',
    usage: 'USER [--json]',
    about: 'Show an account',
    options: [USER_WORD, JSON_OPTION],
    load: async () => (await import('#cli/people/users.ts')).userShow,
  },
  {
    name: 'user password',
    usage: 'USER [--password P] [--json]',
    about: 'Set the password of an account and end its sessions',
    options: [USER_WORD, PASSWORD_OPTION, JSON_OPTION],
    load: async () => (await import('#cli/people/users.ts')).userPassword,
  },
  {
    name: 'user delete',
    usage: 'USER --yes [--now] [--json]',
    about: 'Delete an account; its projects stay, without an owner',
    options: [
      USER_WORD,
      ['--yes', 'It cannot be undone, or not for long: say that it is meant'],
      ['--now', 'For good, also where ACCOUNT_DELETION_DAYS leaves time to undo it'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/people/users.ts')).userDelete,
  },
  {
    name: 'user restore',
    usage: 'USER [--json]',
    about: 'Undo the deletion of an account, before it is due',
    options: [USER_WORD, JSON_OPTION],
    load: async () => (await import('#cli/people/users.ts')).userRestore,
  },
  {
    name: 'user role',
    usage: 'USER admin|moderator|developer [--json]',
    about: 'Change what an account may do',
    options: [USER_WORD, JSON_OPTION],
    load: async () => (await import('#cli/people/accounts.ts')).userRole,
  },
  {
    name: 'user suspend',
    usage: 'USER --reason TEXT [--for 7d] [--json]',
    about: 'Suspend an account: its sessions end, its tokens do nothing',
    options: [
      ['USER', 'Name or ID of the account'],
      ['--reason', 'What its owner is told, by mail and when they sign in'],
      ['--for', 'After how many days (d), hours (h) or minutes (m) it ends by itself'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/people/administration.ts')).userSuspend,
  },
  {
    name: 'user unsuspend',
    usage: 'USER [--json]',
    about: 'End the suspension of an account',
    options: [['USER', 'Name or ID of the account'], JSON_OPTION],
    load: async () => (await import('#cli/people/administration.ts')).userUnsuspend,
  },
  {
    name: 'user sign-out',
    usage: 'USER [--tokens] [--json]',
    about: 'End all sessions of an account',
    options: [
      ['USER', 'Name or ID of the account'],
      ['--tokens', 'Also its access tokens, and those that applications have for it'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/people/administration.ts')).userSignOut,
  },
  {
    name: 'user password-link',
    usage: 'USER [--json]',
    about: 'Print a link with which the owner of an account sets a new password, once, within a day',
    options: [['USER', 'Name or ID of the account'], JSON_OPTION],
    load: async () => (await import('#cli/people/administration.ts')).userPasswordLink,
  },
  {
    name: 'invitation create',
    usage: '[--uses 1] [--expires 14d] [--email E] [--note TEXT] [--json]',
    about: 'Make an invitation and print the link with its code, once',
    options: [
      ['--uses', 'How many accounts may be made with it'],
      ['--expires', 'After how many days (d), hours (h) or minutes (m) it ends; 366d at most'],
      ['--email', 'The only address it works for'],
      ['--note', 'For operators: whom it is for'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/people/invitations.ts')).invitationCreate,
  },
  {
    name: 'invitation list',
    usage: '[--json]',
    about: 'List invitations, the newest first',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/people/invitations.ts')).invitationList,
  },
  {
    name: 'invitation revoke',
    usage: 'ID [--json]',
    about: 'Revoke an invitation; accounts that were made with it stay',
    options: [['ID', 'The invitation, as `depot invitation list` names it'], JSON_OPTION],
    load: async () => (await import('#cli/people/invitations.ts')).invitationRevoke,
  },
  {
    name: 'token create',
    usage: '--user U --scopes all|NAME,NAME [--expires 90d] [--name N] [--json]',
    about: 'Make a personal access token and print it, once',
    options: [
      ['--scopes', 'What the token may do: names as in the API, or all'],
      ['--expires', 'After how many days (d), hours (h) or minutes (m) it ends; 365d unless said'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/people/accounts.ts')).tokenCreate,
  },
  {
    name: 'token list',
    usage: '--user U [--json]',
    about: 'List the personal access tokens of an account',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/people/tokens.ts')).tokenList,
  },
  {
    name: 'token revoke',
    usage: 'ID --user U [--json]',
    about: 'Revoke a personal access token, at once',
    options: [['ID', 'The token, as `depot token list` names it'], JSON_OPTION],
    load: async () => (await import('#cli/people/tokens.ts')).tokenRevoke,
  },
  {
    name: 'settings get',
    usage: '[NAME] [--json]',
    about: 'Show what can be set while the service runs',
    options: [['NAME', 'One setting; all of them unless said'], JSON_OPTION],
    load: async () => (await import('#cli/server/settings.ts')).settingsGet,
  },
  {
    name: 'settings set',
    usage: 'NAME VALUE|--default [--json]',
    about: 'Set one of them, in every process within a second',
    options: [
      ['NAME', 'name, accent_hue, about, rules, announcement, mark, registration, read_only or read_only_message'],
      ['VALUE', 'Of mark the name of a file: a square PNG, WebP or SVG of at most 262,144 bytes'],
      ['--default', 'Take it back to what the environment says'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/server/settings.ts')).settingsSet,
  },
  {
    name: 'settings list',
    usage: '[--set] [--json]',
    about: 'Show every variable with its value and where that comes from; secrets are not shown',
    options: [['--set', 'Only those that the environment sets'], JSON_OPTION],
    load: async () => (await import('#cli/server/environment.ts')).settingsList,
  },
  {
    name: 'jobs',
    usage: '[--json]',
    about: 'Show what background work waits, runs or has failed',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/server/jobs.ts')).jobsCommand,
  },
  {
    name: 'backup',
    usage: 'FILE|- [--since PREVIOUS] [--json]',
    about: 'Write everything into one archive, also while the server runs',
    options: [
      ['FILE', 'The archive to make, which must not exist yet; - writes it to standard output'],
      ['--since', 'An earlier archive: files that are in it, or in those it was made since, are not copied again'],
      JSON_OPTION,
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/data/backup.ts')).backupCommand),
  },
  {
    name: 'restore',
    usage: 'FILE|- [EARLIER...] [--json]',
    about: 'Fill an empty instance from an archive',
    options: [
      ['FILE', 'The archive that `depot backup` made; - reads it from standard input'],
      ['EARLIER', 'The archives it was made since, if it was made with --since'],
      JSON_OPTION,
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/data/backup.ts')).restoreCommand),
  },
  {
    name: 'verify',
    usage: '[--quick] [--json]',
    about: 'Compare rows, files and events with one another',
    options: [['--quick', 'Compare the sizes of files and not their hashes'], JSON_OPTION],
    load: withSmallYoungHeap(async () => (await import('#cli/data/verify.ts')).verifyCommand),
  },
  {
    name: 'move files',
    usage: '--to SETTINGS [--json]',
    about: 'Copy all files into another store; the old one stays as it is',
    options: [
      ['--to', 'A file in the form of .env with the variables of the new store (S3_BUCKET and so on, or DATA_DIR)'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/data/move.ts')).moveFilesCommand,
  },
  {
    name: 'move analytics',
    usage: '--to SETTINGS [--json]',
    about: 'Copy all events into ClickHouse, while no server runs; the old store stays as it is',
    options: [['--to', 'A file in the form of .env with CLICKHOUSE_URL of a database without events'], JSON_OPTION],
    load: async () => (await import('#cli/data/move.ts')).moveAnalyticsCommand,
  },
  {
    name: 'reindex',
    usage: '[--json]',
    about: 'Build the search index again',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/data/reindex.ts')).reindexCommand,
  },
  {
    name: 'seed',
    usage: '[--projects 200] | --remove --yes [--json]',
    about: 'Fill a demo catalogue, or what is missing of it; or take the demo away',
    options: [
      ['--projects', 'How many projects there are to be'],
      ['--remove', 'Remove what was made, with what the accounts of the demo have made since'],
      ['--yes', 'It cannot be undone: say that it is meant'],
      JSON_OPTION,
    ],
    load: async () => (await import('#cli/data/seed.ts')).seedCommand,
  },
  {
    name: 'check',
    usage: '[--json]',
    about: 'Show the state of everything Depot depends on',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/server/operations.ts')).checkCommand,
  },
  {
    name: 'analytics set-aside',
    usage: '[--json]',
    about: 'Begin an empty analytics file beside one that is damaged',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/data/analytics.ts')).analyticsSetAside,
  },
]

/** The command that arguments begin with, and the arguments after its name; undefined when there is none. */
export function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  const matches = COMMANDS.filter(({ name }) => name.split(' ').every((word, i) => args[i] === word))
  // `settings get` is not `settings` with a word.
  const command = matches.find(({ name }) => name.includes(' ')) ?? matches[0]
  return command && { command, rest: args.slice(command.name.split(' ').length) }
}

/** The list of all commands. */
export function usageOfAll(): string {
  const lines = COMMANDS.map(({ name, usage, about }) => `  ${`${name} ${usage}`.trim()}\n      ${about}`)
  return `Usage: depot COMMAND\n${lines.join('\n')}\n\n\`depot help COMMAND\` says more of one; \`depot --version\` names the version.\n`
}

/** How one command is called, and what its options mean. */
export function usageOf({ name, usage, about, options = [] }: Command): string {
  const width = Math.max(0, ...options.map(([option]) => option.length))
  const lines = options.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}\n`)
  return `Usage: depot ${`${name} ${usage}`.trim()}\n${about}.\n${lines.length === 0 ? '' : `\n${lines.join('')}`}`
}
