// The other side of worker-thread.ts, called in the thread.
import { parentPort } from 'node:worker_threads'
import type { ThreadMessage } from './worker-thread.ts'

/** Answers each question with what `work` returns; what it throws fails that question alone. */
export function serveTasks<Question, Answer>(work: (question: Question) => Answer): void {
  parentPort?.on('message', (question: Question) => {
    let message: ThreadMessage<Answer>
    try {
      message = { answer: work(question) }
    } catch (error) {
      message = { error: error instanceof Error ? error.message : String(error) }
    }
    parentPort?.postMessage(message)
  })
  parentPort?.postMessage({ ready: true } satisfies ThreadMessage<Answer>)
}
