// The pages of the instance, such as the terms, and the operator's links in the footer.
import { listNewestVersions, type NewestVersion } from '#features/basics/settings/pages/queries.ts'
import { PAGE_KINDS } from '#features/basics/settings/pages/requests.ts'
import { FOOTER_LINKS_MAX } from '#features/basics/settings/requests.ts'
import { findCurrentTerms } from '#features/people/accounts/terms/check-terms-version.ts'
import { countConsents } from '#features/people/accounts/terms/queries.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { fieldset, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { type InstanceSettings, loadSettings, saveSettings } from './settings-values.ts'

type SitePages = InstanceSettings & { newest: NewestVersion[]; consents: Consents | undefined }
/** Number of active accounts, and of those that agreed to a sufficient version of the Terms. */
type Consents = { version: number; agreed: number; active: number }

export function sitePagesPages(pages: Pages): void {
  formPage<SitePages>(pages, {
    path: PATHS.operatorPages,
    name: 'operatePages',
    shows: 'Rules, Terms, Privacy, Imprint, Contact and own links in the footer',
    api: 'getInstancePage updateSettings',
    options: { role: 'admin' },
    load: loadPages,
    show: showPages,
    commands: { save: saveLinks },
    labels: LABELS,
  })
}

async function loadPages(request: OwnRequest): Promise<SitePages> {
  const { deps } = request
  const newest = await listNewestVersions(deps.db)
  const terms = await findCurrentTerms(deps)
  const version = terms && (terms.asked ?? terms.version)
  const consents = version && { version, ...(await countConsents(deps.db, { version, now: deps.now() })) }
  return { ...(await loadSettings(request)), newest, consents: consents || undefined }
}

const LABELS = Object.fromEntries(
  Array.from({ length: FOOTER_LINKS_MAX }, (_, index) => [
    [`footer_links.${index}.label`, 'The label'],
    [`footer_links.${index}.url`, 'The URL'],
  ]).flat(),
)
const ROWS = Array.from({ length: FOOTER_LINKS_MAX }, (_, index) => index + 1)

async function saveLinks(request: OwnRequest, data: SitePages, state: FormState): Promise<Outcome> {
  const footer_links = filledRows(state).map(({ label, url }) => ({ label, url }))
  await saveSettings(request, data, { footer_links })
  return { done: 'saved' }
}

function filledRows(state: FormState) {
  const rows = ROWS.map((row) => ({
    row,
    label: state.text(`label-${row}`).trim(),
    url: state.text(`url-${row}`).trim(),
  }))
  return rows.filter(({ label, url }) => label !== '' || url !== '')
}

/** Returns the state whose errors name the controls instead of the items of the list. */
function withControls(state: FormState): FormState {
  const rows = filledRows(state)
  const errors = state.errors.map((error) => {
    const [, index = '', name] = /^footer_links\.(\d)\.(label|url)$/.exec(error.field ?? '') ?? []
    const row = rows[Number(index)]
    return name === undefined || row === undefined ? error : { ...error, field: `${name}-${row.row}` }
  })
  return { ...state, errors }
}

function showPages(request: OwnRequest, data: SitePages, submitted: FormState) {
  const state = withControls(submitted)
  const { page, t } = request
  return showOperator(request, {
    section: PATHS.operatorPages,
    heading: t('ops.pages'),
    text: t('ops.pages.text'),
    form: state,
    body: [pageTable(page, data), linksForm(page, data, state)],
  })
}

function pageTable(page: PageContext, { newest, consents }: SitePages): Part {
  const { t } = page.language
  const columns = [
    { label: t('ops.pages.page') },
    { label: t('ops.pages.state') },
    { label: t('ops.pages.version'), isNumber: true, room: 'mid' },
    { label: t('ops.pages.published'), room: 'far' },
  ] as const
  const rows = PAGE_KINDS.map((kind) => {
    const version = newest.find((row) => row.kind === kind)
    const published = version === undefined ? '' : exactTime(page.language, version.published)
    const name = nameCell({
      href: pathTo(page, `${PATHS.operatorPages}/${kind}`),
      name: t(`layout.${kind}`),
      details:
        kind === 'terms' && consents !== undefined
          ? `${t('ops.pages.terms')} ${t('ops.pages.consents', consents)}`
          : t(`ops.pages.${kind}`),
      near: published,
    })
    const shown =
      version === undefined || version.is_empty
        ? status(page, { icon: 'circle', label: t('ops.pages.empty') })
        : status(page, { kind: 'good', icon: 'ok', label: t('ops.pages.shown') })
    return { cells: [name, shown, version === undefined ? '' : String(version.version), published] }
  })
  return listTable(page, { caption: t('ops.pages'), columns, rows })
}

function linksForm(page: PageContext, { settings }: SitePages, state: FormState): Part {
  const { t } = page.language
  const row = (number: number): Part => {
    const stored = settings.footer_links[number - 1]
    return html`<div class="pair">${textField(page, {
      name: `label-${number}`,
      label: t('ops.pages.link.label', { number: String(number) }),
      value: state.text(`label-${number}`, stored?.label),
      maxLength: 40,
      isOptional: true,
      isUnmarked: true,
      errors: state.errors,
    })}${textField(page, {
      name: `url-${number}`,
      label: t('ops.pages.link.url', { number: String(number) }),
      value: state.text(`url-${number}`, stored?.url),
      maxLength: 2048,
      isOptional: true,
      isUnmarked: true,
      isName: true,
      errors: state.errors,
    })}</div>
`
  }
  const content = fieldset(page, {
    legend: html`<span class="vh">${t('ops.pages.links')}</span>`,
    name: 'footer_links',
    errors: state.errors,
    className: 'stack',
    content: ROWS.map(row),
  })
  return saveForm(page, {
    path: PATHS.operatorPages,
    parts: sheetPart({
      id: 'links',
      title: t('ops.pages.links'),
      text: t('ops.pages.links.text', { count: String(FOOTER_LINKS_MAX) }),
      content,
    }),
  })
}
