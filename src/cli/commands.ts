// The table of all commands, in the order of the usage. A command loads its code when it runs, so that help is fast.
import { DATA_COMMANDS } from '#cli/data/data-commands.ts'
import { EXCHANGE_COMMANDS } from '#cli/data/exchange-commands.ts'
import { type Command, DRY_RUN_OPTION } from '#cli/kit/command.ts'
import { withSmallYoungHeap } from '#cli/kit/young-heap.ts'

const USER = ['USER', 'Name or ID of the account'] as const
const PASSWORD_OPTION = [
  '--password',
  'Password (default: typed at the terminal, or the first line of standard input)',
] as const
const RANDOM_PASSWORD_OPTION = [
  '--random-password',
  'Generate and print a temporary password; the user must choose another one at the first sign-in',
] as const
export const JSON_OPTION = ['--json', 'Whether to print the result as one line of JSON'] as const

const SERVE: Command = {
  name: 'serve',
  usage: '[--role all|api|worker]',
  about: 'Handle HTTP requests and run background jobs',
  options: [['--role', 'Role of this process: all, api (requests only) or worker (jobs only); default: all']],
  load: async () => (await import('#cli/server/serve.ts')).serve,
}

/** Commands that print a result. Each has the option `--json`. */
const WITH_RESULT: readonly Command[] = [
  {
    name: 'migrate',
    usage: '[--dry-run]',
    about: 'Update the database schema',
    options: [['--dry-run', 'List the pending migrations and the space that they need, and change nothing']],
    load: async () => (await import('#cli/server/operations.ts')).migrateCommand,
  },
  {
    name: 'user create',
    usage: '--username U --email E [--password P | --random-password] [--role admin|moderator|developer]',
    about: 'Create an account',
    options: [PASSWORD_OPTION, RANDOM_PASSWORD_OPTION, ['--role', 'Role of the account (default: developer)']],
    load: async () => (await import('#cli/people/accounts.ts')).userCreate,
  },
  {
    name: 'user list',
    usage: '[--find TEXT] [--role admin|moderator|developer] [--suspended] [--limit 100]',
    about: 'List accounts, newest first',
    options: [
      ['--find', 'Part of a name or an email address'],
      ['--role', 'Role of the accounts (default: all)'],
      ['--suspended', 'Show only suspended accounts'],
      ['--limit', 'Maximum number of accounts (default: 100)'],
    ],
    load: async () => (await import('#cli/people/users.ts')).userList,
  },
  {
    name: 'user show',
    usage: 'USER',
    about: 'Show an account',
    options: [USER],
    load: async () => (await import('#cli/people/users.ts')).userShow,
  },
  {
    name: 'user password',
    usage: 'USER [--password P | --random-password]',
    about: 'Set the password of an account and end its sessions and tokens',
    options: [USER, PASSWORD_OPTION, RANDOM_PASSWORD_OPTION],
    load: async () => (await import('#cli/people/users.ts')).userPassword,
  },
  {
    name: 'user delete',
    usage: 'USER --yes|--dry-run [--now]',
    about: 'Delete an account; its projects go to the placeholder account',
    options: [
      USER,
      ['--yes', 'Confirmation, because deleting cannot be undone, or only for a limited time'],
      ['--now', 'Delete permanently, even if ACCOUNT_DELETION_DAYS is set'],
      DRY_RUN_OPTION,
    ],
    load: async () => (await import('#cli/people/users.ts')).userDelete,
  },
  {
    name: 'user restore',
    usage: 'USER',
    about: 'Undo a pending deletion of an account',
    options: [USER],
    load: async () => (await import('#cli/people/users.ts')).userRestore,
  },
  {
    name: 'user role',
    usage: 'USER admin|moderator|developer',
    about: 'Change the role of an account',
    options: [USER],
    load: async () => (await import('#cli/people/accounts.ts')).userRole,
  },
  {
    name: 'user suspend',
    usage: 'USER --reason TEXT [--for 7d]',
    about: 'Suspend an account: end its sessions and disable its tokens',
    options: [
      USER,
      ['--reason', 'Reason, which the user receives by email and sees when they sign in'],
      ['--for', 'Duration, such as 7d, 12h or 30m (default: until lifted)'],
    ],
    load: async () => (await import('#cli/people/administration.ts')).userSuspend,
  },
  {
    name: 'user unsuspend',
    usage: 'USER',
    about: 'End the suspension of an account',
    options: [USER],
    load: async () => (await import('#cli/people/administration.ts')).userUnsuspend,
  },
  {
    name: 'user sign-out',
    usage: 'USER [--tokens] [--dry-run]',
    about: 'End all sessions of an account',
    options: [
      USER,
      ['--tokens', 'Whether to delete its access tokens and the tokens of applications as well'],
      DRY_RUN_OPTION,
    ],
    load: async () => (await import('#cli/people/administration.ts')).userSignOut,
  },
  {
    name: 'user password-link',
    usage: 'USER',
    about: 'Print a link that sets a new password; it works once, for one day',
    options: [USER],
    load: async () => (await import('#cli/people/administration.ts')).userPasswordLink,
  },
  {
    name: 'user two-factor-reset',
    usage: 'USER --reason TEXT',
    about: 'Turn off two-factor sign-in of a user who has lost the device and the backup codes',
    options: [USER, ['--reason', 'Reason for the audit log']],
    load: async () => (await import('#cli/people/administration.ts')).userTwoFactorReset,
  },
  {
    name: 'user email',
    usage: 'USER EMAIL [--verified]',
    about: 'Set the email address of an account, or state that it is verified',
    options: [
      USER,
      ['EMAIL', 'The new or the present email address'],
      ['--verified', 'Whether the address is known to be that of the user; otherwise it receives a link'],
    ],
    load: async () => (await import('#cli/people/administration.ts')).userEmail,
  },
  {
    name: 'user rename',
    usage: 'USER NAME',
    about: 'Change the name of an account; the former name stays reserved for 30 days',
    options: [USER, ['NAME', 'The new name']],
    load: async () => (await import('#cli/people/administration.ts')).userRename,
  },
  {
    name: 'user limits',
    usage: 'USER [--projects N] [--organizations N] [--collections N]',
    about: 'Show or set the limits of an account, and show what it has stored',
    options: [
      USER,
      ['--projects', 'Maximum number of projects; default for the limit of the instance'],
      ['--organizations', 'Maximum number of organizations; default for the limit of the instance'],
      ['--collections', 'Maximum number of collections; default for the limit of the instance'],
    ],
    load: async () => (await import('#cli/people/administration.ts')).userLimits,
  },
  {
    name: 'user sessions',
    usage: 'USER [--end ID]',
    about: 'List the sessions of an account, or end one of them',
    options: [USER, ['--end', 'ID of the session to end']],
    load: async () => (await import('#cli/people/administration.ts')).userSessions,
  },
  {
    name: 'user export',
    usage: 'USER [FILE|-]',
    about: 'Write all data that is stored about a user as JSON, without passwords and other secrets',
    options: [USER, ['FILE', 'New file, which only its owner can read; - for standard output (default: -)']],
    load: async () => (await import('#cli/people/user-export.ts')).userExport,
  },
  {
    name: 'audit list',
    usage: '[--find TEXT] [--action NAME] [--actor USER] [--user USER] [--since TIME] [--until TIME] [--limit 100]',
    about: 'List the entries of the audit log, newest first',
    options: [
      ['--find', 'Part of the action, details, ID, IP address or of a current username, in any case'],
      ['--action', 'Action of the entries, such as account.suspended (default: all)'],
      ['--actor', 'Name or ID of the account that acted'],
      ['--user', 'Name or ID of an account that acted or that the entry is about'],
      ['--since', 'Earliest date or time, such as 2026-11-01 or 2026-11-01T12:00:00Z'],
      ['--until', 'Date or time after the last entry'],
      ['--limit', 'Maximum number of entries (default: 100)'],
    ],
    load: async () => (await import('#cli/people/audit.ts')).auditList,
  },
  {
    name: 'invitation create',
    usage: '[--uses 1] [--expires 14d] [--email E] [--note TEXT]',
    about: 'Create an invitation and print its link, which is not shown again',
    options: [
      ['--uses', 'Number of accounts that can use it (default: 1)'],
      ['--expires', 'Lifetime, such as 14d, 12h or 30m, at most 366d (default: 14d)'],
      ['--email', 'The only email address that can use it (default: any)'],
      ['--note', 'Note for operators'],
    ],
    load: async () => (await import('#cli/people/invitations.ts')).invitationCreate,
  },
  {
    name: 'invitation list',
    about: 'List invitations, newest first',
    load: async () => (await import('#cli/people/invitations.ts')).invitationList,
  },
  {
    name: 'invitation revoke',
    usage: 'ID [--dry-run]',
    about: 'Revoke an invitation; accounts that used it remain',
    options: [['ID', 'ID of the invitation, from `depot invitation list`'], DRY_RUN_OPTION],
    load: async () => (await import('#cli/people/invitations.ts')).invitationRevoke,
  },
  {
    name: 'token create',
    usage: '--user U --scopes all|NAME,NAME [--expires 90d] [--name N]',
    about: 'Create a personal access token and print it; it is not shown again',
    options: [
      ['--scopes', 'Scopes of the token: names from the API, separated by commas, or all'],
      ['--expires', 'Lifetime, such as 90d, 12h or 30m (default: 365d)'],
    ],
    load: async () => (await import('#cli/people/accounts.ts')).tokenCreate,
  },
  {
    name: 'token list',
    usage: '--user U',
    about: 'List the personal access tokens of an account',
    load: async () => (await import('#cli/people/tokens.ts')).tokenList,
  },
  {
    name: 'token revoke',
    usage: 'ID --user U [--dry-run]',
    about: 'Revoke a personal access token immediately',
    options: [['ID', 'ID of the token, from `depot token list`'], DRY_RUN_OPTION],
    load: async () => (await import('#cli/people/tokens.ts')).tokenRevoke,
  },
  {
    name: 'settings get',
    usage: '[NAME]',
    about: 'Show the settings that can change while Depot runs',
    options: [['NAME', 'Name of a setting (default: all)']],
    load: async () => (await import('#cli/server/settings.ts')).settingsGet,
  },
  {
    name: 'settings set',
    usage: 'NAME VALUE|--default',
    about: 'Change a setting, in every process within one second',
    options: [
      [
        'NAME',
        'name, accent_hue, home_heading, home_text, home_sections, about, rules, footer_links, announcement, announcement_severity, announcement_link, announcement_start, announcement_end, currency, mark, registration, require_staff_two_factor, read_only or read_only_message',
      ],
      [
        'VALUE',
        'New value; for read_only and require_staff_two_factor, on or off; for footer_links, JSON; for mark, a file name: a square PNG, WebP or SVG of at most 256 KiB',
      ],
      ['--default', 'Reset the setting to its value from the environment'],
    ],
    load: async () => (await import('#cli/server/settings.ts')).settingsSet,
  },
  {
    name: 'settings list',
    usage: '[--set]',
    about: 'Show every environment variable with its value and source; secrets are hidden',
    options: [['--set', 'Show only variables that the environment or the settings file sets']],
    load: async () => (await import('#cli/server/environment.ts')).settingsList,
  },
  {
    name: 'jobs',
    about: 'Show pending, running and failed background jobs',
    load: async () => (await import('#cli/server/jobs.ts')).jobsCommand,
  },
  ...DATA_COMMANDS,
  ...EXCHANGE_COMMANDS,
  {
    name: 'doctor',
    usage: '[--fix] [--full]',
    about: 'Find faults of the settings, the machine, the database, the files and the services, and correct them',
    options: [
      ['--fix', 'Correct what can be corrected while Depot serves'],
      ['--full', 'Compare the hash of every file, not only its size'],
    ],
    reportsSettings: true,
    load: withSmallYoungHeap(async () => (await import('#cli/doctor/doctor.ts')).doctor),
  },
  {
    name: 'storage',
    usage: '[--measure]',
    about: 'Show the storage by kind and project, its growth, and when the disk will be full',
    options: [['--measure', 'Measure now (default: the last daily measurement)']],
    load: async () => (await import('#cli/data/storage.ts')).storageCommand,
  },
  {
    name: 'clean',
    usage: '[--dry-run]',
    about: 'Delete expired uploads and drafts, files that belong to nothing, and old entries of the audit log',
    options: [DRY_RUN_OPTION],
    load: async () => (await import('#cli/data/clean.ts')).cleanCommand,
  },
]

/** Commands that print a text for another program. */
const TEXTS: readonly Command[] = [
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    about: 'Print the completion of commands and options for a shell',
    load: async () => (await import('#cli/shell/completion.ts')).completionCommand(COMMANDS),
  },
  {
    name: 'manual',
    about: 'Print the manual page, in the format of man',
    load: async () => (await import('#cli/shell/manual.ts')).manualCommand(COMMANDS),
  },
]

export const COMMANDS: readonly Command[] = [
  SERVE,
  ...WITH_RESULT.map((command) => ({
    ...command,
    usage: `${command.usage ?? ''} [--json]`.trim(),
    options: [...(command.options ?? []), JSON_OPTION],
  })),
  ...TEXTS,
]
