// A real Chromium against a real Depot that listens. Run by `npm test -- test/system/browser`, not by `npm test`.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { freePort } from '#test/support/processes/free-port.ts'
import { cookieName } from '#web/kit/cookies.ts'
import { BYPASS_KEY, type TestApp, testApp } from '../app/test-app.ts'

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
/** Time limit of each step of a page or of the browser, also on a busy machine. */
export const TIMEOUT_MS = 300_000
/** Folder for screenshots of the pages. Default: no screenshots. */
const SCREENSHOTS = process.env['SCREENSHOTS']

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Without a window, Chromium would place the letters of a text on whole pixels.
  '--font-render-hinting=none',
  // A page runs axe only a few times, so optimizing the code of axe takes longer than it saves.
  '--js-flags=--no-opt --no-maglev',
]

export type Site = {
  t: TestApp
  url: string
  browser: Browser
  /** The URL of an application that users return to; its page shows their parameters. */
  callback: string
  close(): Promise<void>
}

/** `host`: host of the URL. Browsers create passkeys only for a name. `fixedPort`: a free port. Default: any free one */
export async function openSite(
  env: Record<string, string> = {},
  host = '127.0.0.1',
  fixedPort?: number,
  more: Pick<NonNullable<Parameters<typeof testApp>[0]>, 'deps'> = {},
): Promise<Site> {
  const port = fixedPort ?? (await freePort())
  const url = `http://${host}:${port}`
  const t = await testApp({ ...more, env: { BASE_URL: url, REQUIRE_VERIFIED_EMAIL: 'true', ...env } })
  await t.app.listen({ host: '127.0.0.1', port })
  const application = await listen(
    (_req, res) => void res.end('<!doctype html><title>Back</title><h1>Back at the application</h1>'),
  )
  const browser = await openBrowser()
  return {
    t,
    url,
    browser,
    callback: `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`,
    close: async () => {
      await browser.close()
      application.close()
      application.closeAllConnections()
      await t.close()
    },
  }
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: TIMEOUT_MS })
}

function listen(handler: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(handler)
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

/** Chromium reports this as an error of a page that is shown too late for its transition, which happens on slow machines. */
const SKIPPED_TRANSITION = 'InvalidStateError: Transition was aborted because of invalid state. Page already revealed'

/**
 * Opens a separate browser for one user. The test fails if its pages refuse to load or run a resource. Animations are off
 * unless `options` turn them on, because drawing them takes processor time.
 */
export async function newPerson(
  site: Site,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; page: Page; problems: string[] }> {
  const context = await site.browser.newContext({
    extraHTTPHeaders: { 'x-ratelimit-key': BYPASS_KEY },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => {
    if (String(error) !== SKIPPED_TRANSITION) problems.push(String(error))
  })
  return { context, page, problems }
}

/** Takes a screenshot if SCREENSHOTS is set. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}

export type AccessOptions = {
  /** Whether anything that the checker reports is a problem, not only what keeps users out. */
  isStrict?: boolean
  /** Rules to check. Default: all, and that targets are large enough */
  only?: readonly string[]
  /** Rules that are not checked. */
  except?: readonly string[]
  /** Selector of the elements to check, if there are any. Default: the page */
  within?: string
}

/** Returns what the checker reports about a page. */
export async function accessProblems(
  page: Page,
  { isStrict = false, only, except = [], within = 'html' }: AccessOptions = {},
): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source)
  const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]))
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(only ? { runOnly: [...only] } : { rules: { 'target-size': { enabled: true }, ...rules } }),
  }
  const { violations } = (await page.evaluate(
    `document.querySelector('${within}') ? axe.run('${within}', ${JSON.stringify(options)}) : { violations: [] }`,
  )) as axe.AxeResults
  return violations
    .filter(({ impact }) => isStrict || impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.length} times, such as ${nodes[0]?.html.slice(0, 300)} ${nodes[0]?.failureSummary}`,
    )
}

/** Fails when a page has an error that keeps people out; with `isStrict`, for anything the checker has to say. */
export async function checkAccess(page: Page, options: AccessOptions = {}): Promise<void> {
  assert.deepEqual(await accessProblems(page, options), [], page.url())
}

/**
 * A script that returns the first elements that are beyond the window, if the page can be scrolled to the side. Playwright
 * evaluates it in a loaded page without the scripts that locators need in each page.
 */
export const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const isBeyond = ({ left, right, width }) => width > 0 && (right > clientWidth + 1 || left < -1)
  return [...document.querySelectorAll('main *')]
    .filter((element) => isBeyond(element.getBoundingClientRect()))
    .slice(0, 6)
    .map((element) => element.parentElement.className + ' > ' + element.localName + '.' + element.className)
    .concat(scrollWidth + ' pixels')
})()`

/** Returns the first elements that are beyond the window, if the page can be scrolled to the side. */
export async function tooWide(page: Page): Promise<string[]> {
  // A locator waits for a document; a page that has just been opened can be without one.
  return (await page.locator('html').evaluate(TOO_WIDE)) as string[]
}

/** Fails when something on the page is wider than the window. */
export async function checkFits(page: Page): Promise<void> {
  assert.deepEqual(await tooWide(page), [], page.url())
}

/** Makes the context that of an account that is signed in. */
export async function signIn(site: Site, context: BrowserContext, token: string): Promise<void> {
  await context.addCookies([{ name: cookieName(site.t.deps.config, 'session'), value: token, url: site.url }])
}
