// The verdict of the scanner on the files of a version.
import type { ScanRow } from '#features/catalogue/scans/queries.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import type { Offer } from './offer.ts'

/** Shows that the scanner passed the files. Only members and moderators see other verdicts. */
export function passedScan(page: PageContext, { scanPassed }: Offer): Part {
  const { language } = page
  if (scanPassed === null) return null
  return html`<dt>${language.t('site.scan')}</dt><dd>${icon(page, 'shield')} ${language.t('site.scan.pass')}, ${timeAgo(language, scanPassed, page.now)}</dd>`
}

/** Shows the verdict of the scanner to members and moderators, with its reason. */
export function memberScan(page: PageContext, row: ScanRow | undefined): Markup {
  const { language } = page
  const at = row?.finished ?? null
  return html`<dt>${language.t('site.scan')}</dt><dd>${row !== undefined && icon(page, 'shield')} ${language.t(`site.scan.${row?.state ?? 'none'}`)}${at !== null && html`, ${timeAgo(language, at, page.now)}`}${row !== undefined && row.reason !== null && html`<span class="soft" dir="auto"> ${row.reason}</span>`}</dd>`
}
