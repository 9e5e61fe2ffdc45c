// The part of the table of commands for keys, backups and stores.
import { type Command, DRY_RUN_OPTION } from '#cli/kit/command.ts'
import { withSmallYoungHeap } from '#cli/kit/young-heap.ts'

export const DATA_COMMANDS: readonly Command[] = [
  {
    name: 'key show',
    about: 'Print the public keys with which the instance signs',
    load: async () => (await import('#cli/server/instance-key.ts')).keyShow,
  },
  {
    name: 'key rotate',
    about: 'Replace the key with which the instance signs; the previous key stays valid for 90 days',
    load: async () => (await import('#cli/server/instance-key.ts')).keyRotate,
  },
  {
    name: 'key export',
    about: 'Write the private key of the instance to standard output',
    load: async () => (await import('#cli/server/instance-key.ts')).keyExport,
  },
  {
    name: 'key import',
    usage: 'FILE|-',
    about: 'Sign with a private key that `depot key export` wrote',
    options: [['FILE', 'File with the private key; - for standard input']],
    load: async () => (await import('#cli/server/instance-key.ts')).keyImport,
  },
  {
    name: 'backup',
    usage: '[FILE|-] [--since PREVIOUS] | [--take-over] | [--dry-run]',
    about:
      'Back up the instance to one file, or to BACKUP_TARGET, where this deletes backups beyond the number to keep',
    options: [
      ['FILE', 'New file for the backup; - for standard output (default: a backup at BACKUP_TARGET)'],
      ['--since', 'Earlier backup, whose files, and those of the backups before it, are not copied again'],
      [
        '--take-over',
        'Use BACKUP_TARGET although another copy of this instance made its last backup; the backups of that copy stay',
      ],
      DRY_RUN_OPTION,
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/backup/backup.ts')).backupCommand),
  },
  {
    name: 'backup list',
    about: 'List the backups at BACKUP_TARGET, newest first',
    load: async () => (await import('#cli/backup/backup.ts')).backupListCommand,
  },
  {
    name: 'backup verify',
    usage: 'latest|NAME|FILE|- [EARLIER...] [--identity KEYS] [--scratch FOLDER]',
    about:
      'Restore a backup into a scratch folder with the embedded engines, compare everything, and delete the folder',
    options: [
      ['latest', 'The newest backup at BACKUP_TARGET'],
      ['NAME', 'Name of a backup at BACKUP_TARGET, as `depot backup list` prints it'],
      ['FILE', 'Backup file; - for standard input'],
      ['--identity', 'File with the private key of age, if the backup is encrypted'],
      ['--scratch', 'Folder with space for the restored instance (default: the temporary folder of the system)'],
      ['EARLIER', 'Earlier backups, if the backup was created with --since'],
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/backup/verify-backup.ts')).verifyBackupCommand),
  },
  {
    name: 'restore',
    usage: 'latest|NAME|FILE|- [EARLIER...] [PATH...] [--identity KEYS] [--quiet] [--only events|files]',
    about: 'Restore a backup into an empty instance, or its events or files into an existing one',
    options: [
      [
        '--only',
        'events: replace a damaged analytics file; files: restore files that are missing or have another size',
      ],
      ['PATH', 'With --only files: the files to restore, as `depot doctor` names them'],
      ['latest', 'The newest backup at BACKUP_TARGET'],
      ['NAME', 'Name of a backup at BACKUP_TARGET, as `depot backup list` prints it'],
      ['FILE', 'Backup file; - for standard input'],
      ['--identity', 'File with the private key of age, if the backup is encrypted'],
      ['--quiet', 'Let the copy run no jobs and schedules and send no emails and webhooks until `depot resume`'],
      ['EARLIER', 'Earlier backups, if the backup was created with --since'],
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/backup/restore.ts')).restoreCommand),
  },
  {
    name: 'resume',
    about: 'Let a quiet copy run its jobs and send what waits',
    load: async () => (await import('#cli/server/resume.ts')).resumeCommand,
  },
  {
    name: 'move files',
    usage: '--to SETTINGS',
    about: 'Copy all files to another store; the old store is not changed',
    options: [['--to', 'File in the format of .env with the variables of the new store (S3_BUCKET etc., or DATA_DIR)']],
    load: async () => (await import('#cli/data/move.ts')).moveFilesCommand,
  },
  {
    name: 'move database',
    usage: '--to SETTINGS [--former FOLDER]',
    about:
      'Copy the database with its secrets while no server is running, and compare both; the old database is not changed',
    options: [
      ['--to', 'File in the format of .env with the DATABASE_URL of an empty database, or with a new DATA_DIR'],
      ['--former', 'Folder of the former release of Depot, if its PostgreSQL has another major version'],
    ],
    load: withSmallYoungHeap(async () => (await import('#cli/data/move-database.ts')).moveDatabaseCommand),
  },
  {
    name: 'move analytics',
    usage: '--to SETTINGS',
    about: 'Copy all events to ClickHouse while no server is running; the old store is not changed',
    options: [['--to', 'File in the format of .env with the CLICKHOUSE_URL of a database without events']],
    load: async () => (await import('#cli/data/move.ts')).moveAnalyticsCommand,
  },
  {
    name: 'reindex',
    about: 'Rebuild the search index',
    load: async () => (await import('#cli/data/reindex.ts')).reindexCommand,
  },
  {
    name: 'seed',
    usage: '[--projects 200] | --remove --yes|--dry-run',
    about: 'Create or complete a demo catalogue, or remove it',
    options: [
      ['--projects', 'Number of projects (default: 200)'],
      ['--remove', 'Remove the demo and everything that its accounts have created'],
      ['--yes', 'Confirmation, because removing cannot be undone'],
      DRY_RUN_OPTION,
    ],
    load: async () => (await import('#cli/data/seed.ts')).seedCommand,
  },
  {
    name: 'analytics set-aside',
    about: 'Rename a damaged analytics file and start with an empty one',
    load: async () => (await import('#cli/data/analytics.ts')).analyticsSetAside,
  },
]
