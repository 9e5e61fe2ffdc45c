// The scan of a version: what it found, and what a publisher can do about it.
import type { ScanRow } from '#features/catalogue/scans/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'
import { type ManagedProject, may } from '../project/managed-project.ts'
import { usualScanSeconds } from './queries.ts'

type Scanned = ManagedProject & {
  version: VersionView
  scan: ScanRow | undefined /** Path of the version's pages. */
  pages: string
}

/** ID of the part, which the script updates while the scan runs. */
const ID = 'scan'

/** Renders the state of the scan unless the files have passed it. Text of the scanner is shown as it is. */
export async function scanPart(request: OwnRequest, data: Scanned): Promise<Part> {
  const { page, deps, t } = request
  const { scan, version, view } = data
  if (scan === undefined || scan.state === 'pass') return html`<div id="${ID}"></div>`
  const reason = scan.reason !== null && html` <q dir="auto">${scan.reason}</q>`
  if (scan.state === 'pending') {
    const seconds = await usualScanSeconds(deps.db, view.id)
    const usual =
      seconds === undefined ? '' : ` ${t('upload.scan.usual', { seconds: Math.max(1, Math.ceil(seconds)) })}`
    const then = version.requested_status === null ? '' : ` ${t('upload.scan.then')}`
    return html`<div id="${ID}" class="part notices" data-refresh>${note(page, 'warn', html`<p><span class="strong">${t('upload.scan.pending')}</span>${usual} ${t('upload.scan.leave')}${then}</p>`, { role: 'status' })}</div>`
  }
  if (scan.state === 'warn')
    return html`<div id="${ID}" class="part notices">${note(page, 'warn', html`<p><span class="strong">${t('upload.scan.warn')}</span>${reason}</p>`)}</div>`
  const found = scan.findings.filter(({ verdict }) => verdict === 'quarantine')
  const items = found.map(
    (finding) =>
      html`<li><bdi>${finding.filename}</bdi>${finding.reason !== null && html`: <q dir="auto">${finding.reason}</q>`}</li>`,
  )
  const list = items.length > 0 ? html`<ul>${items}</ul>` : html`<p>${reason}</p>`
  return html`<div id="${ID}" class="part notices">${note(page, 'bad', html`<p class="strong">${t('upload.scan.quarantine')}</p>${list}<p>${t('upload.scan.options')}</p><div class="line">${removals(request, data, found)}<a class="button" href="${pathTo(page, `${data.settings}/review#thread`)}">${t('upload.scan.contact')}</a></div>`)}</div>`
}

/** A quarantined file can be deleted if the version has other files, otherwise the version. */
function removals({ page }: OwnRequest, data: Scanned, found: readonly { file_id: string; filename: string }[]): Part {
  const { t } = page.language
  const { version, pages } = data
  if (!may(data, 'DELETE_VERSION')) return false
  const files = version.files.filter(({ id }) => found.some(({ file_id }) => file_id === id))
  if (files.length === 0 || files.length === version.files.length)
    return html`<a class="button" href="${pathTo(page, `${pages}/delete`)}">${t('upload.delete.button', { number: version.version_number })}</a>`
  return files.map(
    ({ hashes, filename }) =>
      html`<a class="button" href="${pathTo(page, `${pages}/file/${hashes.sha512}/delete`)}">${t('upload.scan.delete-file', { name: filename })}</a>`,
  )
}
