// Shows the progress of long commands on standard error: as a bar on a terminal, as a line every 5 seconds elsewhere. Work
// that takes less than a second shows nothing.

export type Progress = {
  /** Reports the amount of finished work, and the total if it is known. Cheap enough to call for every item. */
  update(done: number, total?: number): void
  /** Removes the bar. */
  end(): void
}

export type ProgressOptions = {
  /** Label, such as `Reading rows` or `Copying files`. */
  label: string
  /** Formats an amount. Default: a number. */
  format?: (amount: number) => string
  stream?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

const QUIET_MS = 1_000
const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 5_000
const BAR_WIDTH = 24

/** Interval at which the last amount is shown again, so that a slow step is not mistaken for a hanging one. */
const TICK_MS = 250

/** Runs `work` and shows its progress. */
export async function withProgress<T>(
  options: ProgressOptions,
  work: (update: Progress['update']) => Promise<T>,
): Promise<T> {
  const progress = createProgress(options)
  let last: Parameters<Progress['update']> | undefined
  const timer = setInterval(() => last !== undefined && progress.update(...last), TICK_MS)
  try {
    return await work((...reported) => {
      last = reported
      progress.update(...reported)
    })
  } finally {
    clearInterval(timer)
    progress.end()
  }
}

export type Steps<Step extends string> = { onProgress(step: Step, done: number, total?: number): void; end(): void }

/** Shows the progress of work in steps, each with a separate label. */
export function createSteps<Step extends string>(labels: Readonly<Record<Step, string>>): Steps<Step> {
  let current: { step: Step; progress: Progress; last: Parameters<Progress['update']> } | undefined
  const show = (): void => current?.progress.update(...current.last)
  const timer = setInterval(show, TICK_MS)
  return {
    onProgress(step, ...last) {
      if (current?.step === step) current.last = last
      else {
        current?.progress.end()
        current = { step, progress: createProgress({ label: labels[step] }), last }
      }
      show()
    },
    end() {
      clearInterval(timer)
      current?.progress.end()
    },
  }
}

export function createProgress(options: ProgressOptions): Progress {
  const { label, format = String, stream = process.stderr, now = () => performance.now() } = options
  const every = stream.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS
  let next = now() + QUIET_MS
  let isShown = false
  return {
    update(done, total) {
      const time = now()
      if (time < next) return
      next = time + every
      isShown = true
      const amount = total === undefined ? format(done) : `${format(done)} of ${format(total)}`
      if (!stream.isTTY) return void stream.write(`${label}: ${amount}\n`)
      const text = `${label} ${total === undefined ? '' : `${bar(done, total)} `}${amount}`
      // A line that wraps could not be overwritten.
      stream.write(`\r\x1b[K${text.slice(0, Math.max(1, (stream.columns ?? 80) - 1))}`)
    },
    end() {
      if (isShown && stream.isTTY) stream.write('\r\x1b[K')
      isShown = false
    },
  }
}

function bar(done: number, total: number): string {
  const full = total <= 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH))
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}]`
}

/** Formats a size, such as `12.3 MB`. */
export function shownBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toFixed(1)} ${units[step]}`
}
