// Backups: those at the target, those in the audit log, and the commands. Only a command restores a backup.
import { actorOf } from '#features/basics/audit/actor.ts'
import { BACKUP_DAYS_MAX } from '#features/operation/overview/backups/backup-age.ts'
import { downloadBackup } from '#features/operation/overview/backups/download-backup.ts'
import { loadBackups } from '#features/operation/overview/backups/load-backups.ts'
import { loadBackupTarget } from '#features/operation/overview/backups/load-target.ts'
import { requestBackup, requestVerification } from '#features/operation/overview/backups/request-backup.ts'
import type { BackupTargetView, BackupView } from '#features/operation/overview/backups/views.ts'
import { DAY_MS } from '#lib/time.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { exactTime, fileSize, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { uploadProgress } from '#web/ui/parts/choices.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

const PATH = '/operator/backups'
const SHOWN = 100

type Shown = { backups: BackupView[]; of: BackupTargetView }

export function backupPages(pages: Pages): void {
  formPage<Shown>(pages, {
    path: PATH,
    name: 'operateBackups',
    api: 'listBackups getBackupTarget makeBackup verifyBackup downloadBackup',
    // A backup changes no content.
    options: { role: 'admin', whenReadOnly: 'answers' },
    load: async ({ deps }) => ({ backups: await loadBackups(deps.db, SHOWN), of: await loadBackupTarget(deps) }),
    show: showBackups,
    commands: { make, verify, download },
  })
}

async function make({ deps, viewer }: OwnRequest): Promise<Outcome> {
  await requestBackup(deps, actorOf(viewer))
  return { done: 'backup-requested' }
}

async function verify({ deps, viewer, field }: OwnRequest): Promise<Outcome> {
  await requestVerification(deps, actorOf(viewer), field('name'))
  return { done: 'verification-requested' }
}

const download = ({ deps, viewer, reply }: OwnRequest): Promise<Outcome> =>
  downloadBackup(deps, { actor: actorOf(viewer), reply })

function showBackups(request: OwnRequest, { backups, of }: Shown, form: FormState) {
  const { page, t } = request
  const button = (command: string, text: string) =>
    buttonForm(page, { action: pathTo(page, PATH), text, fields: { do: command } })
  const canMake = of.target !== null && of.making === null
  const isEncrypted = request.deps.config.backup.recipients.length > 0
  const notes = [
    ageNote(page, backups[0]),
    badNote(page, t('operate.backups.failed'), of.failure),
    badNote(page, t('operate.backups.unreadable'), of.listed?.error ?? null),
  ].filter((part) => part !== null)
  return showOperator(request, {
    section: PATH,
    heading: t('operate.backups'),
    text: t('operate.backups.text'),
    action: html`<div class="line end">${canMake && button('make', t('operate.backups.now'))}${isEncrypted && button('download', t('operate.backups.download'))}</div>`,
    form,
    ...(notes.length === 0 ? {} : { notes }),
    body: [
      of.making !== null && makingPart(page, of.making),
      schedulePart(request, of),
      of.listed !== null && of.listed.error === null && storedPart(request, of, of.listed),
      sheetPart({
        id: 'made',
        title: t('operate.backups.made'),
        text: t('operate.backups.made.text'),
        content:
          backups.length === 0
            ? emptyState(page, { icon: 'archive', title: t('operate.backups.none') })
            : madeTable(page, backups),
      }),
      commandsPart(request, of),
    ],
  })
}

function ageNote(page: PageContext, newest: BackupView | undefined): Part {
  if (newest === undefined) return null
  const days = Math.floor((page.now - new Date(newest.at).getTime()) / DAY_MS)
  if (days <= BACKUP_DAYS_MAX) return null
  return note(page, 'warn', html`<p>${page.language.t('operate.problem.backup_old', { days })}</p>`)
}

function badNote(page: PageContext, title: string, reason: string | null): Part {
  if (reason === null) return null
  return note(page, 'bad', html`<p class="strong">${title}</p><p lang="en" dir="auto">${reason}</p>`)
}

/** The progress of the backup that waits or runs; the script loads it again. */
function makingPart(page: PageContext, { state, progress }: NonNullable<BackupTargetView['making']>): Part {
  const { language } = page
  const { t } = language
  const label = progress === null ? '' : t(`operate.backups.step.${progress.step}`)
  const done = progress === null ? '' : wholeNumber(language, progress.done)
  const content =
    progress === null
      ? html`<p>${t(state === 'waiting' ? 'operate.backups.waiting' : 'operate.backups.running-now')}</p>`
      : progress.total === null
        ? html`<p>${t('operate.backups.progress', { label, done })}</p>`
        : html`${uploadProgress({ label, value: Math.min(progress.done, progress.total), max: progress.total })}
<p>${t('operate.backups.progress.of', { label, done, total: wholeNumber(language, progress.total) })}</p>`
  const reload = html`<p><a href="${pathTo(page, PATH)}">${t('operate.reload')}</a></p>`
  return html`<div id="backup-progress" class="part" role="status" data-refresh><h3>${t('operate.backups.running')}</h3>${content}${reload}</div>`
}

