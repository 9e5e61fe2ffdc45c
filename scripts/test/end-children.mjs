// Preloaded by every test process: if a signal ends the process, the processes that it started end too.
import { subscribe } from 'node:diagnostics_channel'
import { constants } from 'node:os'

const children = new Set()
subscribe('child_process', ({ process: child }) => {
  children.add(child)
  child.once('exit', () => children.delete(child))
})
process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => process.exit(128 + constants.signals[signal]))
