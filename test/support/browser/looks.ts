// The looks in which browser tests see pages: widths, light and dark, more contrast, German, right to left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { assertValidHtml } from '../http/html-page.ts'
import { checkAccess, checkFits, newPerson, type Site, shoot, signIn } from './chromium.ts'

export const WIDE = { width: 1280, height: 900 }
const MIDDLE = { width: 768, height: 1024 }
export const NARROW = { width: 390, height: 844 }
/** The narrowest window in which pages must fit. */
const TINY = { width: 320, height: 700 }

type Look = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'contrast'> & { language?: string }

const LOOKS: Readonly<Record<string, Look>> = {
  wide: { viewport: WIDE },
  'wide-dark': { viewport: WIDE, colorScheme: 'dark', language: 'de' },
  contrast: { viewport: MIDDLE, contrast: 'more' },
  narrow: { viewport: NARROW },
  'narrow-dark': { viewport: NARROW, colorScheme: 'dark', language: 'de' },
  mirrored: { viewport: WIDE, language: 'ar-XB' },
  'mirrored-narrow': { viewport: NARROW, language: 'ar-XB' },
}

export type LookedAt = {
  /** Name of the screenshots. */
  name: string
  path: string
  /** Token of the account that is signed in. */
  token: string
  /** Status of the response. Default: 200 */
  status?: number
}

/** The rail and the rows of tables stay closed: they are seen that way. */
const OPEN_DETAILS =
  "for (const part of document.querySelectorAll('main details')) part.open = part.closest('.rail, .list') === null"

/**
 * Registers a test per look: pages have no problem of access, fit their window, are valid HTML, and report no error.
 * `cookies` are further choices of the visitor.
 */
export function lookAtPages(
  site: () => Site,
  pages: () => readonly LookedAt[],
  cookies: Readonly<Record<string, string>> = {},
): void {
  for (const [name, { language = 'en', ...look }] of Object.entries(LOOKS)) {
    test(`every page is readable by everyone and fits its window (${name})`, async () => {
      const { context, page, problems } = await newPerson(site(), look)
      const choices = Object.entries({ 'depot-language': language, ...cookies })
      await context.addCookies(choices.map(([key, value]) => ({ name: key, value, url: site().url })))
      for (const looked of pages()) {
        await signIn(site(), context, looked.token)
        await lookAt(page, site(), { ...looked, name: `${looked.name}-${name}` })
      }
      assert.deepEqual(problems, [])
      await context.close()
    })
  }
}

async function lookAt(page: Page, { url }: Site, { name, path, status = 200 }: LookedAt): Promise<void> {
  const answer = await page.goto(`${url}${path}`)
  assert.equal(answer?.status(), status, path)
  if (name.endsWith('-wide')) assertValidHtml((await answer?.text()) ?? '', path)
  await page.evaluate(OPEN_DETAILS)
  await shoot(page, name)
  await checkAccess(page, { isStrict: true })
  await checkFits(page)
  const viewport = page.viewportSize()
  if (viewport?.width !== NARROW.width) return
  await page.setViewportSize(TINY)
  await checkFits(page)
  await page.setViewportSize(viewport)
}
