// The looks in which browser tests see pages: widths, light and dark, more contrast, German, right to left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestApp } from '../app/test-app.ts'
import { assertValidHtml } from '../http/html-page.ts'
import type { ShownPage } from '../pages/shown-page.ts'
import { accessProblems, newPerson, openSite, type Site, shoot, signIn, tooWide } from './chromium.ts'

export const WIDE = { width: 1280, height: 900 }
export const NARROW = { width: 390, height: 844 }

type Look = {
  name: string
  width: number
  colorScheme?: 'light' | 'dark'
  contrast?: 'more' | 'no-preference'
  /** The checks that this look needs in addition to those of other looks. All rules take a second. Default: all */
  checks?: 'all' | 'colours' | 'width'
}

/** By language. A page is loaded once for each language; the looks change the window without loading the page again. */
const LOOKS: Readonly<Record<string, readonly Look[]>> = {
  en: [
    { name: 'wide', width: WIDE.width },
    { name: 'middle', width: 768, checks: 'width' },
    { name: 'narrow', width: NARROW.width },
    { name: 'contrast', width: WIDE.width, contrast: 'more', checks: 'colours' },
    { name: 'tiny', width: 320, checks: 'width' },
  ],
  de: [
    { name: 'dark', width: WIDE.width, colorScheme: 'dark', checks: 'colours' },
    { name: 'dark-contrast', width: 768, colorScheme: 'dark', contrast: 'more', checks: 'colours' },
    { name: 'narrow-dark', width: NARROW.width, colorScheme: 'dark', checks: 'colours' },
    { name: 'tiny-dark', width: 320, checks: 'width' },
  ],
  'ar-XB': [
    { name: 'mirrored', width: WIDE.width, checks: 'width' },
    { name: 'mirrored-narrow', width: NARROW.width, checks: 'width' },
    { name: 'mirrored-tiny', width: 320, checks: 'width' },
  ],
}

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
 * Registers a test per language: a page fits its window in each look, axe finds nothing in those that can differ for it,
 * its HTML is valid, and the browser reports no error. `cookies` are choices of the visitor.
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

  for (const [language, looks] of Object.entries(LOOKS)) {
    test(`every page is readable by everyone and fits its window (${looks.map(({ name }) => name).join(', ')})`, async () => {
      const { context, page, problems } = await newPerson(site)
      const choices = Object.entries({ 'depot-language': language, ...cookies })
      for (const shown of pages) {
        await context.clearCookies()
        await context.addCookies(choices.map(([name, value]) => ({ name, value, url: site.url })))
        if (shown.by !== undefined) await signIn(site, context, shown.by.token)
        problems.push(...(await lookAt(page, site, shown, looks)))
      }
      assert.deepEqual(problems, [])
      await context.close()
    })
  }
}

/** Loads a page and returns the problems of each look. */
async function lookAt(page: Page, { url }: Site, shown: ShownPage, looks: readonly Look[]): Promise<string[]> {
  const { name, path, status = 200 } = shown
  const answer = await page.goto(`${url}${path}`)
  if (answer?.status() !== status || new URL(page.url()).pathname !== path.split('?')[0])
    return [`${path}: ${answer?.status()} ${page.url()}`]
  assertValidHtml(await answer.text(), path)
  await page.evaluate(OPEN_DETAILS)
  const found: string[] = []
  for (const { name: look, width, colorScheme = 'light', contrast = 'no-preference', checks = 'all' } of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme, contrast })
    await shoot(page, `${name}-${look}`)
    const wide = await tooWide(page)
    if (wide.length > 0) found.push(`${path} (${look}) is wider than the window: ${wide.join(', ')}`)
    if (checks === 'width') continue
    await page.evaluate(LET_GO)
    const problems = await accessProblems(page, { isStrict: true, onlyColours: checks === 'colours' })
    await page.evaluate(STICK_AGAIN)
    found.push(...problems.map((problem) => `${path} (${look}): ${problem}`))
  }
  const refused = (await page.evaluate(REFUSED_FORMS)) as string[]
  found.push(...refused.map((form) => `${path}: the browser refuses the form ${form}`))
  return found
}
