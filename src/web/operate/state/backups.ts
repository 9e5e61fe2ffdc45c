// Backups that the audit log records, with their age. Only commands create and restore backups.
import { loadBackups } from '#features/operation/overview/backups/load-backups.ts'
import type { BackupView } from '#features/operation/overview/backups/views.ts'
import { DAY_MS } from '#lib/time.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { exactTime, fileSize, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

const PATH = '/operator/backups'
const SHOWN = 100
/** The same limit as for the problem `backup_old`. */
const AGE_DAYS_MAX = 7

export function backupPages(pages: Pages): void {
  pages.own('GET', PATH, 'operateBackups', showBackups, { role: 'admin', api: 'listBackups' })
}

async function showBackups(request: OwnRequest) {
  const { page, deps, t, rich } = request
  const backups = await loadBackups(deps.db, SHOWN)
  const commands = [
    ['operate.backups.make', 'depot backup /var/backups/depot/depot.tar'],
    ['operate.backups.next', 'depot backup /var/backups/depot/next.tar --since /var/backups/depot/depot.tar'],
    ['operate.backups.restore', 'depot restore /var/backups/depot/depot.tar'],
  ] as const
  const age = ageNote(page, backups[0])
  return showOperator(request, {
    section: PATH,
    heading: t('operate.backups'),
    text: t('operate.backups.text'),
    ...(age === null ? {} : { notes: age }),
    body: html`${backups.length === 0 ? emptyState(page, { icon: 'archive', title: t('operate.backups.none') }) : table(page, backups)}
${sheetPart({
  id: 'commands',
  title: t('operate.backups.commands'),
  text: t('operate.backups.commands.text'),
  content: html`<dl class="pairs wide">${commands.map(([key, command]) => html`<dt>${rich(key, {})}</dt><dd><code>${command}</code></dd>`)}</dl>`,
})}`,
  })
}

function ageNote(page: PageContext, newest: BackupView | undefined): Part {
  if (newest === undefined) return null
  const days = Math.floor((page.now - new Date(newest.at).getTime()) / DAY_MS)
  if (days <= AGE_DAYS_MAX) return null
  return note(page, 'warn', html`<p>${page.language.t('operate.problem.backup_old', { days })}</p>`)
}

function table(page: PageContext, backups: readonly BackupView[]): Part {
  const { language } = page
  const { t } = language
  const number = (value: number | null) => (value === null ? '' : wholeNumber(language, value))
  return listTable(page, {
    caption: t('operate.backups'),
    columns: [
      { label: t('operate.backups.name') },
      { label: t('operate.backups.age') },
      { label: t('operate.storage.size'), isNumber: true, room: 'mid' },
      { label: t('operate.backups.rows'), isNumber: true, room: 'far' },
      { label: t('operate.storage.files'), isNumber: true, room: 'far' },
      { label: t('operate.backups.complete') },
    ],
    rows: backups.map(({ at, name, id, bytes, rows, files, missing }) => {
      const time = exactTime(language, new Date(at))
      const size = bytes === null ? '' : fileSize(language, bytes)
      return {
        cells: [
          html`<code>${name ?? id ?? t('operate.backups.unnamed')}</code><br><small>${time}</small><span class="least">${size}</span>`,
          timeAgo(language, new Date(at), page.now),
          size,
          number(rows),
          number(files),
          missing === 0
            ? status(page, { kind: 'good', icon: 'check', label: t('operate.backups.yes') })
            : status(page, { kind: 'bad', icon: 'alert', label: t('operate.backups.missing', { files: missing }) }),
        ],
      }
    }),
  })
}
