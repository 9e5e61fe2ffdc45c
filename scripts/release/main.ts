// `npm run release`: makes the files of a release from the tag of the present commit, in the folder `release`:
//   the npm packages of the service and the client, Debian packages for the processor of this machine, checksums, a bill of materials, and all licences.
// With --untagged, the commit needs no tag; changes that are not committed are left out. Without nfpm, use --without-debian.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeBillOfMaterials } from './bill-of-materials.ts'
import { buildDebianPackages } from './debian-packages.ts'
import { installRelease } from './install-release.ts'
import { writeLicences } from './licences.ts'
import { readManifest } from './lock-part.ts'
import { stagePackage } from './stage-package.ts'

const ROOT = join(import.meta.dirname, '../..')
const { values: options } = parseArgs({
  options: { untagged: { type: 'boolean' }, folder: { type: 'string' }, 'without-debian': { type: 'boolean' } },
})
const folder = options.folder ?? join(ROOT, 'release')
const git = (...words: string[]): string => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
const say = (line: string): void => void process.stdout.write(`${line}\n`)

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function checkTag(version: string): void {
  if (git('status', '--porcelain') !== '')
    fail('A release contains only what is committed. Commit or stash your changes.')
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  if (!tags.includes(`v${version}`)) fail(`The present commit needs the tag v${version}, the version of package.json.`)
}

/** Writes the sources of the commit to a folder, which uses the packages of this checkout. */
function checkOut(target: string): string {
  mkdirSync(target)
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: ROOT, maxBuffer: Number.POSITIVE_INFINITY })
  execFileSync('tar', ['-x', '-C', target], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'))
  return target
}

const { version } = readManifest(ROOT)
if (options.untagged !== true) checkTag(version)
// Tools write this time instead of the present one, so that two builds are equal.
process.env['SOURCE_DATE_EPOCH'] = git('log', '-1', '--format=%ct')
process.umask(0o022)

const scratch = mkdtempSync(join(tmpdir(), 'depot-release-'))
try {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const source = checkOut(join(scratch, 'source'))
  const staged = join(scratch, 'package')
  stagePackage(source, git('rev-parse', 'HEAD'), staged)
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: staged })
  const tarball = join(folder, `depot-hosting-${version}.tgz`)
  say(`Packed ${tarball}`)
  const client = join(folder, `depot-hosting-client-${version}.tgz`)
  copyFileSync(join(staged, 'client.tgz'), client)
  say(`Packed ${client}`)
  writeBillOfMaterials(source, join(folder, `depot-${version}.cdx.json`))
  const installed = join(scratch, 'installed')
  installRelease(tarball, installed)
  const bundled = join(scratch, 'client')
  mkdirSync(bundled)
  execFileSync('tar', ['-xzf', client, '-C', bundled])
  await writeLicences([installed, bundled], join(folder, `depot-${version}-licences.txt`))
  if (options['without-debian'] !== true)
    for (const name of buildDebianPackages(source, installed, folder)) say(`Packed ${join(folder, name)}`)
  for (const name of ['Dockerfile', 'compose.yaml']) copyFileSync(join(source, name), join(folder, name))
  const sums = readdirSync(folder)
    .sort()
    .map((name) => {
      const hash = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')
      return `${hash}  ${name}\n`
    })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
