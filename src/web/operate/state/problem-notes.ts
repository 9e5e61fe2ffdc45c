// Problems of the instance as sentences that say what to do.
import type { Problem, ProblemCode } from '#features/operation/overview/problems.ts'
import { PATHS } from '#web/kit/paths.ts'
import { fileSize, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'

/** Pages on which an operator can solve a problem. */
const PAGES: Partial<Record<ProblemCode, string>> = {
  jobs_failed: '/operator/jobs?state=failed',
  jobs_waiting: '/operator/jobs?state=due',
  mail_rejected: '/operator/mail?show=rejected',
  mail_in_folder: '/operator/mail',
  errors: '/operator/errors?period=1h',
  slow: '/operator?period=1h',
  disk_full: '/operator/storage',
  disk_filling: '/operator/storage',
  orphaned_files: '/operator/storage',
  backup_missing: '/operator/backups',
  backup_old: '/operator/backups',
  backup_incomplete: '/operator/backups',
  backup_late: '/operator/jobs?state=failed',
  review_waiting: '/moderation/queue',
  scans_waiting: '/moderation/scans?state=pending',
  base_url: PATHS.firstSteps,
  read_only: PATHS.readOnly,
}

/** Renders the problems, or a sentence that there are none. */
export function problemNotes(page: PageContext, problems: readonly Problem[]): Part {
  const { t } = page.language
  if (problems.length === 0) return note(page, 'good', html`<p class="strong">${t('operate.no-problems')}</p>`)
  return problems.map((problem) => problemNote(page, problem))
}

function problemNote(page: PageContext, { code, severity, values }: Problem): Part {
  const { language } = page
  const { t } = language
  const shown = shownValues(language, values)
  const path = PAGES[code]
  const title = t(`operate.problem.${code}`, shown)
  const link =
    path !== undefined &&
    html` <a href="${pathTo(page, path)}">${t('operate.problem.link')}<span class="vh">: ${title}</span></a>`
  const content = html`<p class="strong">${title}</p><p>${t(`operate.problem.${code}.text`, shown)}${link}</p>`
  return note(page, severity === 'error' ? 'bad' : 'warn', content)
}

/** Returns the values as they occur in sentences: sizes with units, names of parts. */
function shownValues(language: Language, values: Problem['values']): Record<string, string | number> {
  const entries = Object.entries(values).map(([name, value]): [string, string | number] => {
    if (value === null) return [name, language.t('operate.problem.unknown')]
    if (/bytes$/.test(name)) return [name, fileSize(language, Number(value))]
    if (name === 'p95_ms') return [name, wholeNumber(language, Number(value))]
    if (name === 'name') return [name, dependencyName(language, String(value))]
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** Returns the name of a part of `/ready`. */
export const dependencyName = (language: Language, name: string): string =>
  messageOr(language, `operate.dependency.${name}`, name)
