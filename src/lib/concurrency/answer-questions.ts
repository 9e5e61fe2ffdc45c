// The side of worker-thread.ts that runs in the thread.
import { parentPort } from 'node:worker_threads'
import type { ThreadMessage } from './worker-thread.ts'

/** Runs `work` for each task. An error fails only its task. */
export function serveTasks<Task, Result>(work: (task: Task) => Result): void {
  parentPort?.on('message', (task: Task) => {
    let message: ThreadMessage<Result>
    try {
      message = { answer: work(task) }
    } catch (error) {
      message = { error: error instanceof Error ? error.message : String(error) }
    }
    parentPort?.postMessage(message)
  })
  parentPort?.postMessage({ ready: true } satisfies ThreadMessage<Result>)
}
