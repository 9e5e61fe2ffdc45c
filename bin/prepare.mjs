// Runs before any other code: reads the settings file, and gives up the privileges of root for the owner of the data folder.
import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

const OPTION = '--env-file'
const MAIN = fileURLToPath(import.meta.resolve('#cli/main.ts'))

/** Does the above, and leaves a working folder that the user cannot enter, because libraries look for their settings there. */
export function prepare(words) {
  const prepared = readAndChangeUser(words)
  try {
    // By its path, because the folders above can be closed to the user.
    accessSync(process.cwd(), constants.X_OK)
  } catch {
    process.env['DATA_DIR'] = dataFolder()
    process.chdir('/')
  }
  return { ...prepared, dataDir: dataFolder() }
}

const dataFolder = () => resolve(process.env['DATA_DIR']?.trim() || './data')

/**
 * Returns the arguments without `--env-file`, the settings file that was read, if any, and the first problem, if any.
 * Variables of the environment override those of the file. Help works despite a problem, so this function does not throw.
 */
function readAndChangeUser(words) {
  const { args, path, problem } = readOption(words)
  const file = path ?? ['.env', '/etc/depot.env'].find((name) => existsSync(name))
  if (path === undefined && file === '.env' && !isTrusted(file)) {
    const reason = 'another user owns it or can write it'
    return {
      args,
      problem: `Depot does not read ${resolve(file)}, because ${reason}. To use it, add ${OPTION} ${file}.`,
    }
  }
  if (problem !== undefined || file === undefined) return { args, problem: problem ?? useOwner() }
  const settings = { path: resolve(file), text: '', names: [] }
  try {
    settings.text = readFileSync(file, 'utf8')
  } catch ({ code, message }) {
    const hint = code === 'EACCES' ? '. Run this command as root or as the owner of the file.' : ''
    return { args, problem: `Depot cannot read the file ${settings.path}: ${message}${hint}` }
  }
  for (const [name, value] of Object.entries(parseEnv(settings.text))) {
    if (process.env[name] !== undefined) continue
    process.env[name] = value
    settings.names.push(name)
  }
  return { args, settings, problem: useOwner() }
}

/**
 * Returns whether only this user, root and the owner of the program can have written a file. Settings name programs that
 * Depot runs, and anyone can leave a file in a shared folder.
 */
function isTrusted(file) {
  const { uid, mode } = statSync(file)
  const users = [0, process.getuid?.() ?? uid, statSync(MAIN).uid]
  // The owner of a link chooses the file that is read.
  return users.includes(uid) && users.includes(lstatSync(file).uid) && (mode & 0o002) === 0
}

/** Finds `--env-file FILE` or `--env-file=FILE` before or after the command. */
function readOption(words) {
  const end = words.indexOf('--') === -1 ? words.length : words.indexOf('--')
  const at = words.findIndex((word, i) => i < end && (word === OPTION || word.startsWith(`${OPTION}=`)))
  if (at === -1) return { args: words }
  const isSeparate = words[at] === OPTION
  const path = isSeparate ? words[at + 1] : words[at].slice(OPTION.length + 1)
  const args = words.toSpliced(at, isSeparate ? 2 : 1)
  if (path === undefined || path === '') return { args, problem: `${OPTION} needs the name of a file` }
  const again = readOption(args)
  return again.path === undefined ? { args, path } : { ...again, problem: `${OPTION} can be used only once` }
}

/**
 * If root started this process and another user owns DATA_DIR, continues as that user, so that every new file belongs to
 * the user. Returns why this process cannot use the folder, or undefined.
 */
function useOwner() {
  const dataDir = dataFolder()
  const uid = process.getuid?.()
  const owner = ownerOf(dataDir)
  if (uid === undefined || owner === undefined || owner.uid === uid) return undefined
  const user = userOf(owner.uid)
  const name = user?.name ?? `user ${owner.uid}`
  if (uid !== 0) {
    // A folder of root can be shared with this user, as volumes of containers are.
    return owner.uid === 0
      ? undefined
      : `The data folder ${dataDir} belongs to ${name}. Run this command as ${name} or as root.`
  }
  const gid = user?.gid ?? owner.gid
  try {
    if (user === undefined) process.setgroups([gid])
    else process.initgroups(user.name, gid)
    process.setgid(gid)
    process.setuid(owner.uid)
  } catch ({ message }) {
    return `The data folder ${dataDir} belongs to ${name}, and Depot cannot continue as ${name}: ${message}`
  }
  if (user !== undefined) process.env['HOME'] = user.home
  try {
    accessSync(MAIN, constants.R_OK)
  } catch ({ message }) {
    return `The data folder ${dataDir} belongs to ${name}, who cannot read the program of Depot: ${message}`
  }
}

/** Returns undefined if the folder does not exist or cannot be reached; opening it reports the reason. */
function ownerOf(folder) {
  try {
    return statSync(folder)
  } catch {
    return undefined
  }
}

function userOf(uid) {
  if (!existsSync('/etc/passwd')) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [name, , , gid, , home] = lines.map((line) => line.split(':')).find((line) => line[2] === String(uid)) ?? []
  return name === undefined ? undefined : { name, gid: Number(gid), home }
}
