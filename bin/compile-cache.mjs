// The folder for compiled code. Node.js runs what it finds there and checks no owner, so a folder in which another user can
// write, such as the temporary folder, would let that user run code.
import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const BESIDE = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

/** Returns a folder in the folder of the program or in the data folder that only this user can write, or undefined if there is none. */
export function compileCache(dataDir) {
  return [BESIDE, ...(exists(dataDir) ? [join(dataDir, 'compiled')] : [])].find(isPrivate)
}

/** Creates the folder if possible, and returns whether this user owns it and nobody else can write in it. */
export function isPrivate(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = lstatSync(folder)
    return (mode & 0o170000) === 0o040000 && (mode & 0o022) === 0 && uid === process.getuid?.()
  } catch {
    return false
  }
}

const exists = (folder) => statSync(folder, { throwIfNoEntry: false }) !== undefined
