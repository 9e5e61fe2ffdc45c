// Checks expressions in a thread.
import { parentPort } from 'node:worker_threads'
import { problemOfExpression } from './check-expression.ts'

parentPort?.on('message', ({ source, flags }: { source: string; flags: string }) => {
  parentPort?.postMessage(problemOfExpression(source, flags))
})
