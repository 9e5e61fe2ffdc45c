// The texts of `depot-publish --help` and `--version`.
import { readFileSync } from 'node:fs'

const MANIFEST = new URL('../../package.json', import.meta.url)
export const VERSION = String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version)

export const HELP = `Usage: depot-publish --project PROJECT --files FILE… [options]

Publishes a version of a project with its files. Values that are not specified are read from the archive by the instance.

  --url URL               Instance (default: DEPOT_URL)
  --project PROJECT       ID or slug of the project
  --files FILE…           Files or patterns, such as 'build/libs/*.jar'; '!PATTERN' excludes files
  --primary FILE          Name of the file that is installed (default: the first file)
  --version-number TEXT   Version number
  --name TEXT             Title of the version (default: the version number)
  --changelog FILE        File with the changelog in Markdown; - reads standard input
  --changelog-tag TAG     Use the message of a Git tag as changelog
  --channel CHANNEL       release, beta or alpha
  --loaders LIST          Loaders, separated by commas
  --game-versions LIST    Game versions, separated by commas
  --dependency TEXT       PROJECT[@VERSION][:TYPE]; can be repeated (type: required)
  --file-type FILE=TYPE   Type of an additional file, such as sources-jar; can be repeated
  --status STATUS         listed, unlisted, archived or draft (default: listed)
  --featured              Feature the version
  --config FILE           Configuration file (default: depot-publish.json, if it exists)
  --dry-run               Check everything and store nothing
  --skip-existing         Succeed if the project has a version with this number
  --no-wait               Do not wait until the version is public
  --timeout SECONDS       Maximum time to wait (default: 600)
  --json                  Print the result as JSON
  --version               Print the version of the command
  -h, --help              Print this text

The token is in DEPOT_TOKEN. Without it, the identity of the CI job is exchanged for a token.

Exit codes: 0 success, 1 rejected by the instance, 2 wrong use, 3 instance unavailable, 4 published but not public in
time, 130 stopped.`
