// Page load on a slow line, as Chromium measures it: the time of the largest paint, and the layout shift while the page
// loads.
import type { Browser } from 'playwright-core'
import { TIMEOUT_MS } from './chromium.ts'

/** A mobile line: 1.6 Mbit/s down, 0.75 up, in bytes a second, and 150 ms until the first byte of each answer. */
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }

/** `largestMs` from the start of the navigation; `shift` is the sum of all layout shifts, without unit. */
export type Paint = { largestMs: number; shift: number }

type Entries = { largest: number[]; shifts: number[] }

/** An observer is handed what happened before it, once; a type without any entry never calls it. */
const READ_ENTRIES = `(async () => {
  await document.fonts.ready
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const largest = await new Promise((resolve) =>
    new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type: 'largest-contentful-paint', buffered: true }))
  const shifts = []
  const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()))
  observer.observe({ type: 'layout-shift', buffered: true })
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  shifts.push(...observer.takeRecords())
  return { largest: largest.map(({ startTime }) => startTime), shifts: shifts.map(({ value }) => value) }
})()`

/** Loads a page with an empty cache over a slow line, in a window as wide as that of a laptop or of a telephone. */
export async function measurePaint(
  browser: Browser,
  address: string,
  { width = 1280, headers = {} }: { width?: number; headers?: Record<string, string> } = {},
): Promise<Paint> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, extraHTTPHeaders: headers })
  context.setDefaultTimeout(TIMEOUT_MS)
  const pending = new Set<string>()
  try {
    const page = await context.newPage()
    page.on('request', (request) => pending.add(request.url()))
    page.on('requestfinished', (request) => pending.delete(request.url()))
    page.on('requestfailed', (request) => pending.delete(request.url()))
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', SLOW_LINE)
    const answer = await page.goto(address, { waitUntil: 'load' }).catch((error: Error) => {
      throw new Error(`${error.message}\nWithout an answer: ${[...pending].join(' ')}`)
    })
    if (answer?.status() !== 200) throw new Error(`${address} answered ${answer?.status()}`)
    const { largest, shifts } = (await page.evaluate(READ_ENTRIES)) as Entries
    return { largestMs: Math.max(...largest), shift: shifts.reduce((sum, value) => sum + value, 0) }
  } finally {
    await context.close()
  }
}