function schedulePart(request: OwnRequest, { target, last_verification: last, verifying }: BackupTargetView): Part {
  const { page, language, t, rich } = request
  if (target === null)
    return sheetPart({
      id: 'schedule',
      title: t('operate.backups.schedule'),
      content: html`<p>${rich('operate.backups.no-target', { setting: html`<code>BACKUP_TARGET</code>` })}</p>`,
    })
  const clock = `${String(Math.floor(target.at_minute / 60)).padStart(2, '0')}:${String(target.at_minute % 60).padStart(2, '0')}`
  const verification =
    last === null
      ? t('operate.backups.never-verified')
      : html`${last.good ? status(page, { kind: 'good', icon: 'check', label: t('operate.backups.good') }) : status(page, { kind: 'bad', icon: 'alert', label: t('operate.backups.bad') })} <code>${last.name}</code>, ${timeAgo(language, new Date(last.at), page.now)}${last.reason !== null && html`<br><span lang="en" dir="auto">${last.reason}</span>`}`
  const rows: readonly [string, Part][] = [
    [t('operate.backups.target'), html`<code>${target.address}</code>`],
    [
      t('operate.backups.time'),
      target.every_minutes === 24 * 60
        ? t('operate.backups.daily', { time: clock })
        : t('operate.backups.hours', { hours: target.every_minutes / 60 }),
    ],
    [t('operate.backups.keep'), t('operate.backups.kept', { count: target.keep })],
    [t('operate.backups.encryption'), target.encrypted ? t('operate.backups.encrypted') : t('operate.backups.plain')],
    [
      t('operate.backups.verification'),
      html`${verification}${verifying && html`<br>${t('operate.backups.verifying')}`}`,
    ],
  ]
  return sheetPart({
    id: 'schedule',
    title: t('operate.backups.schedule'),
    content: html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`,
  })
}

/** The backups at the target, each with its restore command. */
function storedPart(
  request: OwnRequest,
  { verifying }: BackupTargetView,
  { at, backups, files_bytes }: NonNullable<BackupTargetView['listed']>,
): Part {
  const { page, language, t, rich } = request
  const text = rich('operate.backups.stored.text', {
    size: fileSize(language, files_bytes),
    time: exactTime(language, new Date(at)),
  })
  const rows = backups.map(({ name, created, bytes, encrypted }) => {
    const age = timeAgo(language, new Date(created), page.now)
    const command = `depot restore ${name}${encrypted ? ' --identity key.txt' : ''}`
    const fields = { do: 'verify', name }
    const words = html`${icon(page, 'check')}<span class="words">${t('operate.backups.verify')}<span class="vh"> ${name}</span></span>`
    return {
      cells: [
        nameCell({
          name: html`<code>${name}</code>`,
          details: html`${t('operate.backups.command')} <code>${command}</code>`,
          least: [age, fileSize(language, bytes)],
        }),
        age,
        fileSize(language, bytes),
        !encrypted &&
          !verifying &&
          buttonForm(page, { action: pathTo(page, PATH), text: words, isTight: true, fields }),
      ],
    }
  })
  return sheetPart({
    id: 'stored',
    title: t('operate.backups.stored'),
    text,
    content: listTable(page, {
      caption: t('operate.backups.stored'),
      isInner: true,
      columns: [
        { label: t('operate.backups.name') },
        { label: t('operate.backups.age'), room: 'mid' },
        { label: t('operate.backups.rows-size'), isNumber: true, room: 'mid' },
        { label: t('operate.actions'), isAction: true },
      ],
      rows,
    }),
  })
}

function commandsPart({ t, rich }: OwnRequest, { target }: BackupTargetView): Part {
  const made =
    target === null
      ? ([
          ['operate.backups.make', 'depot backup /var/backups/depot/depot.tar'],
          ['operate.backups.next', 'depot backup /var/backups/depot/next.tar --since /var/backups/depot/depot.tar'],
          ['operate.backups.restore', 'depot restore /var/backups/depot/depot.tar'],
        ] as const)
      : ([
          ['operate.backups.make', 'depot backup'],
          ['operate.backups.check', `depot backup verify latest${target.encrypted ? ' --identity key.txt' : ''}`],
          ['operate.backups.restore', `depot restore latest${target.encrypted ? ' --identity key.txt' : ''}`],
        ] as const)
  return sheetPart({
    id: 'commands',
    title: t('operate.backups.commands'),
    text: t('operate.backups.commands.text'),
    content: html`<dl class="pairs wide">${made.map(([key, command]) => html`<dt>${rich(key, {})}</dt><dd><code>${command}</code></dd>`)}</dl>`,
  })
}

function madeTable(page: PageContext, backups: readonly BackupView[]): Part {
  const { language } = page
  const { t } = language
  const number = (value: number | null) => (value === null ? '' : wholeNumber(language, value))
  return listTable(page, {
    caption: t('operate.backups.made'),
    isInner: true,
    columns: [
      { label: t('operate.backups.name') },
      { label: t('operate.backups.age'), room: 'mid' },
      { label: t('operate.storage.size'), isNumber: true, room: 'mid' },
      { label: t('operate.backups.rows'), isNumber: true, room: 'far' },
      { label: t('operate.storage.files'), isNumber: true, room: 'far' },
      { label: t('operate.backups.complete') },
    ],
    rows: backups.map(({ at, name, id, bytes, rows, files, missing }) => {
      const time = exactTime(language, new Date(at))
      const age = timeAgo(language, new Date(at), page.now)
      const size = bytes === null ? '' : fileSize(language, bytes)
      return {
        cells: [
          html`<code>${name ?? id ?? t('operate.backups.unnamed')}</code><br><small>${time}</small><span class="least">${age}, ${size}</span>`,
          age,
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
