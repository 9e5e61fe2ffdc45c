// Runs files of the queue in this process. Workers share the queue: the one that creates a file's folder runs the file.
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runFile } from './light-runner.mjs'

const queue = process.env.TEST_QUEUE
const files = JSON.parse(readFileSync(join(queue, 'files.json'), 'utf8'))

function isClaimed(index) {
  try {
    mkdirSync(join(queue, String(index)))
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

for (const [index, file] of files.entries()) {
  if (isClaimed(index)) await runFile(file, () => import(pathToFileURL(resolve(file)).href))
}

// A timer that keeps nothing alive: it only fires if something else does.
setTimeout(() => {
  console.error(`A test left something open, which keeps its process running: ${process.getActiveResourcesInfo()}`)
  process.exit(1)
}, 10_000).unref()
