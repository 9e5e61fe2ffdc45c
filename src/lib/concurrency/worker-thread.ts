// Runs work that would block the event loop in one worker thread. The thread starts with the first task, takes tasks in
// turn from each caller, stops when idle, and is replaced if it crashes or hangs.
import { setTimeout as startTimer } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { createLimiter, overloaded } from './limiter.ts'

export type WorkerThread<Task, Result> = {
  /**
   * @param caller such as the key of a client address; callers take turns.
   * @throws ApiError 503 if too many tasks wait, or if the thread crashes or is too slow.
   */
  ask(task: Task, caller?: string): Promise<Result>
  close(): Promise<void>
}

type Options = {
  /** The file of the thread, which calls `serveTasks`. */
  url: URL
  /** For messages: `The password strength thread`. */
  name: string
  /** Maximum number of waiting tasks of all callers. */
  waiting: number
  waitingPerCaller?: number
  /** Maximum time for one task, without the time in the queue. */
  answerMs: number
  /** The thread stops after this time without a task, to free its memory. */
  idleMs: number
}

/** A message of the thread: it is ready, a result, or an error. */
export type ThreadMessage<Result> = { ready: true } | { answer: Result } | { error: string }

/** Maximum time to load the file of the thread, which takes at most 1 second on an idle machine. */
const LOAD_MS = 120_000

type Thread = { worker: Worker; ready: Promise<unknown> }

export function createWorkerThread<Task, Result>(options: Options): WorkerThread<Task, Result> {
  const { url, name, waiting, waitingPerCaller = waiting, answerMs, idleMs } = options
  const limiter = createLimiter({ running: 1, waiting, waitingPerCaller })
  let thread: Thread | undefined
  let idle: NodeJS.Timeout | undefined
  let closed = false

  function start(): Thread {
    const worker = new Worker(url)
    const forget = () => {
      if (thread?.worker === worker) thread = undefined
    }
    // After an exit, the next task starts another thread.
    worker.on('error', forget).on('exit', forget)
    return { worker, ready: nextMessage(worker, name, LOAD_MS) }
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread?.worker
    thread = undefined
    await ending?.terminate()
  }

  async function answer(task: Task): Promise<Result> {
    if (closed) throw overloaded('The service is closing')
    clearTimeout(idle)
    thread ??= start()
    const { worker, ready } = thread
    worker.ref()
    let message: ThreadMessage<Result>
    try {
      await ready
      // The time in the queue does not count.
      const coming = nextMessage<ThreadMessage<Result>>(worker, name, answerMs)
      worker.postMessage(task)
      message = await coming
    } catch (cause) {
      if (thread?.worker === worker) await stop()
      throw Object.assign(overloaded(`${name} did not respond`), { cause })
    } finally {
      // The thread must not keep the process alive.
      worker.unref()
      idle = startTimer(() => void stop(), idleMs).unref()
    }
    if ('answer' in message) return message.answer
    throw new Error(`${name}: ${'error' in message ? message.error : 'unexpected message'}`)
  }

  return {
    ask: (task, caller) => limiter.run(() => answer(task), caller),
    close: async () => {
      closed = true
      await stop()
    },
  }
}

/** Returns the next message of the thread. Rejects if the thread ends, fails or sends nothing for `ms`. */
function nextMessage<Message>(worker: Worker, name: string, ms: number): Promise<Message> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      act()
    }
    const onMessage = (message: Message) => settle(() => resolve(message))
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => settle(() => reject(new Error(`${name} has ended`)))
    const timer = startTimer(() => settle(() => reject(new Error(`${name} was silent for ${ms} ms`))), ms)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}
