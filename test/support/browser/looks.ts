// The looks in which browser tests see pages: widths, light and dark, more contrast, German, right to left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestApp } from '../app/test-app.ts'
import { assertValidHtml } from '../http/html-page.ts'
import type { ShownPage } from '../pages/shown-page.ts'
import {
  type AccessOptions,
  accessProblems,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
  TOO_WIDE,
} from './chromium.ts'

export const WIDE = { width: 1280, height: 900 }
export const NARROW = { width: 390, height: 844 }

type Look = {
  name: string
  width: number
  dir?: 'rtl'
  contrast?: 'more'
  /**
   * `all`: every rule. `layout`: the sizes of targets, and every rule for elements that the look before did not show.
   * `width`: none. Colours are checked in all looks, of texts whose colours no page has shown yet.
   */
  checks?: 'all' | 'layout' | 'width'
}

/**
 * A page is loaded once for each scheme; the looks change the window without loading the page again. German has the
 * longest words, so its pages are seen at all widths, also from right to left.
 */
const SCHEMES: readonly { language: string; colorScheme: 'light' | 'dark'; looks: readonly Look[] }[] = [
  {
    language: 'en',
    colorScheme: 'light',
    looks: [
      { name: 'wide', width: WIDE.width, checks: 'all' },
      { name: 'contrast', width: WIDE.width, contrast: 'more' },
      { name: 'narrow', width: NARROW.width, checks: 'layout' },
    ],
  },
  {
    language: 'de',
    colorScheme: 'dark',
    looks: [
      { name: 'dark', width: WIDE.width },
      { name: 'mirrored', width: WIDE.width, dir: 'rtl', checks: 'width' },
      { name: 'middle-contrast', width: 768, contrast: 'more' },
      { name: 'narrow-dark', width: NARROW.width },
      { name: 'tiny', width: 320, checks: 'width' },
      { name: 'tiny-mirrored', width: 320, dir: 'rtl', checks: 'width' },
    ],
  },
]

/** The rail and the rows of tables stay closed: they are seen that way. */
const OPEN_DETAILS =
  "for (const part of document.querySelectorAll('main details')) part.open = part.closest('.rail, .list') === null"

/**
 * Fills only the fields that are marked as required, as a person would, and returns the forms that the browser refuses to
 * send. A select keeps the choice that it shows, unless this choice cannot be made.
 */
const REFUSED_FORMS = `[...document.forms].flatMap((form) => {
  const samples = ['lantern', '1', 'https://lantern.example.org/', 'mira@example.org', 'violet-harbour-lantern-42', '2030-01-01', '2026-01-01', '2030-01-01T10:00']
  for (const field of form.elements) {
    if (field.required !== true || field.validity.valid) continue
    if (field.type === 'checkbox' || field.type === 'radio') field.checked = true
    else if (field.type === 'file') {
      const files = new DataTransfer()
      files.items.add(new File(['x'], 'lantern.png'))
      field.files = files.files
    } else if (field.localName === 'select') {
      if (field.selectedOptions[0]?.disabled !== false) field.value = [...field.options].find((option) => !option.disabled)?.value
    } else {
      for (const sample of samples) if (!field.validity.valid) field.value = sample
    }
  }
  const wrong = [...form.elements].filter((field) => field.willValidate && !field.validity.valid)
  return form.checkValidity() ? [] : [form.getAttribute('action') + ': ' + wrong.map(({ name }) => name)]
})`

/** A target that a sticky bar covers in part can be scrolled, so bars do not stick while the rules are checked. */
const LET_GO = `for (const part of document.querySelectorAll('body *'))
  if (getComputedStyle(part).position === 'sticky') { part.style.position = 'static'; part.dataset.stuck = '' }`
const STICK_AGAIN = "for (const part of document.querySelectorAll('[data-stuck]')) part.style.position = ''"

/**
 * Marks the elements with text whose colours are not in a list, and returns these colours: what the contrast of a text
 * depends on. A positioned element can cover any other, so its class is part of its background.
 */
const MARK_NEW_COLOURS = `((known) => {
  const seen = new Set(known)
  const backgroundOf = (part) => {
    if (part === null) return ''
    const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(part)
    const isPositioned = position === 'absolute' || position === 'fixed'
    const own = [isPositioned && part.className, opacity, backgroundImage, backgroundColor].join()
    if (own === 'false,1,none,rgba(0, 0, 0, 0)') return backgroundOf(part.parentElement)
    const isOpaque = own.startsWith('false,1,none,') && !/rgba|[/]/.test(backgroundColor)
    return own + (isOpaque ? '' : backgroundOf(part.parentElement))
  }
  return [...document.querySelectorAll('body *')].flatMap((part) => {
    delete part.dataset.unseen
    const hasText = [...part.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '')
    if (!(hasText || part.matches('input, select, textarea')) || !part.checkVisibility()) return []
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(part)
    const size = parseFloat(fontSize)
    const around = part.localName === 'a' && [textDecorationLine, getComputedStyle(part.parentElement).color]
    const colours = [color, size >= 24 || (size >= 18.5 && fontWeight >= 700), around, backgroundOf(part)].join()
    if (seen.has(colours)) return []
    seen.add(colours)
    part.dataset.unseen = ''
    return [colours]
  })
})`

