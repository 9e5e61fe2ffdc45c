// The release that the tests install: `npm run release -- --untagged` makes it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSteps, type Step } from '#test/support/processes/documented-steps.ts'
import { listRecordings, readRecording, unpack } from '#test/upgrades/recording.ts'

const ROOT = join(import.meta.dirname, '../..')
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
export const RELEASE = process.env['RELEASE_FOLDER'] ?? join(ROOT, 'release')
export const noRelease =
  !existsSync(join(RELEASE, 'SHA256SUMS')) && `${RELEASE} does not exist; run npm run release first`

/**
 * Settings of npm for installations: packages come from its cache if possible, a download that stalls is repeated after a
 * minute instead of five, and the output names each download.
 */
export const NPM_SETTINGS = {
  npm_config_prefer_offline: 'true',
  npm_config_fetch_timeout: '60000',
  npm_config_fetch_retries: '5',
  npm_config_loglevel: 'http',
}

/** Creates a folder outside the checkout that every user can enter. */
export function emptyFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'depot-install-'))
  chmodSync(folder, 0o711)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The steps of a chapter of docs/operators/install.md, with the version of this checkout. */
export const installSteps = (chapter: string): Step[] =>
  readSteps('docs/operators/install.md', chapter).map(({ script, expected }) => ({
    script: script.replaceAll('1.0.0', VERSION),
    expected: expected.map((line) => line.replaceAll('1.0.0', VERSION)),
  }))

/** Runs a block in an installation, whose server uses port 8080. Returns the lines that it prints. */
export type Run = (script: string) => Promise<string[]>

export const READY =
  'curl -sf -o /dev/null --retry 1200 --retry-all-errors --retry-delay 1 http://127.0.0.1:8080/ready || { cat depot.log /var/log/depot.log; exit 1; }'

/** Runs the story of docs/api/first-requests.md, with the examples and a folder `data` in the working folder. */
export async function runStory(run: Run): Promise<void> {
  let lines: string[] = []
  // Responses end without a line break, and the shell ends a block with a line.
  for (const { script } of readSteps('docs/api/first-requests.md', 'Publish a project and download its file'))
    lines = await run(`${script.replaceAll('npm run --silent depot --', 'depot')}echo\n`)
  const hashes = lines.filter((line) => /^[0-9a-f]{128} /.test(line)).map((line) => line.split(' ')[0])
  assert.ok(hashes.length === 2 && hashes[0] === hashes[1], lines.join('\n'))
}

/** Checks that the server has the project of the story. */
export async function checkStory(run: Run): Promise<void> {
  const lines = await run('curl -s http://127.0.0.1:8080/v3/project/lantern; echo')
  assert.match(lines.join('\n'), /"slug":"lantern".*"status":"approved"/)
}

/**
 * Upgrades the data folder of the oldest recorded release, which applies the migrations of all others: the server answers
 * what the release answered.
 * @param serve starts the server on a folder or a copy of it
 * @param stop block that ends the server
 */
export async function upgradeRecorded(
  run: Run,
  serve: (dataDir: string) => Promise<unknown>,
  stop: string,
): Promise<void> {
  const name = listRecordings()[0] ?? assert.fail('there is no recording')
  const { dataDir, remove } = unpack(name)
  try {
    await serve(dataDir)
    const lines = await run('curl -s http://127.0.0.1:8080/v3/statistics; echo')
    assert.deepEqual(lines, [readRecording(name).answers['visitor']?.['/v3/statistics']?.body])
    await run(stop)
  } finally {
    remove()
  }
}

/** Millions of bytes on disk. */
export const sizeOf = (path: string): number =>
  Number(execFileSync('du', ['-s', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]) / 1e6
