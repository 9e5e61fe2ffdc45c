// One thread for work that would hold up the requests of others: started by the first question, asked one after the
// other and fairly between callers, ended when nobody asks, replaced when it dies or hangs.
import { setTimeout as startTimer } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { createLimiter, overloaded } from './limiter.ts'

export type WorkerThread<Question, Answer> = {
  /**
   * @param caller who asks, such as a client address; callers take turns.
   * @throws ApiError 503 when too many questions wait, or when the thread dies of this one or is too slow with it.
   */
  ask(question: Question, caller?: string): Promise<Answer>
  close(): Promise<void>
}

type Options = {
  /** The file of the thread, which calls `serveTasks`. */
  url: URL
  /** For messages: `The password strength thread`. */
  name: string
  /** How many questions may wait, of all callers together and of one. */
  waiting: number
  waitingPerCaller?: number
  /** How long one answer may take, from when the thread begins with it. */
  answerMs: number
  /** After so long without a question the thread ends, and its memory is free. */
  idleMs: number
}

/** What a thread sends back: that it is ready, its answer, or what it threw. */
export type ThreadMessage<Answer> = { ready: true } | { answer: Answer } | { error: string }

/** Loading the file of a thread takes a second at most on a quiet machine. */
const LOAD_MS = 120_000

type Thread = { worker: Worker; ready: Promise<unknown> }

export function createWorkerThread<Question, Answer>(options: Options): WorkerThread<Question, Answer> {
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
    // An exit between two questions: the next one starts another thread.
    worker.on('error', forget).on('exit', forget)
    return { worker, ready: nextMessage(worker, name, LOAD_MS) }
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread?.worker
    thread = undefined
    await ending?.terminate()
  }

  async function answer(question: Question): Promise<Answer> {
    if (closed) throw overloaded('The service is closing')
    clearTimeout(idle)
    thread ??= start()
    const { worker, ready } = thread
    worker.ref()
    let message: ThreadMessage<Answer>
    try {
      await ready
      // Time counts from here: what waited before has nothing to do with this question.
      const coming = nextMessage<ThreadMessage<Answer>>(worker, name, answerMs)
      worker.postMessage(question)
      message = await coming
    } catch (cause) {
      if (thread?.worker === worker) await stop()
      throw Object.assign(overloaded(`${name} gave no answer`), { cause })
    } finally {
      // A process that has nothing else to do may end.
      worker.unref()
      idle = startTimer(() => void stop(), idleMs).unref()
    }
    if ('answer' in message) return message.answer
    throw new Error(`${name}: ${'error' in message ? message.error : 'it was not asked'}`)
  }

  return {
    ask: (question, caller) => limiter.run(() => answer(question), caller),
    close: async () => {
      closed = true
      await stop()
    },
  }
}

/** The thread's next message; rejects when it ends, fails or is silent for `ms`. */
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