/** The rules that depend on colours. */
const COLOURS = ['color-contrast', 'link-in-text-block']

const MARK_SHOWN =
  "for (const part of document.querySelectorAll('body *')) if (part.checkVisibility()) part.dataset.shown = ''"
const MARK_APPEARED = `for (const part of document.querySelectorAll('body *'))
  part.toggleAttribute('data-unseen', !('shown' in part.dataset) && part.checkVisibility())`

/**
 * Registers a test per scheme: a page fits its window in each look, axe finds nothing, its HTML is valid, the browser sends
 * its forms and reports no error. `cookies` are choices of the visitor.
 */
export function lookAtPages(
  makePages: (t: TestApp) => Promise<readonly ShownPage[]>,
  cookies: Readonly<Record<string, string>> = {},
): void {
  let site: Site
  let pages: readonly ShownPage[]
  before(async () => {
    site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
    pages = await makePages(site.t)
    await site.t.searchable()
  })
  after(() => site?.close())

  for (const { language, colorScheme, looks } of SCHEMES) {
    test(`every page is readable by everyone and fits its window (${looks.map(({ name }) => name).join(', ')})`, async () => {
      const { context, page, problems } = await newPerson(site, { viewport: WIDE, colorScheme })
      const choices = Object.entries({ 'depot-language': language, ...cookies })
      const known = { normal: [], more: [] }
      for (const shown of pages) {
        await context.clearCookies()
        await context.addCookies(choices.map(([name, value]) => ({ name, value, url: site.url })))
        if (shown.by !== undefined) await signIn(site, context, shown.by.token)
        problems.push(...(await lookAt(page, site, shown, looks, known)))
      }
      assert.deepEqual(problems, [])
      await context.close()
    })
  }
}

/**
 * Loads a page and returns the problems of each look.
 * @param known colours of texts that earlier pages have shown, by contrast
 */
async function lookAt(
  page: Page,
  { url }: Site,
  { name, path, status = 200 }: ShownPage,
  looks: readonly Look[],
  known: Record<'normal' | 'more', string[]>,
): Promise<string[]> {
  const answer = await page.goto(`${url}${path}`)
  if (answer?.status() !== status || new URL(page.url()).pathname !== path.split('?')[0])
    return [`${path}: ${answer?.status()} ${page.url()}`]
  assertValidHtml(await answer.text(), path)
  await page.evaluate(OPEN_DETAILS)
  const found: string[] = []
  for (const [i, look] of looks.entries()) {
    const { width, contrast = 'no-preference', dir = 'ltr' } = look
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: 900 })
    if (look.contrast !== looks[i - 1]?.contrast) await page.emulateMedia({ contrast })
    if (look.dir !== looks[i - 1]?.dir) await page.evaluate(`document.documentElement.dir = '${dir}'`)
    await shoot(page, `${name}-${look.name}`)
    const wide = (await page.evaluate(TOO_WIDE)) as string[]
    if (wide.length > 0) found.push(`${path} (${look.name}) is wider than the window: ${wide.join(', ')}`)
    if (look.checks === 'width') continue
    const problems = await accessProblemsOf(page, look, known[look.contrast ?? 'normal'])
    found.push(...problems.map((problem) => `${path} (${look.name}): ${problem}`))
  }
  const refused = (await page.evaluate(REFUSED_FORMS)) as string[]
  found.push(...refused.map((form) => `${path}: the browser refuses the form ${form}`))
  return found
}

/** Returns what the rules of a look report. Adds the colours of the page to `known`. */
async function accessProblemsOf(page: Page, { checks }: Look, known: string[]): Promise<string[]> {
  const check = (options: AccessOptions) => accessProblems(page, { isStrict: true, ...options })
  const added = (await page.evaluate(`${MARK_NEW_COLOURS}(${JSON.stringify(known)})`)) as string[]
  known.push(...added)
  if (added.length === 0 && checks === undefined) return []
  await page.evaluate(LET_GO)
  const problems = added.length > 0 ? await check({ only: COLOURS, within: '[data-unseen]' }) : []
  if (checks === 'all') {
    problems.push(...(await check({ except: COLOURS })))
    await page.evaluate(MARK_SHOWN)
  } else if (checks === 'layout') {
    problems.push(...(await check({ only: ['target-size'] })))
    await page.evaluate(MARK_APPEARED)
    problems.push(...(await check({ except: COLOURS, within: '[data-unseen]' })))
  }
  await page.evaluate(STICK_AGAIN)
  return problems
}
