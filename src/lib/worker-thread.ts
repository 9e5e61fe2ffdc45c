// One thread for work that would hold up the requests of others: asked one question after the other, started by the
// first, ended when nobody asks, replaced when it dies or hangs.
import { setTimeout as startTimer } from 'node:timers'
import { Worker } from 'node:worker_threads'

export type WorkerThread<Question, Answer> = {
  /** @throws what `refuse` makes when too many wait, and Error when the thread dies or is too slow with this question */
  ask(question: Question): Promise<Answer>
  close(): Promise<void>
}

type Options = {
  /** The file of the thread, which calls `answerQuestions`. */
  url: URL
  /** For messages: `The password strength thread`. */
  name: string
  /** How many questions may be open at once. */
  pendingMax: number
  /** How long one answer may take, from when the thread is free for it. */
  answerMs: number
  /** After so long without a question the thread ends, and its memory is free. */
  idleMs: number
  refuse: () => Error
}

type Waiting<Question, Answer> = {
  question: Question
  resolve: (answer: Answer) => void
  reject: (error: Error) => void
}

/** What a thread sends back: its answer, or what it threw. */
export type ThreadMessage<Answer> = { answer: Answer } | { error: string }

export function createWorkerThread<Question, Answer>(options: Options): WorkerThread<Question, Answer> {
  const { url, name, pendingMax, answerMs, idleMs, refuse } = options
  /** The first is with the thread. */
  const waiting: Waiting<Question, Answer>[] = []
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined

  function start(): Worker {
    const started = new Worker(url)
    const lose = (error: Error) => {
      if (worker === started) loseFirst(error)
    }
    started.on('message', (message: ThreadMessage<Answer>) => {
      if (worker === started) settle(message)
    })
    started.on('error', lose)
    started.on('exit', () => lose(new Error(`${name} has ended`)))
    return started
  }

  function next(): void {
    clearTimeout(timer)
    const [first] = waiting
    if (first === undefined) {
      // A process that has nothing else to do may end.
      worker?.unref()
      timer = startTimer(() => void stop(), idleMs).unref()
      return
    }
    worker ??= start()
    worker.ref()
    timer = startTimer(() => loseFirst(new Error(`${name} does not answer`)), answerMs)
    worker.postMessage(first.question)
  }

  function settle(message: ThreadMessage<Answer>): void {
    const asked = waiting.shift()
    if ('error' in message) asked?.reject(new Error(`${name}: ${message.error}`))
    else asked?.resolve(message.answer)
    next()
  }

  /** The thread is of no use any more; who waits behind the question that ended it gets a new one. */
  function loseFirst(error: Error): void {
    void stop()
    waiting.shift()?.reject(error)
    if (waiting.length > 0) next()
  }

  async function stop(): Promise<void> {
    clearTimeout(timer)
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  return {
    ask(question) {
      if (waiting.length >= pendingMax) return Promise.reject(refuse())
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      waiting.push({ question, resolve, reject })
      if (waiting.length === 1) next()
      return promise
    },
    close: async () => {
      void stop()
      for (const { reject } of waiting.splice(0)) reject(new Error('The service is closing'))
    },
  }
}
