// The release that the tests install: `npm run release -- --untagged` makes it.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSteps, type Step } from '#test/support/processes/documented-steps.ts'

const ROOT = join(import.meta.dirname, '../..')
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
export const RELEASE = process.env['RELEASE_FOLDER'] ?? join(ROOT, 'release')
export const isBuilt = existsSync(join(RELEASE, 'SHA256SUMS')) || `${RELEASE} does not exist; run npm run release first`
export const noRelease = isBuilt !== true && isBuilt

/** Creates a folder outside the checkout that every user can enter. */
export function emptyFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'depot-install-'))
  chmodSync(folder, 0o711)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The steps of a chapter of docs/install.md, with the version of this checkout. */
export const installSteps = (chapter: string): Step[] =>
  readSteps('docs/install.md', chapter).map(({ script, expected }) => ({
    script: script.replaceAll('1.0.0', VERSION),
    expected: expected.map((line) => line.replaceAll('1.0.0', VERSION)),
  }))

/** The story of the README, for an installed command and in a folder with the examples. */
export const storySteps = (): Step[] =>
  readSteps('README.md', 'Publish a project and download its file').map(({ script, expected }) => ({
    // Responses end without a line break, and the shell ends a block with a line.
    script: `${script.replaceAll('npm run --silent depot --', 'depot')}echo\n`,
    expected,
  }))

/** Returns whether the last step of the story has printed the same hash for both files. */
export function isSameFile(lines: readonly string[]): boolean {
  const hashes = lines.filter((line) => /^[0-9a-f]{128} /.test(line)).map((line) => line.split(' ')[0])
  return hashes.length === 2 && hashes[0] === hashes[1]
}

/** Millions of bytes on disk. */
export const sizeOf = (path: string): number =>
  Number(execFileSync('du', ['-s', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]) / 1e6
