// Commands that exchange content with other instances.
import type { Command } from '#cli/kit/command.ts'

export const EXCHANGE_COMMANDS: readonly Command[] = [
  {
    name: 'mirror',
    usage:
      'ADDRESS --projects ID,ID|--organization NAME|--search QUERY|--all --owner ORG [--since CURSOR] [--follow] [--no-files] [--max-bytes N] [--dry-run] [--accept-new-key]',
    about: 'Copy projects of another instance with their versions and files, and later their changes',
    options: [
      ['ADDRESS', 'Base URL of the other instance'],
      ['--projects', 'IDs or slugs of the projects, separated by commas'],
      ['--organization', 'Organization whose projects are copied'],
      ['--search', 'Query of GET /v3/search that finds the projects, such as facets=[["categories:utility"]]'],
      ['--all', 'Whether to copy all public projects'],
      ['--owner', 'ID or slug of the organization here that owns the copies'],
      ['--since', 'Cursor of the change feed of the source (default: where the last run ended)'],
      ['--follow', 'Whether to keep running and to copy changes every 30 seconds'],
      ['--no-files', 'Whether to copy versions without their files; a later run adds them'],
      ['--max-bytes', 'Maximum number of bytes of files in this run; a later run adds the others'],
      ['--dry-run', 'Whether to count what would be copied, and to copy nothing'],
      ['--accept-new-key', 'Whether to accept that the source has become another instance'],
    ],
    load: async () => (await import('#cli/data/mirror.ts')).mirrorCommand,
  },
  {
    name: 'export-catalogue',
    usage: 'FILE',
    about: 'Write the public catalogue to a compressed file with a signature, as a first load for mirrors',
    options: [['FILE', 'New file, such as catalogue.jsonl.gz; the signature has the same name with .sig']],
    load: async () => (await import('#cli/data/export-catalogue.ts')).exportCatalogueCommand,
  },
  {
    name: 'export-project',
    usage: 'PROJECT FOLDER',
    about: 'Write a project with its published versions, files and images to a folder',
    options: [
      ['PROJECT', 'ID or slug of the project'],
      ['FOLDER', 'New folder'],
    ],
    load: async () => (await import('#cli/data/project-folder.ts')).exportProjectCommand,
  },
  {
    name: 'import-project',
    usage: 'FOLDER --owner ORG',
    about: 'Create a project from a folder that export-project has written',
    options: [
      ['FOLDER', 'Folder with project.json'],
      ['--owner', 'ID or slug of the organization that owns the project'],
    ],
    load: async () => (await import('#cli/data/project-folder.ts')).importProjectCommand,
  },
  {
    name: 'import-pack',
    usage: 'PACK --owner ORG [--projects-from ADDRESS]',
    about: 'Create a project with a version from a pack, with the projects that it needs',
    options: [
      ['PACK', 'An .mrpack, or the folder or the pack.toml of a packwiz pack'],
      ['--owner', 'ID or slug of the organization that owns the project and the copies'],
      ['--projects-from', 'Base URL of another instance, from which missing projects of the pack are copied'],
    ],
    load: async () => (await import('#cli/data/import-pack.ts')).importPackCommand,
  },
]
