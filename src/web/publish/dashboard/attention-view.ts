// The attention list: each item says what happened, where and when, and has one button.
import type { AttentionItem } from '#features/community/attention/views.ts'
import { organizationPath, PATHS, projectPath, versionPath, withQuery } from '#web/kit/paths.ts'
import { exactTime, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { itemLabelOf } from '../review/checklist-view.ts'

type Kind = AttentionItem['kind']

const ICONS: Readonly<Record<Kind, readonly [IconName, '' | 'bad' | 'calm']>> = {
  moderator_message: ['chat', 'bad'],
  quarantined_version: ['shield', 'bad'],
  failed_scan: ['warning', 'bad'],
  invitation: ['user-plus', 'calm'],
  paused_upload: ['pause', ''],
  incomplete_draft: ['list-checks', ''],
  scheduled: ['calendar', 'calm'],
  report_reply: ['flag', ''],
  withdrawn_dependency: ['link', ''],
  unsupported_game_version: ['alert', ''],
}

export function attentionList(page: PageContext, items: readonly AttentionItem[]): Markup {
  const { t } = page.language
  if (items.length === 0) return emptyState(page, { icon: 'check', title: t('publish.attention.empty') })
  return html`<ul class="wants">${items.map((item) => attentionRow(page, item))}</ul>`
}

function attentionRow(page: PageContext, item: AttentionItem): Markup {
  const { t } = page.language
  const [name, mark] = ICONS[item.kind]
  const path = pathOf(item)
  const title = html`<a href="${pathTo(page, path)}">${titleOf(page, item)}</a>`
  const action = html`<a class="${item.kind === 'moderator_message' ? 'button main' : 'button'}" href="${pathTo(page, path)}">${t(`publish.attention.${item.kind}.do`)}</a>`
  return html`<li><span class="${['mark', mark].filter(Boolean).join(' ')}">${icon(page, name)}</span><div><h3>${title}</h3><p>${timeOf(page, item)}${quoteOf(page, item)}</p></div><div class="act">${item.kind === 'invitation' ? answers(page, item) : action}${item.dismissible && notNow(page, item)}</div></li>
`
}

const subjectOf = ({ project, version }: AttentionItem): string =>
  [project?.name, version?.version_number].filter(Boolean).join(' ')

function titleOf(page: PageContext, item: AttentionItem): Part {
  const name = html`<bdi>${subjectOf(item)}</bdi>`
  if (item.kind === 'invitation' && item.project === null) return page.language.t('publish.attention.invitation.team')
  return page.language.rich(`publish.attention.${item.kind}`, { name })
}

/** The page where the user can act on the item. */
function pathOf({ kind, project, version, organization_id, report_id }: AttentionItem): string {
  if (report_id !== null) return `${PATHS.dashboard}/reports/${report_id}`
  if (project === null) return organization_id === null ? PATHS.dashboard : organizationPath(organization_id)
  const path = projectPath(project)
  switch (kind) {
    case 'moderator_message':
    case 'incomplete_draft':
      return `${path}/settings/review`
    case 'scheduled':
      return version === null ? `${path}/settings` : versionPath(path, version)
    case 'paused_upload':
      return withQuery(`${path}/versions/new`, { draft: version?.id })
    case 'unsupported_game_version':
      return `${path}/versions/new`
    case 'quarantined_version':
    case 'failed_scan':
      // A version that waits for its scan has no public page. The page to edit it shows what was found.
      return version === null ? path : `${path}/version/${version.id}/edit`
    case 'withdrawn_dependency':
      return version === null ? path : versionPath(path, version)
    default:
      return path
  }
}

function timeOf({ language, now }: PageContext, { kind, time }: AttentionItem): Part {
  const at = new Date(time)
  if (kind === 'paused_upload') return language.rich('publish.attention.stored-until', { at: exactTime(language, at) })
  return kind === 'scheduled' ? exactTime(language, at) : timeAgo(language, at, now)
}

function quoteOf(page: PageContext, { kind, quote, missing }: AttentionItem): Part {
  const { t } = page.language
  if (missing.length > 0) {
    const labels = missing.map((id) => itemLabelOf(page, id))
    return html`. ${t('publish.attention.missing', { items: new Intl.ListFormat(page.language.tag).format(labels) })}`
  }
  if (quote === null || quote === '') return null
  if (kind === 'unsupported_game_version') return html`: ${t('publish.attention.version', { version: quote })}`
  return html`: <q>${excerpt(quote)}</q>`
}

const QUOTE_MAX = 200

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= QUOTE_MAX ? line : `${line.slice(0, QUOTE_MAX).toWellFormed()}…`
}

const action = (page: PageContext): string => pathTo(page, PATHS.dashboard)

function answers(page: PageContext, { team_id }: AttentionItem): Part {
  if (team_id === null) return null
  const { t } = page.language
  const button = (value: string, text: string) =>
    buttonForm(page, { action: action(page), text, fields: { do: value, team: team_id } })
  return [button('join', t('publish.attention.accept')), button('decline', t('publish.attention.decline'))]
}

function notNow(page: PageContext, item: AttentionItem): Part {
  const { t } = page.language
  const text = html`${t('publish.attention.not-now')}<span class="vh">: ${subjectOf(item)}</span>`
  return buttonForm(page, { action: action(page), text, kind: 'plain', fields: { do: 'dismiss', item: item.id } })
}
